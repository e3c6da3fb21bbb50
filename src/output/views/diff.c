#include "output/views/diff.h"
#include "output/views/diff_names.h"
#include "output/views/report_rows.h"
#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const diff_side_names[DIFF_SIDES] = {"before", "after"};

/* A row of one run's profile. */
struct sighting {
	char *cells;
	unsigned side, run;
	uint32_t number;
};

struct sightings {
	struct sighting *rows;
	size_t nr;
	unsigned nr_keys;
	struct diff_names names;
};

/* --- what rows say ---------------------------------------------------------------------------- */

/* A function by its name on both sides. */
static const char *function_cell(const struct sightings *seen, const struct profile *profile,
                                 const struct profile_row *row, const char *cell)
{
	if (row->name == PROFILE_NONE)
		return cell;
	return diff_names_common(
		&seen->names,
		frame_module_text(profile->trace, profile->names.names[row->name].frame), cell);
}

/*
 * Returns the texts of all cells of a row, one behind the other. The caller frees them; NULL: no
 * memory.
 */
static char *row_cells(const struct sightings *seen, const struct profile *profile,
                       const struct profile_row *row, const struct view_query *query, char *text)
{
	char *cells = NULL;
	size_t size = 0;

	for (unsigned k = 0; k < query->nr_keys; k++) {
		const char *cell = report_cell(profile, row, query->keys[k], text);
		size_t more;
		char *grown;

		if (query->keys[k] == PROFILE_BY_SYMBOL)
			cell = function_cell(seen, profile, row, cell);
		more = strlen(cell) + 1;
		grown = realloc(cells, size + more);
		if (!grown) {
			free(cells);
			return NULL;
		}
		cells = grown;
		memcpy(cells + size, cell, more);
		size += more;
	}
	return cells;
}

static int compare_cells(const char *p, const char *q, unsigned nr)
{
	int order = 0;

	for (; nr && !order; nr--) {
		order = strcmp(p, q);
		p += strlen(p) + 1;
		q += strlen(q) + 1;
	}
	return order;
}

/*
 * Orders sightings by the texts of their cells, then by side and by run, so that equal rows come
 * together.
 */
static int compare_sightings(const void *a, const void *b, void *nr_keys)
{
	const struct sighting *x = a, *y = b;
	int order = compare_cells(x->cells, y->cells, *(const unsigned *)nr_keys);

	return order ?: ORDER(x->side, y->side) ?: ORDER(x->run, y->run);
}

static int compare_changes(const void *a, const void *b, void *nr_keys)
{
	const struct diff_row *x = a, *y = b;
	int order = ORDER(fabs(y->change), fabs(x->change));

	return order ?: compare_cells(x->cells, y->cells, *(const unsigned *)nr_keys);
}

static int see_run(struct sightings *seen, const struct diff *diff, unsigned side, unsigned run,
                   const struct view_query *query, char *text)
{
	const struct profile *profile = diff->runs[side].profiles[run];

	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		char *cells;

		if (!profile->rows[i].self)
			continue;
		cells = row_cells(seen, profile, &profile->rows[i], query, text);
		if (!cells)
			return -ENOMEM;
		seen->rows[seen->nr++] = (struct sighting){cells, side, run, i};
	}
	return 0;
}

static size_t most_rows(const struct diff *diff)
{
	size_t sum = 1;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (unsigned run = 0; run < diff->runs[side].nr; run++)
			sum += diff->runs[side].profiles[run]->nr_rows;
	return sum;
}

static int see_all(struct sightings *seen, const struct diff *diff, const struct view_query *query)
{
	char *text = malloc(CELL_SIZE);
	unsigned keys = 0;
	int err;

	*seen = (struct sightings){
		.rows = calloc(most_rows(diff), sizeof(*seen->rows)),
		.nr_keys = query->nr_keys,
	};
	for (unsigned k = 0; k < query->nr_keys; k++)
		keys |= query->keys[k];
	err = diff_names_init(&seen->names, diff->runs, keys);
	if (!text || !seen->rows)
		err = -ENOMEM;
	for (unsigned side = 0; side < DIFF_SIDES && !err; side++)
		for (unsigned run = 0; run < diff->runs[side].nr && !err; run++)
			err = see_run(seen, diff, side, run, query, text);
	free(text);
	if (!err)
		ARRAY_SORT_WITH(seen->rows, seen->nr, compare_sightings, &seen->nr_keys);
	return err;
}

static void forget_all(struct sightings *seen)
{
	for (size_t i = 0; i < seen->nr; i++)
		free(seen->rows[i].cells);
	free(seen->rows);
	diff_names_fini(&seen->names);
}

/* --- values and their errors ------------------------------------------------------------------ */

