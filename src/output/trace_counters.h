/* From the running totals that samples store to what was counted between two samples of a stream.
 */
#ifndef OUTPUT_TRACE_COUNTERS_H
#define OUTPUT_TRACE_COUNTERS_H

#include "output/trace.h"

struct counter_streams {
	uint64_t (*last)[COUNTER_MAX]; /* totals of the latest sample; NULL: no counters here */
	uint32_t nr;
};

/* For a walk over samples that store totals, those of CPUs or of threads. 0 or -ENOMEM. */
int counter_streams_init(struct counter_streams *streams, const struct trace *trace,
                         enum counter_owner owner);
void counter_streams_fini(struct counter_streams *streams);

/*
 * Turns a sample's totals into what they are more than those before. Samples come oldest first. Of
 * a stream that the file does not know, or that is of many threads, nothing is known.
 */
void counter_streams_step(struct counter_streams *streams, const struct trace *trace,
                          enum counter_owner owner, struct trace_sample *sample);

#endif
