/*
 * The samples of a trace in batches, which a thread of its own decodes ahead of their reader:
 *
 *     trace → decoder → [batch][batch] … [batch] → reader
 *
 * They are those of trace_walk_next(), in the same order. Where there is one CPU to run on, or no
 * thread to be had, the reader decodes.
 */
#ifndef OUTPUT_READ_AHEAD_H
#define OUTPUT_READ_AHEAD_H

#include "output/trace.h"

#define BATCH_SAMPLES 512

struct sample_batch {
	int more; /* 1: there may be more samples behind these; 0: no; or -EBADMSG */
	unsigned nr;
	struct trace_sample samples[BATCH_SAMPLES];
};

struct read_ahead;

/* NULL with errno. */
struct read_ahead *read_ahead_new(const struct trace *trace, uint32_t event);
/* At any time. */
void read_ahead_free(struct read_ahead *ahead);

/* As trace_walk_places(). */
uint32_t read_ahead_places(const struct read_ahead *ahead);

/* The next batch, until the next call; behind the last one it is that again, without samples. */
const struct sample_batch *read_ahead_next(struct read_ahead *ahead);

#endif
