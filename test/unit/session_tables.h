/* Tables of a session without a kernel, in which each CPU has a stream of each event. */
#ifndef TEST_SESSION_TABLES_H
#define TEST_SESSION_TABLES_H

#include "perf/sampler/sampler_state.h"
#include "trace/live/tables.h"

/* Enters a clock and a counter: the two events of a sampler. */
static inline void session_tables_fill(struct tables *tables, const struct sampler *sampler)
{
	for (uint32_t e = 0; e < sampler->nr_events; e++) {
		const uint64_t *periods = sampler->events[e].base_period;
		struct trace_event *event = tables_add_event(tables);

		event->name = tables_string(tables, e ? "page-faults" : "cpu-clock");
		event->base_period = periods[0];
		for (uint32_t c = 0; c < sampler->nr_cpus; c++)
			*tables_add_stream(tables) =
				(struct trace_stream){.event = e,
			                              .cpu = (uint32_t)sampler->cpus[c],
			                              .base_period = periods[c]};
	}
	tables_run(tables)->start = 1;
	tables_run(tables)->nr_cpus = sampler->nr_cpus;
}

#endif
