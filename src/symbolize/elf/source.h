/* A place in the source code, inside a function. */
#ifndef SYMBOLIZE_ELF_SOURCE_H
#define SYMBOLIZE_ELF_SOURCE_H

#include <stdint.h>

struct source {
	const char *function; /* NULL: not known */
	const char *file;     /* NULL: not known */
	const uint8_t *md5;   /* of the file's text, SOURCE_MD5_SIZE bytes; NULL: not known */
	uint32_t line;        /* 0: none in particular */
};

#endif
