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

/* Returns NULL with errno on failure. */
struct read_ahead *read_ahead_new(const struct trace *trace, uint32_t event);
/* Stops reading. It may be called before the end. */
void read_ahead_free(struct read_ahead *ahead);

/* Returns the same as trace_walk_pairs(). */
uint32_t read_ahead_pairs(const struct read_ahead *ahead);

/*
 * Returns the next samples, at most max, valid until the next call. The result is 1 while more may
 * follow, 0 at the end, or -EBADMSG; further calls at the end repeat it.
 */
int read_ahead_some(struct read_ahead *ahead, unsigned max, const struct trace_sample **samples,
                    unsigned *nr);

#endif
