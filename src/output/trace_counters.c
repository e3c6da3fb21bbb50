#include "output/trace_counters.h"

#include <errno.h>
#include <stdlib.h>

int counter_streams_init(struct counter_streams *streams, const struct trace *trace,
                         enum counter_owner owner)
{
	streams->nr =
		owner == COUNTER_OF_THREAD ? trace_nr(trace, TRACE_THREADS) : trace_nr_cpus(trace);
	streams->last = calloc(streams->nr + 1UL, sizeof(*streams->last));
	return streams->last ? 0 : -ENOMEM;
}

void counter_streams_fini(struct counter_streams *streams)
{
	free(streams->last);
	streams->last = NULL;
}

static bool of_many(const struct trace *trace, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(trace, thread);

	return entry && entry->flags & TRACE_THREAD_FOLDED;
}

void counter_streams_step(struct counter_streams *streams, const struct trace *trace,
                          enum counter_owner owner, struct trace_sample *sample)
{
	uint32_t number = owner == COUNTER_OF_THREAD ? sample->thread : sample->cpu;

	if (number >= streams->nr || (owner == COUNTER_OF_THREAD && of_many(trace, number))) {
		sample->nr_counters = 0;
		return;
	}
	for (unsigned i = 0; i < sample->nr_counters; i++) {
		uint64_t *last = &streams->last[number][i], total = sample->counters[i];

		/* A coarser unit may have rounded the last one up beyond this one. */
		sample->counters[i] = total > *last ? total - *last : 0;
		*last = total > *last ? total : *last;
	}
}
