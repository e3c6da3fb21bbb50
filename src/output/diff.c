#include "output/diff.h"
#include "output/report_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const diff_side_names[DIFF_SIDES] = {"before", "after"};

/* What all cells of a row say; NULL: no memory. */
static char *row_cells(const struct profile *profile, const struct profile_row *row,
                       const struct report_options *options, char *text)
{
	char *cells = NULL;
	size_t size = 0;

	for (unsigned k = 0; k < options->nr_keys; k++) {
		char *grown;
		size_t more;

		report_cell(profile, row, options->keys[k], text);
		more = strlen(text) + 1;
		grown = realloc(cells, size + more);
		if (!grown) {
			free(cells);
			return NULL;
		}
		cells = grown;
		memcpy(cells + size, text, more);
		size += more;
	}
	return cells;
}

static int compare_cells(const void *a, const void *b, void *arg)
{
	const struct diff_row *x = a, *y = b;
	const char *p = x->cells, *q = y->cells;
	int order = 0;

	for (unsigned nr = *(const unsigned *)arg; nr && !order; nr--) {
		order = strcmp(p, q);
		p += strlen(p) + 1;
		q += strlen(q) + 1;
	}
	return order;
}

static int compare_changes(const void *a, const void *b, void *arg)
{
	const struct diff_row *x = a, *y = b;
	double p = fabs(x->change), q = fabs(y->change);

	return p > q ? -1 : p < q ? 1 : compare_cells(a, b, arg);
}

static int add_rows(struct diff *diff, unsigned side, const struct report_options *options,
                    char *text)
{
	const struct profile *profile = diff->profiles[side];

	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		const struct profile_row *from = &profile->rows[i];
		struct diff_row *row = &diff->rows[diff->nr];

		if (!from->self)
			continue;
		row->cells = row_cells(profile, from, options, text);
		if (!row->cells)
			return -ENOMEM;
		row->side = side;
		row->number = i;
		row->value[side] = (double)from->self;
		row->samples[side] = from->samples;
		row->variance[side] = from->variance;
		diff->nr++;
	}
	return 0;
}

/* Rows that say the same become one. */
static void match_rows(struct diff *diff, unsigned nr_keys)
{
	size_t nr = 0;

	if (diff->nr)
		qsort_r(diff->rows, diff->nr, sizeof(*diff->rows), compare_cells, &nr_keys);
	for (size_t i = 0; i < diff->nr; i++) {
		struct diff_row *row = &diff->rows[i], *last = nr ? &diff->rows[nr - 1] : NULL;

		if (!last || compare_cells(last, row, &nr_keys)) {
			diff->rows[nr++] = *row;
			continue;
		}
		for (unsigned side = 0; side < DIFF_SIDES; side++) {
			last->value[side] += row->value[side];
			last->variance[side] += row->variance[side];
			last->samples[side] += row->samples[side];
		}
		free(row->cells);
	}
	diff->nr = nr;
}

/* The largest weight of one sample: a function that was not met may have had less than that. */
static double unmet_variance(const struct profile *profile)
{
	return (double)profile->max_weight * (double)profile->max_weight;
}

static void compare_sides(struct diff *diff, struct diff_row *row, bool shares)
{
	double variance = 0;

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		double unit = shares ? diff->whole[side] / 100 : 1;

		if (!row->value[side])
			row->variance[side] = unmet_variance(diff->profiles[side]);
		row->value[side] = unit ? row->value[side] / unit : 0;
		row->variance[side] = unit ? row->variance[side] / unit / unit : 0;
		variance += row->variance[side];
	}
	row->change = row->value[DIFF_AFTER] - row->value[DIFF_BEFORE];
	row->error = 1.96 * sqrt(variance);
}

static int fill(struct diff *diff, const struct report_options *options, bool shares, char *text)
{
	unsigned nr_keys = options->nr_keys;

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		diff->whole[side] = (double)diff->profiles[side]->total;
		if (add_rows(diff, side, options, text))
			return -ENOMEM;
	}
	match_rows(diff, nr_keys);
	for (size_t i = 0; i < diff->nr; i++)
		compare_sides(diff, &diff->rows[i], shares);
	if (diff->nr)
		qsort_r(diff->rows, diff->nr, sizeof(*diff->rows), compare_changes, &nr_keys);
	return 0;
}

int diff_init(struct diff *diff, const struct profile *before, const struct profile *after,
              const struct report_options *options, bool shares)
{
	char *text = malloc(CELL_SIZE);
	int err = -ENOMEM;

	*diff = (struct diff){
		.profiles = {before, after},
		.rows = calloc((size_t)before->nr_rows + after->nr_rows + 1, sizeof(*diff->rows)),
	};
	if (text && diff->rows)
		err = fill(diff, options, shares, text);
	free(text);
	return err;
}

void diff_fini(struct diff *diff)
{
	for (size_t i = 0; i < diff->nr; i++)
		free(diff->rows[i].cells);
	free(diff->rows);
	*diff = (struct diff){0};
}
