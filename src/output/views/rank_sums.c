#include "output/views/rank_sums.h"

#include "output/views/mpi_paths.h"
#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- samples ---------------------------------------------------------------------------------- */

static uint64_t bar_key(uint32_t function, uint32_t row)
{
	return (uint64_t)function << 32 | row;
}

/* All paths to a function have one. 0 or -ENOMEM. */
static int find_bar(struct rank_sums *sums, struct rank_cell *cell)
{
	uint64_t key = bar_key(paths_leaf(&sums->paths, cell->path), cell->row);

	cell->bar = map64_number(&sums->bar_by_key, key);
	return cell->bar == UINT32_MAX ? -ENOMEM : 0;
}

static struct rank_cell *find_cell(struct rank_sums *sums, uint32_t path, uint32_t row)
{
	uint64_t key = (uint64_t)path << 32 | row;
	uint32_t number = map64_number(&sums->cell_by_key, key);
	struct rank_cell *grown;

	if (number < sums->nr_cells)
		return &sums->cells[number];
	grown = array_grow(sums->cells, sums->nr_cells, sizeof(*grown));
	if (!grown || number == UINT32_MAX)
		return NULL;
	sums->cells = grown;
	sums->cells[sums->nr_cells] = (struct rank_cell){.path = path, .row = row};
	if (find_bar(sums, &sums->cells[sums->nr_cells]))
		return NULL;
	return &sums->cells[sums->nr_cells++];
}

static int add_sample(void *arg, const struct trace_sample *sample)
{
	struct rank_sums *sums = arg;
	uint32_t row = rank_row(sums->rows, sample->thread), path;
	struct rank_cell *cell;

	if (!selection_has(sums->selection, sample))
		return error_bars_step(&sums->bars, sample, ERROR_BARS_NONE, 0);
	sums->total += sample->weight;
	sums->nr_samples++;
	if (row == RANK_NONE) {
		sums->others += sample->weight;
		row = sums->rows->nr;
	}
	path = paths_find(&sums->paths, sample);
	cell = path == PATH_NONE ? NULL : find_cell(sums, path, row);
	if (!cell)
		return -ENOMEM;
	cell->weight += sample->weight;
	cell->samples++;
	sums->weights[row] += sample->weight;
	return error_bars_step(&sums->bars, sample, cell->bar, (double)sample->weight);
}

static int add_samples(struct rank_sums *sums)
{
	int err = trace_each_sample(trace_walk_new(sums->trace, sums->event), add_sample, sums);

	error_bars_end(&sums->bars);
	return err;
}

static bool is_in_step(const struct rank_sums *sums)
{
	return ticks_known(&sums->bars.ticks);
}

/* --- functions -------------------------------------------------------------------------------- */

/* A function that calls itself has its total once. */
static void add_path(struct rank_sums *sums, const struct rank_cell *cell, uint32_t *seen,
                     uint32_t mark)
{
	const struct paths *paths = &sums->paths;
	uint32_t nr_rows = sums->rows->nr;

	if (cell->row >= nr_rows)
		return;
	sums->self[(size_t)paths_leaf(paths, cell->path) * nr_rows + cell->row] += cell->weight;
	for (uint32_t path = cell->path; path != PATH_NONE; path = paths_caller(paths, path)) {
		uint32_t function = paths_leaf(paths, path);

		if (seen[function] != mark)
			sums->in_all[(size_t)function * nr_rows + cell->row] += cell->weight;
		seen[function] = mark;
	}
}

static struct spread spread_of(const uint64_t *weights, uint32_t nr)
{
	struct spread spread = {.least = UINT64_MAX};

	for (uint32_t i = 0; i < nr; i++) {
		spread.sum += weights[i];
		if (weights[i] < spread.least) {
			spread.least = weights[i];
			spread.least_row = i;
		}
		if (weights[i] > spread.most || !i) {
			spread.most = weights[i];
			spread.most_row = i;
		}
	}
	return spread;
}

/*
 * Returns half the width of an interval that holds for all nr ranks at once, and so for the rank
 * with the largest value.
 */
static double half_width(uint32_t nr, double variance)
{
	return sqrt((1.96 * 1.96 + 2 * log(nr)) * variance);
}

