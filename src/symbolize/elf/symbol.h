/* Functions and places in their source code, as all sources of names report them. */
#ifndef SYMBOLIZE_ELF_SYMBOL_H
#define SYMBOLIZE_ELF_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in the source code, inside a function. */
struct source {
	const char *function; /* NULL: not known */
	const char *file;     /* NULL: not known */
	const uint8_t *md5;   /* of the file's text, SOURCE_MD5_SIZE bytes; NULL: not known */
	uint32_t line;        /* 0: none in particular */
	bool is_c;            /* the function is of a unit in C or C++ */
};

/* A function of a module: the offsets [lo, hi). */
struct symbol {
	uint32_t lo, hi;
	const char *name; /* demangled; NULL: only the bounds are known */
	/*
	 * The source of the offset, and those of the calls that were inlined there, innermost
	 * first, with demangled function names. The function of the last one is this symbol. There
	 * are none without debug information.
	 */
	const struct source *sources;
	size_t nr_sources;
};

/* Called in ascending order of offsets, once per offset that lies in a function. */
typedef int symbol_fn(void *arg, uint32_t offset, const struct symbol *symbol);

/* A query for the names of code that was made at run time. */
struct jit_query {
	uint32_t area;           /* the high half of all addresses */
	const uint32_t *offsets; /* their low halves, ascending and distinct */
	size_t n;
	symbol_fn *fn; /* stops with what it returns where that is not 0 */
	void *arg;
};

#endif
