/* Phases from the iterations that a program found in its calls while it ran. */
#include "output/views/iterations.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

struct record_reader {
	struct iterations *of;
	const struct trace *trace;
	uint64_t start, end; /* of the time that is shown */
	struct iteration_phase *phase;
	uint32_t number; /* of the phase, as the program counts */
};

static bool is_of(const struct record_reader *reader, const struct trace_iteration *iteration)
{
	return reader->phase && reader->phase->thread == iteration->thread &&
	       reader->phase->level == iteration->level && reader->number == iteration->phase;
}

static int begin_phase(struct record_reader *reader, const struct trace_iteration *iteration)
{
	struct iteration_phase *phase = calloc(1, sizeof(*phase));

	if (!phase || ARRAY_ADD(reader->of->phases, reader->of->nr, phase)) {
		free(phase);
		return -ENOMEM;
	}
	phase->thread = iteration->thread;
	phase->rank = trace_rank(reader->trace, iteration->thread);
	phase->level = iteration->level;
	phase->unit = true;
	reader->phase = phase;
	reader->number = iteration->phase;
	return 0;
}

static int add_iteration(struct record_reader *reader, const struct trace_iteration *iteration)
{
	const struct found_iteration found = {
		.begin = iteration->begin,
		.end = iteration->end,
		.ordinal = iteration->ordinal,
		.calls = iteration->calls,
		.pattern = iteration->pattern,
	};

	if (!is_of(reader, iteration) && begin_phase(reader, iteration))
		return -ENOMEM;
	iteration_phase_add(reader->phase, &found, reader->start, reader->end);
	reader->phase->not_stored += !iteration->stored;
	return 0;
}

static int read_thread(struct record_reader *reader, uint32_t thread)
{
	struct iteration_cursor cursor;
	struct trace_iteration iteration;
	int err = 0;

	iteration_cursor_init(&cursor, &reader->of->records, thread);
	while (!err && iteration_cursor_next(&cursor, &iteration))
		if (iteration.begin >= reader->start && iteration.begin < reader->end)
			err = add_iteration(reader, &iteration);
	return err;
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
	int err = iteration_index_init(&iterations->records, trace);

	for (uint32_t i = 0; !err && trace_thread(trace, i); i++)
		if (!selection || thread_filter_has(selection->filter, i))
			err = read_thread(&reader, i);
	return err;
}

int iterations_walk_records(const struct iterations *iterations,
                            const struct iteration_phase *phase, iteration_fn *fn, void *arg)
{
	const struct iteration_pattern *most = iteration_main_pattern(phase);
	struct iteration_cursor cursor;
	struct trace_iteration iteration;
	int err = 0;

	iteration_cursor_init(&cursor, &iterations->records, phase->thread);
	while (!err && iteration_cursor_next(&cursor, &iteration)) {
		const struct iteration_time time = {iteration.begin, iteration.end,
		                                    &phase->patterns[iteration.pattern] == most};

		if (iteration.level == phase->level && iteration.begin >= phase->from &&
		    iteration.end <= phase->to)
			err = fn(arg, &time);
	}
	return err;
}
