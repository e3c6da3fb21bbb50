/* Phases from the iterations that a program found in its calls while it ran. */
#include "output/views/iterations.h"

#include "base/array.h"
#include "trace/call_sources.h"
#include "trace/trace_calls.h"

#include <errno.h>
#include <stdlib.h>

struct record_reader {
	struct iterations *of;
	const struct trace *trace;
	uint64_t start, end; /* of the time that is shown */
	struct iteration_phase *phase;
	uint32_t number; /* of the phase, as the program counts */
};

static bool is_of(const struct record_reader *reader, const struct trace_iterations *entry)
{
	return reader->phase && reader->phase->thread == entry->thread &&
	       reader->phase->level == entry->level && reader->number == entry->phase;
}

static int begin_phase(struct record_reader *reader, const struct trace_iterations *entry)
{
	struct iteration_phase *phase = calloc(1, sizeof(*phase));

	if (!phase || ARRAY_ADD(reader->of->phases, reader->of->nr, phase)) {
		free(phase);
		return -ENOMEM;
	}
	phase->thread = entry->thread;
	phase->rank = trace_rank(reader->trace, entry->thread);
	phase->level = entry->level;
	phase->unit = true;
	phase->first_ordinal = entry->ordinal;
	reader->phase = phase;
	reader->number = entry->phase;
	return 0;
}

static unsigned bin_of(const struct record_reader *reader, uint64_t time)
{
	uint64_t whole = reader->end - reader->start;
	double at = (double)(time - reader->start) / (double)whole * ITERATION_BINS;

	return whole && at < ITERATION_BINS ? (unsigned)at : ITERATION_BINS - 1;
}

static void add_iteration(const struct record_reader *reader, uint64_t begin, uint64_t time,
                          unsigned flags, uint64_t calls)
{
	struct iteration_phase *phase = reader->phase;
	struct iteration_kind *kind = &phase->kinds[flags & TRACE_ITERATION_KIND];
	unsigned bin = bin_of(reader, begin);

	if (!phase->durations.nr)
		phase->from = begin;
	phase->to = begin + time;
	durations_add(&phase->durations, time);
	phase->not_stored += !(flags & TRACE_ITERATION_STORED);
	kind->iterations++;
	kind->calls += calls;
	phase->line[bin].nr++;
	phase->line[bin].sum += time;
}

static int add_entry(struct record_reader *reader, const struct trace_iterations *entry)
{
	uint64_t begin = entry->begin;

	if (!is_of(reader, entry) && begin_phase(reader, entry))
		return -ENOMEM;
	for (unsigned i = 0; i < entry->nr && i < TRACE_ITERATIONS_NR; i++) {
		uint64_t time = trace_duration_ns(entry->durations[i]);

		if (begin >= reader->start && begin < reader->end)
			add_iteration(reader, begin, time, entry->kinds[i],
			              entry->calls / entry->nr);
		begin += time;
		reader->phase->last_ordinal = entry->ordinal + i;
	}
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct trace_iterations *x = *(const struct trace_iterations *const *)a;
	const struct trace_iterations *y = *(const struct trace_iterations *const *)b;

	return ORDER(x->thread, y->thread) ?: ORDER(x->begin, y->begin);
}

int iterations_read_records(struct iterations *iterations, const struct trace *trace,
                            const struct view_query *query)
{
	const struct selection *selection = query->selection;
	struct record_reader reader = {
		.of = iterations,
		.trace = trace,
		.start = selection_start(trace_run(trace), selection),
		.end = selection_end(trace_run(trace), selection),
	};
	uint32_t nr = trace_nr(trace, TRACE_ITERATIONS);
	const struct trace_iterations **entries = calloc(nr + 1UL, sizeof(*entries));
	int err = entries ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < nr && !err; i++)
		entries[i] = trace_iterations(trace, i);
	if (!err)
		ARRAY_SORT(entries, nr, compare_entries);
	for (uint32_t i = 0; i < nr && !err; i++)
		if (trace_thread(trace, entries[i]->thread) &&
		    (!selection || thread_filter_has(selection->filter, entries[i]->thread)))
			err = add_entry(&reader, entries[i]);
	free(entries);
	return err;
}
