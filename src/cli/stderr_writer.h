/*
 * Standard error of a recorder. Whatever it is, a terminal that was stopped by Ctrl-S or a pipe
 * that nobody reads, it must not block the recorder: a side process does the writing.
 *
 * While it is open, the stream `stderr` leads to that process. File descriptor 2 stays as it is,
 * for the target shares it, flags included.
 */
#ifndef CLI_STDERR_WRITER_H
#define CLI_STDERR_WRITER_H

#include "base/side_process.h"

#include <stdint.h>
#include <stdio.h>

struct stderr_writer {
	struct side_process process;
	FILE *stream, *before;
	uint64_t sent, shown; /* messages */
	uint64_t dropped;     /* the socket was full of messages that wait */
};

/* Where there can be no further process, stderr stays as it was. */
void stderr_writer_open(struct stderr_writer *writer);

/* Whether messages wait to be shown. What can be left out, should be. */
bool stderr_writer_is_behind(struct stderr_writer *writer);

/*
 * Waits until all messages are shown, but no longer than some seconds, nor after SIGINT or SIGTERM.
 * Those that are left are shown by the process when that is possible. Puts stderr back.
 */
void stderr_writer_close(struct stderr_writer *writer);

#endif