/* Adds a sample to how much the most is above the mean, times the number of ranks. */
static int add_excess(void *arg, const struct trace_sample *sample)
{
	struct rank_sums *sums = arg;
	uint32_t row = rank_row(sums->rows, sample->thread), path, function;
	double weight = (double)sample->weight;

	if (!selection_has(sums->selection, sample) || row == RANK_NONE)
		return error_bars_step(&sums->excess, sample, ERROR_BARS_NONE, 0);
	path = paths_find(&sums->paths, sample);
	if (path == PATH_NONE)
		return -ENOMEM;
	function = paths_leaf(&sums->paths, path);
	if (row == sums->functions[function].self.most_row)
		weight *= 1 - (double)sums->rows->nr;
	return error_bars_step(&sums->excess, sample, function, -weight);
}

/* Ranks in step may depend on each other, and their variances do not just add up then. */
static int add_excesses(struct rank_sums *sums)
{
	int err = error_bars_init(&sums->excess, sums->trace, sums->event);

	if (!err)
		err = trace_each_sample(trace_walk_new(sums->trace, sums->event), add_excess, sums);
	error_bars_end(&sums->excess);
	return err;
}

static double error_of(const struct rank_sums *sums, uint32_t function, uint32_t most_row)
{
	uint32_t nr = sums->rows->nr;
	double variance = 0, part = 1.0 / nr;

	if (!nr)
		return 0;
	if (is_in_step(sums))
		return half_width(nr, error_bars_variance(&sums->excess, function)) * part;
	for (uint32_t row = 0; row < nr; row++) {
		uint32_t bar = map64_get(&sums->bar_by_key, bar_key(function, row));
		double by = row == most_row ? 1 - part : part;

		variance += by * by * error_bars_variance(&sums->bars, bar);
	}
	return half_width(nr, variance);
}

static int compare_functions(const void *a, const void *b)
{
	const struct rank_function *x = a, *y = b;

	return ORDER(y->self.sum, x->self.sum)
	               ?: ORDER(y->total.sum, x->total.sum)
	               ?: ORDER(x->name, y->name);
}

static int sum_functions(struct rank_sums *sums)
{
	uint32_t nr = sums->paths.names.nr_functions, nr_rows = sums->rows->nr;
	uint32_t *seen = calloc(nr + 1UL, sizeof(*seen));

	sums->self = calloc((size_t)nr * nr_rows + 1, sizeof(*sums->self));
	sums->in_all = calloc((size_t)nr * nr_rows + 1, sizeof(*sums->in_all));
	sums->functions = calloc(nr + 1UL, sizeof(*sums->functions));
	if (!seen || !sums->self || !sums->in_all || !sums->functions) {
		free(seen);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < sums->nr_cells; i++)
		add_path(sums, &sums->cells[i], seen, i + 1);
	for (uint32_t i = 0; i < nr; i++) {
		struct rank_function *function = &sums->functions[i];

		*function = (struct rank_function){
			i,
			spread_of(&sums->self[(size_t)i * nr_rows], nr_rows),
			spread_of(&sums->in_all[(size_t)i * nr_rows], nr_rows),
		};
	}
	sums->nr_functions = nr;
	free(seen);
	return 0;
}

static int estimate_errors(struct rank_sums *sums)
{
	int err = is_in_step(sums) ? add_excesses(sums) : 0;

	for (uint32_t i = 0; i < sums->nr_functions && !err; i++) {
		struct rank_function *function = &sums->functions[i];

		function->self.error = error_of(sums, i, function->self.most_row);
	}
	ARRAY_SORT(sums->functions, sums->nr_functions, compare_functions);
	return err;
}

/* --- MPI -------------------------------------------------------------------------------------- */

static int compare_contexts(const void *a, const void *b)
{
	const struct mpi_context *x = a, *y = b;

	return ORDER(y->weight, x->weight) ?: ORDER(x->path, y->path);
}

