/*
 * GCC's regions are known by their outlined function, which has a symbol of its own. Those of
 * libomp are known by the call that forked. Below that call in the path of the thread that forked,
 * behind the library's own functions, is the outlined function: so a sample of that thread tells
 * which one it is, and those of the other threads are found by it.
 */
#include "output/views/openmp_samples.h"

#include "output/profile/paths.h"
#include "base/array.h"
#include "base/frame.h"

#include <errno.h>
#include <stdlib.h>

#define NONE UINT32_MAX

struct path_samples {
	uint64_t weight, samples;
};

struct finder {
	const struct trace *trace;
	const struct openmp *openmp;
	struct openmp_samples *to;
	struct paths paths;
	struct path_samples *on_paths;
	uint32_t nr_paths, room;
	struct map64 by_symbol, by_call; /* rows */
	struct map64 functions;          /* by row and function */
};

static uint64_t frame_of(const struct finder *finder, uint32_t path)
{
	return finder->paths.names.names[paths_leaf_name(&finder->paths, path)].frame;
}

/* --- the code of regions ---------------------------------------------------------------------- */

static int add_code(struct finder *finder, uint32_t row)
{
	const struct openmp_row *region = &finder->openmp->rows[row];
	uint64_t frame = frame_make((uint16_t)region->module, (uint32_t)region->offset);
	uint32_t symbol = trace_find_symbol(finder->trace, frame);

	if (!region->module)
		return 0;
	if (symbol != NONE && trace_symbol(finder->trace, symbol)->lo == region->offset)
		return map64_add(&finder->by_symbol, symbol, row);
	return map64_add(&finder->by_call, frame, row);
}

static uint32_t row_of_frame(const struct finder *finder, uint64_t frame)
{
	uint32_t symbol = trace_find_symbol(finder->trace, frame);

	return symbol == NONE ? NONE : map64_get(&finder->by_symbol, symbol);
}

/*
 * Finds the outlined functions below calls that forked. below: the row whose call is around each
 * path, with only the library between.
 */
static int learn_code(struct finder *finder, uint32_t *below)
{
	int err = 0;

	for (uint32_t i = 0; i < finder->nr_paths && !err; i++) {
		uint32_t caller = paths_caller(&finder->paths, i), symbol;
		uint32_t row = caller == PATH_NONE ? NONE : below[caller];
		uint64_t frame = frame_of(finder, i);

		below[i] = map64_get(&finder->by_call, frame);
		if (row == NONE)
			continue;
		if (frame_module(frame) != finder->openmp->rows[row].module) {
			below[i] = row;
			continue;
		}
		symbol = trace_find_symbol(finder->trace, frame);
		if (symbol != NONE && map64_get(&finder->by_symbol, symbol) == NONE)
			err = map64_add(&finder->by_symbol, symbol, row);
	}
	return err;
}

/* --- samples ---------------------------------------------------------------------------------- */

static int add_sample(void *arg, const struct trace_sample *sample)
{
	struct finder *finder = arg;
	uint32_t path = paths_find(&finder->paths, sample), nr = paths_nr(&finder->paths);

	if (path == PATH_NONE || ARRAY_RESERVE_ZEROED(finder->on_paths, finder->room, nr))
		return -ENOMEM;
	finder->on_paths[path].weight += sample->weight;
	finder->on_paths[path].samples++;
	finder->to->total += sample->weight;
	return 0;
}

static int add_to_function(struct finder *finder, uint32_t row, uint32_t path)
{
	struct openmp_samples *to = finder->to;
	const uint32_t *numbers;
	uint32_t nr = frame_names_chain(&to->names, frame_of(finder, path), &numbers), name, at;
	struct openmp_function fresh;

	if (!nr)
		return -ENOMEM;
	name = numbers[nr - 1];
	at = map64_number(&finder->functions, (uint64_t)row << 32 | to->names.names[name].function);
	fresh = (struct openmp_function){.row = row, .name = name};
	if (at == UINT32_MAX ||
	    (at == to->nr_functions && ARRAY_ADD(to->functions, to->nr_functions, fresh)))
		return -ENOMEM;
	to->functions[at].weight += finder->on_paths[path].weight;
	to->functions[at].samples += finder->on_paths[path].samples;
	return 0;
}

/* rows: of each path. */
static int add_paths(struct finder *finder, uint32_t *rows)
{
	int err = 0;

	for (uint32_t i = 0; i < finder->nr_paths && !err; i++) {
		uint32_t caller = paths_caller(&finder->paths, i);

		rows[i] = row_of_frame(finder, frame_of(finder, i));
		if (rows[i] == NONE && caller != PATH_NONE)
			rows[i] = rows[caller];
		if (rows[i] == NONE || !finder->on_paths[i].samples)
			continue;
		finder->to->inside += finder->on_paths[i].weight;
		finder->to->in_rows[rows[i]] += finder->on_paths[i].weight;
		err = add_to_function(finder, rows[i], i);
	}
	return err;
}

static int compare_functions(const void *a, const void *b)
{
	const struct openmp_function *x = a, *y = b;

	return ORDER(y->weight, x->weight) ?: ORDER(x->row, y->row) ?: ORDER(x->name, y->name);
}

static int find(struct finder *finder, uint32_t event)
{
	uint32_t *rows;
	int err = paths_init(&finder->paths, finder->trace, PATHS_BY_ADDRESS);

	for (uint32_t i = 0; i < finder->openmp->nr && !err; i++)
		err = add_code(finder, i);
	if (!err)
		err = trace_each_sample(trace_walk_new(finder->trace, event), add_sample, finder);
	if (err)
		return err;
	finder->nr_paths = paths_nr(&finder->paths);
	rows = calloc(finder->nr_paths + 1UL, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	err = learn_code(finder, rows);
	if (!err)
		err = add_paths(finder, rows);
	free(rows);
	return err;
}

int openmp_samples_init(struct openmp_samples *samples, const struct trace *trace,
                        const struct openmp *openmp, const struct view_query *query)
{
	struct finder finder = {.trace = trace, .openmp = openmp, .to = samples};
	uint32_t event = query->event == TRACE_ALL_EVENTS ? 0 : query->event;
	int err;

	*samples = (struct openmp_samples){.in_rows = calloc(openmp->nr + 1UL, sizeof(uint64_t))};
	frame_names_init(&samples->names, trace, PATHS_BY_FUNCTION);
	if (!samples->in_rows)
		return -ENOMEM;
	err = find(&finder, event);
	if (!err)
		ARRAY_SORT(samples->functions, samples->nr_functions, compare_functions);
	paths_fini(&finder.paths);
	free(finder.on_paths);
	map64_fini(&finder.by_symbol);
	map64_fini(&finder.by_call);
	map64_fini(&finder.functions);
	return err;
}

void openmp_samples_fini(struct openmp_samples *samples)
{
	free(samples->in_rows);
	free(samples->functions);
	frame_names_fini(&samples->names);
}
