/*
 * The text of a source file, line by line. Its path is the compiler's: there may be nothing, or
 * anything, by now. Only regular files are read, and none that is larger than source code is.
 */
#ifndef OUTPUT_SOURCE_TEXT_H
#define OUTPUT_SOURCE_TEXT_H

#include <stdint.h>
#include <sys/stat.h>

struct source_text {
	char *text;
	char **lines;
	uint32_t nr;
	uint64_t changed; /* ns since 1970 */
};

/* 0 or -errno: -EFBIG, -EINVAL: no regular file, or no absolute path. */
int source_text_read(struct source_text *source, const char *path);
void source_text_fini(struct source_text *source);

/* When a file was last written to, in ns since 1970; of times before that 0. */
static inline uint64_t source_text_time(const struct stat *st)
{
	return st->st_mtim.tv_sec < 0
	               ? 0
	               : (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
}

/* Lines count from 1; NULL: there is none. */
static inline const char *source_text_line(const struct source_text *source, uint32_t line)
{
	return line && line <= source->nr ? source->lines[line - 1] : (const char *)0;
}

#endif
