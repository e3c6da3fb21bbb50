/* Identifies a source file, to tell it from a later one with the same path. */
#ifndef SYMBOLIZE_MODULES_SOURCE_IDENTITY_H
#define SYMBOLIZE_MODULES_SOURCE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define SOURCE_MD5_SIZE 16
#define SOURCE_MAX_SIZE ((size_t)32 << 20) /* the text of a larger file is not shown */

/* The fields of an identity that are known; the values are those of the trace. */
enum source_known {
	SOURCE_HAS_MD5 = 1,  /* of the text that was compiled, from debug information */
	SOURCE_HAS_TIME = 2, /* size and time, when names were read */
	SOURCE_HAS_HASH = 4, /* of its text at that time */
	SOURCE_DIFFERS = 8,  /* what said something of it did not agree */
};

struct source_identity {
	uint32_t known; /* enum source_known */
	uint64_t size;
	uint64_t changed; /* ns since 1970 */
	uint64_t hash;    /* XXH3-64 */
	uint8_t md5[SOURCE_MD5_SIZE];
};

/* When a file was last written to, in ns since 1970; of times before that 0. */
uint64_t source_changed(const struct stat *st);

/*
 * Size, time and hash of the file at an absolute path, but of more than *left bytes, which it takes
 * from, size and time alone. 0, or -errno: such as -EINVAL where it is no regular file.
 */
int source_identity_read(struct source_identity *identity, const char *path, size_t *left);

/* The same of a text that was read, and its MD5. */
void source_identity_of_text(struct source_identity *identity, const struct stat *st,
                             const char *text, size_t size);

/* Puts together what is known of one file from two sides. */
void source_identity_join(struct source_identity *identity, const struct source_identity *other);

/* Whether a file, of which all is known, has the text that the identity is of, as far as it says.
 */
bool source_identity_matches(const struct source_identity *identity,
                             const struct source_identity *file);

#endif
