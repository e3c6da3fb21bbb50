/* Times in which events were not sampled. */
#include "trace/trace_file.h"

#include "base/array.h"

#include <stdlib.h>

uint64_t trace_gap_end(const struct trace *trace, const struct trace_gap *gap)
{
	const uint64_t end = gap->to ? gap->to : trace_run(trace)->end;

	return end > gap->from ? end : gap->from;
}

/* Returns the length of the part of a gap that is in [from, to). */
static uint64_t gap_within(const struct trace *trace, const struct trace_gap *gap, uint64_t from,
                           uint64_t to)
{
	uint64_t end = trace_gap_end(trace, gap);

	from = gap->from > from ? gap->from : from;
	to = end < to ? end : to;
	return to > from ? to - from : 0;
}

uint64_t trace_sampled_time(const struct trace *trace, uint32_t event, uint64_t from, uint64_t to)
{
	uint64_t all = to > from ? to - from : 0, common = 0, own = 0;
	const uint32_t nr = trace_nr(trace, TRACE_PROCESSES);
	const struct trace_gap *gap;

	for (uint32_t i = 0; (gap = trace_gap(trace, i)); i++) {
		uint64_t length = gap->event == event ? gap_within(trace, gap, from, to) : 0;

		if (gap->process)
			own += length;
		else
			common += length;
	}
	common += nr ? own / nr : own;
	return common < all ? all - common : 0;
}

bool trace_was_sampled(const struct trace *trace, uint32_t event, uint64_t length)
{
	const uint64_t end = trace_run(trace)->end;

	return trace_sampled_time(trace, event, end > length ? end - length : 0, end) > 0;
}

/* Where a gap begins (+1) or ends (-1). */
struct edge {
	uint64_t time;
	int step;
};

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return ORDER(x->time, y->time);
}

/* Returns the time in which as many gaps as there are events are open. */
static uint64_t sum_common(const struct trace *trace, const struct edge *edges, size_t nr)
{
	const int all = (int)trace_nr_events(trace);
	uint64_t sum = 0;
	int open = 0;

	for (size_t i = 0; i < nr; i++) {
		if (open >= all)
			sum += edges[i].time - edges[i - 1].time;
		open += edges[i].step;
	}
	return sum;
}

static uint64_t clamp(uint64_t time, uint64_t from, uint64_t to)
{
	return time < from ? from : time > to ? to : time;
}

static uint64_t common_gaps(const struct trace *trace, uint64_t from, uint64_t to)
{
	const struct trace_gap *gap;
	struct edge *edges = calloc(2UL * trace_nr(trace, TRACE_GAPS) + 1, sizeof(*edges));
	uint64_t sum;
	size_t nr = 0;

	for (uint32_t i = 0; edges && (gap = trace_gap(trace, i)); i++) {
		if (!trace_event(trace, gap->event))
			continue;
		edges[nr++] = (struct edge){clamp(gap->from, from, to), 1};
		edges[nr++] = (struct edge){clamp(trace_gap_end(trace, gap), from, to), -1};
	}
	ARRAY_SORT(edges, nr, compare_edges);
	sum = sum_common(trace, edges, nr);
	free(edges);
	return sum;
}

uint64_t trace_paused_time(const struct trace *trace, uint64_t from, uint64_t to)
{
	const struct trace_gap *gap;

	if (to <= from)
		return 0;
	for (uint32_t i = 0; (gap = trace_gap(trace, i)); i++)
		if (gap->process)
			return to - from - trace_sampled_time(trace, 0, from, to);
	return common_gaps(trace, from, to);
}