/* Where 95 % of Student's distribution ends, both tails cut; never below it. */
static double student(double freedom)
{
	static const double whole[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
	                               2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
	                               2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
	                               2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
	size_t nr = sizeof(whole) / sizeof(*whole);

	if (freedom < 2)
		return whole[0];
	return freedom < (double)nr + 1 ? whole[(size_t)freedom - 1] : 1.96 + 2.5 / freedom;
}

/* One run more; the scatter is a sum of squares until the last one. */
static void add_run(struct diff_value *value, unsigned nth, double x, double variance)
{
	double off = x - value->mean;

	value->mean += off / nth;
	value->scatter += off * (x - value->mean);
	value->sampling += (variance - value->sampling) / nth;
}

static void end_runs(struct diff_value *value, unsigned nr)
{
	value->scatter = nr > 1 ? value->scatter / (nr - 1) : 0;
}

/* Welch's, of the variances of the means; a side of one run has the other's. */
static double freedom_of(const struct diff *diff, const double variance[DIFF_SIDES])
{
	double sum = variance[DIFF_BEFORE] + variance[DIFF_AFTER], squares = 0;

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		unsigned nr = diff->runs[side].nr;

		if (nr == 1)
			return diff->runs[!side].nr - 1;
		squares += variance[side] * variance[side] / (nr - 1);
	}
	return squares > 0 ? sum * sum / squares : 1;
}

static double error_of_runs(const struct diff *diff, const struct diff_value of[DIFF_SIDES])
{
	double variance[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		unsigned nr = diff->runs[side].nr;
		double scatter = of[nr > 1 ? side : !side].scatter;

		variance[side] = fmax(scatter, of[side].sampling) / nr;
	}
	return student(freedom_of(diff, variance)) *
	       sqrt(variance[DIFF_BEFORE] + variance[DIFF_AFTER]);
}

static void compare_sides(const struct diff *diff, struct diff_row *row)
{
	const struct diff_value *of = row->of;

	row->change = of[DIFF_AFTER].mean - of[DIFF_BEFORE].mean;
	row->error = diff_has_one_run_each(diff)
	                     ? 1.96 * sqrt(of[DIFF_BEFORE].sampling + of[DIFF_AFTER].sampling)
	                     : error_of_runs(diff, of);
}

/* Returns the kernel's exact total where it is known, because it includes lost samples. */
static double whole_of(const struct profile *profile)
{
	uint64_t exact = profile_exact(profile);

	return (double)(exact ? exact : profile->total);
}

static void sum_whole(struct diff *diff)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct diff_runs *runs = &diff->runs[side];
		struct diff_value *value = &diff->whole.of[side];

		for (unsigned run = 0; run < runs->nr; run++) {
			add_run(value, run + 1, whole_of(runs->profiles[run]), 0);
			value->samples += runs->profiles[run]->samples;
		}
		end_runs(value, runs->nr);
	}
	compare_sides(diff, &diff->whole);
}

/*
 * Adds the value of a function in one run. `rows` are the nr rows of the run's profile that have
 * the function's cells; there may be none.
 */
static void add_sightings(struct diff_value *value, const struct profile *profile, unsigned nth,
                          const struct sighting *rows, size_t nr, bool shares)
{
	double factor = profile_exact_factor(profile), x = 0, variance = 0;
	double unit = shares ? (double)profile->total / 100 : 1 / factor;

	for (size_t i = 0; i < nr; i++) {
		const struct profile_row *row = &profile->rows[rows[i].number];

		x += (double)row->self;
		profile_add_variance(profile, &variance, row->variance);
		value->samples += row->samples;
	}
	if (!nr)
		variance = profile_unmet_variance(profile);
	add_run(value, nth, unit ? x / unit : 0, unit ? variance / unit / unit : 0);
}

/* A side of a function; the first of its sightings that are left is moved behind them. */
static void sum_side(const struct diff *diff, struct diff_row *row, unsigned side,
                     const struct sighting **at, const struct sighting *end, bool shares)
{
	const struct diff_runs *runs = &diff->runs[side];

	for (unsigned run = 0; run < runs->nr; run++) {
		const struct sighting *first = *at;

		while (*at < end && (*at)->side == side && (*at)->run == run)
			++*at;
		add_sightings(&row->of[side], runs->profiles[run], run + 1, first,
		              (size_t)(*at - first), shares);
	}
	end_runs(&row->of[side], runs->nr);
}

/* Rows that say the same become one. */
static void match(struct diff *diff, struct sightings *seen, bool shares)
{
	struct sighting *end = seen->rows + seen->nr;

	for (struct sighting *first = seen->rows, *next; first < end; first = next) {
		const struct sighting *at = first;
		struct diff_row *row = &diff->rows[diff->nr++];

		for (next = first; next < end; next++)
			if (compare_cells(first->cells, next->cells, seen->nr_keys))
				break;
		*row = (struct diff_row){
			.cells = first->cells,
			.profile = diff->runs[first->side].profiles[first->run],
			.number = first->number,
		};
		first->cells = NULL;
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			sum_side(diff, row, side, &at, next, shares);
		compare_sides(diff, row);
	}
	ARRAY_SORT_WITH(diff->rows, diff->nr, compare_changes, &seen->nr_keys);
}

int diff_init(struct diff *diff, const struct diff_runs runs[DIFF_SIDES],
              const struct view_query *query, bool shares)
{
	struct sightings seen;
	int err;

	*diff = (struct diff){.runs = {runs[DIFF_BEFORE], runs[DIFF_AFTER]}};
	err = see_all(&seen, diff, query);
	diff->rows = calloc(seen.nr + 1, sizeof(*diff->rows));
	if (!diff->rows)
		err = -ENOMEM;
	if (!err) {
		sum_whole(diff);
		match(diff, &seen, shares);
	}
	forget_all(&seen);
	return err;
}

void diff_fini(struct diff *diff)
{
	for (size_t i = 0; i < diff->nr; i++)
		free(diff->rows[i].cells);
	free(diff->rows);
	*diff = (struct diff){0};
}
