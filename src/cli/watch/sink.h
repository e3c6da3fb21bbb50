/*
 * A reader of lines: standard output, or a module, which is a program behind a pipe. It is never
 * waited for: what it has not read when the next line is due stays, and that line is left out.
 *
 * A module may write lines of its own, {"ctl":"pause",…} or {"mark":"text"}.
 */
#ifndef CLI_WATCH_SINK_H
#define CLI_WATCH_SINK_H

#include "cli/watch/lines.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#define SINK_LINE_MAX 4096 /* bytes of a line that a module writes */

struct steering;

struct sink {
	const char *command; /* NULL: standard output */
	pid_t pid;           /* of the module; 0: none, or it has ended */
	int to, from;        /* -1: closed */
	int err;             /* why nothing more can be written; 0: it can */
	struct lines lines;
	char *pending; /* of lines, to be written */
	size_t size, written;
	char input[SINK_LINE_MAX];
	size_t input_size;
	bool skips;         /* the present line is too long */
	unsigned allowance; /* lines that the module may write until the next look */
	uint64_t ignored;   /* lines of the module that were not carried out */
};

/* 0 or -errno. */
int sink_open(struct sink *sink, enum lines_form form, uint64_t interval);
int sink_start(struct sink *sink, const char *command, enum lines_form form, uint64_t interval);
/* Tells a module that there are no more lines. */
void sink_end_input(struct sink *sink);
/*
 * Waits for a module to end until this time of CLOCK_MONOTONIC, then ends it. Returns false after
 * reporting that it failed.
 */
bool sink_close(struct sink *sink, uint64_t end);

/* Makes the next line, or leaves it out if the reader is behind. 0 or -errno. */
int sink_take(struct sink *sink, struct watched *watched);
bool sink_is_behind(const struct sink *sink);
/* Adds what to wait for; returns the number of entries. */
unsigned sink_poll(const struct sink *sink, struct pollfd *fds);
/* Writes as much as the reader takes. */
void sink_write(struct sink *sink);
/* Reads a module's lines, and sends them to the recorder. */
void sink_read(struct sink *sink, struct steering *steering);
/* Lets the module write some lines again, of which some may have been read already. */
void sink_allow(struct sink *sink, struct steering *steering);

#endif