static int compare_calls(const void *a, const void *b, void *arg)
{
	const struct mpi_context *x = a, *y = b;
	const struct paths *paths = arg;
	char text_x[FRAME_TEXT_SIZE], text_y[FRAME_TEXT_SIZE];

	return ORDER(paths_caller(paths, x->path), paths_caller(paths, y->path))
	               ?: strcmp(mpi_paths_call(paths, x->path, text_x),
	                         mpi_paths_call(paths, y->path, text_y))
	               ?: ORDER(x->path, y->path);
}

static bool is_same_call(const struct paths *paths, uint32_t x, uint32_t y)
{
	char text_x[FRAME_TEXT_SIZE], text_y[FRAME_TEXT_SIZE];

	return paths_caller(paths, x) == paths_caller(paths, y) &&
	       !strcmp(mpi_paths_call(paths, x, text_x), mpi_paths_call(paths, y, text_y));
}

/*
 * Adds up contexts with the same caller and call. They differ by the frame of the preloaded
 * library, which calls no longer pass through once recording them has ended.
 */
static void unite_contexts(struct rank_sums *sums)
{
	struct mpi_context *all = sums->contexts;
	uint32_t nr = 0;

	ARRAY_SORT_WITH(all, sums->nr_contexts, compare_calls, &sums->paths);
	for (uint32_t i = 0; i < sums->nr_contexts; i++) {
		struct mpi_context *last = &all[nr - 1];

		if (!nr || !is_same_call(&sums->paths, last->path, all[i].path)) {
			all[nr++] = all[i];
			continue;
		}
		last->weight += all[i].weight;
		last->samples += all[i].samples;
	}
	sums->nr_contexts = nr;
}

static int sum_contexts(struct rank_sums *sums)
{
	unsigned char *mpi = mpi_paths_functions(&sums->paths);
	uint32_t nr = 0;

	sums->contexts = calloc(paths_nr(&sums->paths) + 1UL, sizeof(*sums->contexts));
	if (!mpi || !sums->contexts) {
		free(mpi);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < sums->nr_cells; i++) {
		const struct rank_cell *cell = &sums->cells[i];
		uint32_t path = mpi_paths_outermost(&sums->paths, mpi, cell->path);

		if (path == PATH_NONE)
			continue;
		sums->contexts[path].path = path;
		sums->contexts[path].weight += cell->weight;
		sums->contexts[path].samples += cell->samples;
		sums->mpi[cell->row] += cell->weight;
	}
	for (uint32_t i = 0; i < paths_nr(&sums->paths); i++)
		if (sums->contexts[i].samples)
			sums->contexts[nr++] = sums->contexts[i];
	sums->nr_contexts = nr;
	unite_contexts(sums);
	ARRAY_SORT(sums->contexts, sums->nr_contexts, compare_contexts);
	free(mpi);
	return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

int rank_sums_init(struct rank_sums *sums, const struct trace *trace, const struct rank_rows *rows,
                   const struct view_query *query)
{
	int err;

	*sums = (struct rank_sums){
		.trace = trace,
		.rows = rows,
		.event = query->event == TRACE_ALL_EVENTS ? 0 : query->event,
		.selection = query->selection,
	};
	if (paths_init(&sums->paths, trace,
	               query->no_inline ? PATHS_BY_OUTERMOST : PATHS_BY_FUNCTION))
		return -ENOMEM;
	sums->weights = calloc(rows->nr + 1UL, sizeof(*sums->weights));
	sums->mpi = calloc(rows->nr + 1UL, sizeof(*sums->mpi));
	if (!sums->weights || !sums->mpi)
		return -ENOMEM;
	err = error_bars_init(&sums->bars, trace, sums->event);
	if (!err)
		err = add_samples(sums);
	if (!err)
		err = sum_functions(sums);
	if (!err)
		err = estimate_errors(sums);
	return err ? err : sum_contexts(sums);
}

void rank_sums_fini(struct rank_sums *sums)
{
	paths_fini(&sums->paths);
	map64_fini(&sums->cell_by_key);
	map64_fini(&sums->bar_by_key);
	error_bars_fini(&sums->bars);
	error_bars_fini(&sums->excess);
	free(sums->cells);
	free(sums->weights);
	free(sums->mpi);
	free(sums->functions);
	free(sums->self);
	free(sums->in_all);
	free(sums->contexts);
	*sums = (struct rank_sums){0};
}
