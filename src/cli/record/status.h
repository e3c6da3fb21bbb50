/* The status line on a terminal while recording, and the line at the end. */
#ifndef CLI_RECORD_STATUS_H
#define CLI_RECORD_STATUS_H

#include "cli/stderr_writer.h"
#include "record/config.h"
#include "record/watcher.h"

/* The argument of these functions, which a session calls as its watcher. */
struct record_status {
	const struct record_config *config;
	struct stderr_writer messages;
	unsigned row;   /* row of the terminal with the status line; 0: none */
	unsigned ticks; /* ticks so far */
};

/* To be called at every tick; shows something now and then, and on a terminal only. */
void status_show(void *arg, const struct session *session);
/* The same when all is recorded: names in this file are looked up. */
void status_show_file(void *arg, const char *path);
/* Erases it; what follows stands in a line of its own. */
void status_clear(struct record_status *status);

/*
 * Two lines: why sampling was as fast as it was, unless the user chose that, and what was recorded.
 *
 *     adaptrace: 625 Hz: 10001 Hz at first, halved 4 times, as the buffer was full (-m)
 *     adaptrace: 1216 samples in 3.472 s, 61.2 MiB of 100 MiB, kept 1 of 16, 625 Hz now, 0 lost → …
 */
void status_final(void *arg, const struct session_state *state, const char *path, uint64_t bytes);

#endif
