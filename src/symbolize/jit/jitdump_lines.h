/* For jitdump.c: what its debug records say of one piece of code. */
#ifndef SYMBOLIZE_JIT_JITDUMP_LINES_H
#define SYMBOLIZE_JIT_JITDUMP_LINES_H

#include <stddef.h>
#include <stdint.h>

#define JITDUMP_NAME_MAX 4096 /* longer ones of functions and files are not read */

/* Bytes of the file, at most some at a time. */
struct jitdump_reader {
	int fd;
	uint64_t left; /* that may still be read: the same parts can be asked for again and again */
	uint64_t at;   /* of what is held */
	size_t held;
	uint8_t bytes[65536];
};

/* Where they are until the next call; NULL: the file has not as many there. size: at most 8192 */
const uint8_t *jitdump_read(struct jitdump_reader *reader, uint64_t at, size_t size);
/* The same of a string, with its NUL at most JITDUMP_NAME_MAX bytes. */
const char *jitdump_string(struct jitdump_reader *reader, uint64_t at);

/* A piece of code, and where in the file it is described; debug_at 0: it has no lines. */
struct jitdump_code {
	uint64_t addr, size, name_at, debug_at;
	uint64_t index; /* ascending: moved code has that of the latest load before it, … */
	uint32_t load;  /* … which is code number */
};

struct jitdump_line {
	uint64_t addr, file_at;
	uint32_t line;
};

struct jitdump_lines {
	struct jitdump_line *lines; /* ascending */
	size_t nr;
};

/*
 * Reads the lines of one piece of code. Invalid lines are dropped as a whole. Returns 0 or -ENOMEM.
 */
int jitdump_lines_read(struct jitdump_lines *lines, struct jitdump_reader *reader,
                       const struct jitdump_code *code);
void jitdump_lines_fini(struct jitdump_lines *lines);

/* The last one at or below an address, or NULL. */
const struct jitdump_line *jitdump_lines_find(const struct jitdump_lines *lines, uint64_t addr);

#endif
