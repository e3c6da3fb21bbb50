/* The status line on a terminal while recording, and the line at the end. */
#ifndef CLI_RECORD_STATUS_H
#define CLI_RECORD_STATUS_H

#include "record/session.h"

/* To be called at every tick; shows something now and then, and on a terminal only. */
void status_show(struct session *session);
/* The same when all is recorded: names in this file are looked up. */
void status_show_file(struct session *session, const char *path);
/* Erases it; what follows stands in a line of its own. */
void status_clear(struct session *session);

/*
 * Two lines: why sampling was as fast as it was, unless the user chose that, and what was recorded.
 *
 *     adaptrace: 625 Hz: 10001 Hz at first, halved 4 times, as the buffer was full (-m)
 *     adaptrace: 1216 samples in 3.472 s, 61.2 MiB of 100 MiB, kept 1 of 16, 625 Hz now, 0 lost → …
 */
void status_final(const struct session *session, uint64_t bytes);

#endif
