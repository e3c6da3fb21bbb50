/*
 * The samples of a trace, which a thread of its own decodes in batches ahead of their reader:
 *
 *     trace → decoder → [batch][batch] … [batch] → reader
 *
 * They are those of trace_walk_next(), in the same order. Where there is one CPU to run on, or no
 * thread to be had, the reader decodes.
 */
#ifndef TRACE_READ_AHEAD_H
#define TRACE_READ_AHEAD_H

#include "trace/trace.h"

struct read_ahead;

/* NULL with errno. */
struct read_ahead *read_ahead_new(const struct trace *trace, uint32_t event);
/* At any time. */
void read_ahead_free(struct read_ahead *ahead);

/* As trace_walk_places(). */
uint32_t read_ahead_places(const struct read_ahead *ahead);

/*
 * The next ones, at most max, until the next call: 1 while there may be more behind them, 0 at the
 * end, -EBADMSG; however often it is asked.
 */
int read_ahead_some(struct read_ahead *ahead, unsigned max, const struct trace_sample **samples,
                    unsigned *nr);

#endif
