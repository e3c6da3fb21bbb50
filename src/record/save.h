/* Writes the trace to a file at the end of a recording. */
#ifndef RECORD_SAVE_H
#define RECORD_SAVE_H

#include <stdint.h>

struct session;

/*
 * Writes the trace where it was wanted, or beside that (session->beside) where something else has
 * taken the name that cannot be replaced. If that fails it stays in memory for recover or, where
 * that could not be found, goes into a folder of its own below TMPDIR or /var/tmp. 0, or -errno
 * after saying where it is.
 */
int save_trace(struct session *session, uint64_t *bytes);

#endif
