#include "trace/merge/merge_counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STREAMS TABLES_MAX_THREADS /* there are no more CPUs that readers believe in */

/* The first event of the new trace is that of the first input. */
static bool samples_first_event(const struct merge_input *input)
{
	const struct trace_event *event;

	for (uint32_t i = 0; (event = trace_event(input->trace, i)); i++)
		if (!input->kinds[i] && event->stored)
			return true;
	return false;
}

static bool same_counters(const struct trace *a, const struct trace *b)
{
	const struct trace_counter *x, *y;

	if (trace_nr(a, TRACE_COUNTERS) != trace_nr(b, TRACE_COUNTERS))
		return false;
	for (uint32_t i = 0; (x = trace_counter(a, i)) && (y = trace_counter(b, i)); i++)
		if (x->unit != y->unit ||
		    strcmp(trace_string(a, x->name), trace_string(b, y->name)) != 0)
			return false;
	return true;
}

/* Returns an input with the counters that all inputs with samples of event 0 have, or NULL. */
static const struct merge_input *find_common(struct merge_counters *counters,
                                             const struct merge_map *map)
{
	const struct merge_input *common = NULL;
	bool same = true, any = false;

	for (uint32_t i = 0; i < map->nr_inputs; i++) {
		const struct merge_input *input = &map->inputs[i];
		bool has = trace_nr(input->trace, TRACE_COUNTERS);

		any |= has;
		same &= !has || !input->kinds[0];
		if (!samples_first_event(input))
			continue;
		if (common)
			same &= same_counters(common->trace, input->trace);
		else
			common = input;
	}
	counters->left_out = any && !same;
	return any && same ? common : NULL;
}

static void add_totals(struct trace_counter *to, const struct trace_counter *from)
{
	to->total += from->total;
	to->enabled += from->enabled;
	to->running += from->running;
	to->flags &= from->flags;
}

/* Combines one counter over all inputs that have it. */
static int add_counter(struct merge_map *map, const struct merge_input *common, uint32_t number)
{
	struct trace_counter *to = tables_add_counter(map->tables);

	if (!to)
		return -ENOMEM;
	*to = (struct trace_counter){
		.name = merge_string(map, common, trace_counter(common->trace, number)->name),
		.unit = trace_counter(common->trace, number)->unit,
		.flags = TRACE_COUNTER_KERNEL | TRACE_COUNTER_TOTAL,
	};
	for (uint32_t i = 0; i < map->nr_inputs; i++)
		if (samples_first_event(&map->inputs[i]))
			add_totals(to, trace_counter(map->inputs[i].trace, number));
	return 0;
}

static bool some_stand_for_many(const struct tables *tables)
{
	const struct trace_thread *thread;

	for (uint32_t i = 0; (thread = tables_thread(tables, i)); i++)
		if (thread->flags & TRACE_THREAD_FOLDED)
			return true;
	return false;
}

int merge_counters_init(struct merge_counters *counters, struct merge_map *map)
{
	const struct merge_input *common = find_common(counters, map);
	unsigned nr = common ? trace_nr(common->trace, TRACE_COUNTERS) : 0;
	int err = 0;

	counters->owner = some_stand_for_many(map->tables) ? STREAM_OF_CPU : STREAM_OF_THREAD;
	if (!nr)
		return 0;
	counters->totals = calloc(MAX_STREAMS + 1, sizeof(*counters->totals));
	if (!counters->totals)
		return -ENOMEM;
	for (unsigned i = 0; i < nr && !err; i++)
		err = add_counter(map, common, i);
	counters->nr = 1 + nr;
	return err;
}

void merge_counters_fini(struct merge_counters *counters)
{
	free(counters->totals);
	*counters = (struct merge_counters){0};
}

const uint64_t *merge_counters_step(struct merge_counters *counters,
                                    const struct trace_sample *sample, uint32_t thread,
                                    uint32_t cpu)
{
	uint32_t stream = counters->owner == STREAM_OF_THREAD ? thread : cpu;
	uint64_t *totals;

	if (!counters->nr)
		return NULL;
	totals = counters->totals[stream < MAX_STREAMS ? stream : MAX_STREAMS];
	for (unsigned i = 0; i < sample->nr_counters && i < counters->nr; i++)
		totals[i] += sample->counters[i];
	return totals;
}
