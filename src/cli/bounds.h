/*
 * Bounds on what a command that reads traces may take. A trace is untrusted, and a small one can be
 * made to stand for gigabytes: a long name in each frame of deep stacks. The bounds grow with the
 * size of the traces and are beyond what those of recordings need.
 */
#ifndef CLI_BOUNDS_H
#define CLI_BOUNDS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

#define BOUNDS_MEMORY          ((uint64_t)160 << 20)
#define BOUNDS_MEMORY_PER_BYTE 256
#define BOUNDS_OUTPUT          1000000000UL
#define BOUNDS_OUTPUT_PER_BYTE 4000

/* The size of a trace, or of several; what is no file has none, and is told when it is opened. */
uint64_t bounds_trace_size(const char *path);
uint64_t bounds_traces_size(char *const *paths, size_t nr);

/*
 * From now on allocations fail when this process has BOUNDS_MEMORY more than now, and
 * BOUNDS_MEMORY_PER_BYTE for each byte of the traces that it is going to read, and beside these
 * what the user asked for in bytes.
 */
void bounds_memory(uint64_t traces_size, uint64_t asked_for);
/* Sets the limit itself, at most to the hard one. Returns what it was. */
rlim_t bounds_set_memory(rlim_t limit);

/*
 * strerror(), and the bound where that was met: this process had used much of it, and could have
 * more memory without it. A limit that the user set is not called the traces'.
 */
#define BOUNDS_TEXT_SIZE 160
const char *bounds_strerror(int errnum, char text[BOUNDS_TEXT_SIZE]);

/*
 * An output that takes BOUNDS_OUTPUT bytes, or BOUNDS_OUTPUT_PER_BYTE for each byte of the traces
 * if that is more. Whatever would be beyond ends the program with status 1 and a message, so that
 * what prints need not look for errors all the time.
 */
struct bounds_output {
	int fd;
	const char *name; /* NULL: standard output */
	uint64_t traces_size, written;
	void (*give_up)(void *arg); /* removes what was written; NULL: it stays */
	void *arg;
};
/* The bytes that it takes. */
uint64_t bounds_output_room(uint64_t traces_size);
/* Says that an output would take more. name: NULL for standard output. */
void bounds_say_output(const char *name, uint64_t traces_size);
/* A stream to it, which leaves its descriptor open when it is closed. NULL with errno. */
FILE *bounds_stream(struct bounds_output *output);
/* Makes standard output such an output. */
void bounds_standard_output(uint64_t traces_size);

#endif
