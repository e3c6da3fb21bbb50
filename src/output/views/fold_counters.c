#include "output/views/fold_counters.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_PIVOT 1e-7 /* of the diagonal: less is rounding */
#define Z95         1.96

int fold_counters_init(struct fold_counters *counters, unsigned nr_bins, unsigned nr_counters)
{
	*counters = (struct fold_counters){.nr_bins = nr_bins, .nr_counters = nr_counters};
	counters->matrix = calloc((size_t)nr_bins * nr_bins + 1, sizeof(double));
	if (!counters->matrix)
		return -ENOMEM;
	for (unsigned i = 0; i < nr_counters; i++) {
		counters->advances[i] = calloc(nr_bins + 1U, sizeof(double));
		if (!counters->advances[i])
			return -ENOMEM;
	}
	return 0;
}

void fold_counters_fini(struct fold_counters *counters)
{
	free(counters->matrix);
	for (unsigned i = 0; i < COUNTER_MAX; i++)
		free(counters->advances[i]);
	*counters = (struct fold_counters){0};
}

static double *row_of(const struct fold_counters *counters, unsigned row)
{
	return counters->matrix + (size_t)row * counters->nr_bins;
}

/* The variance of an advance grows with the length of its interval, and so its weight falls. */
void fold_counters_add(struct fold_counters *counters, const double *covered,
                       const uint64_t *advances)
{
	double length = 0;

	for (unsigned i = 0; i < counters->nr_bins; i++)
		length += covered[i];
	if (length <= 0)
		return;
	counters->intervals++;
	for (unsigned i = 0; i < counters->nr_bins; i++) {
		double weighted = covered[i] / length, *row = row_of(counters, i);

		if (covered[i] <= 0)
			continue;
		for (unsigned k = 0; k <= i; k++)
			row[k] += weighted * covered[k];
		for (unsigned k = 0; k < counters->nr_counters; k++)
			counters->advances[k][i] += weighted * (double)advances[k];
	}
	for (unsigned k = 0; k < counters->nr_counters; k++)
		counters->squares[k] += (double)advances[k] * (double)advances[k] / length;
}

/* Replaces the matrix by its Cholesky factor. Returns false where it has none. */
static bool factor(struct fold_counters *counters)
{
	for (unsigned i = 0; i < counters->nr_bins; i++) {
		double *row = row_of(counters, i), diagonal = row[i];

		for (unsigned k = 0; k <= i; k++) {
			const double *other = row_of(counters, k);

			for (unsigned j = 0; j < k; j++)
				row[k] -= row[j] * other[j];
			if (k < i)
				row[k] /= other[k];
		}
		if (!(row[i] > LEAST_PIVOT * diagonal))
			return false;
		row[i] = sqrt(row[i]);
	}
	return true;
}

/* Solves L y = b in place, from a row on; the values before it are 0. */
static void solve_lower(const struct fold_counters *counters, double *b, unsigned from)
{
	for (unsigned i = from; i < counters->nr_bins; i++) {
		const double *row = row_of(counters, i);

		for (unsigned j = from; j < i; j++)
			b[i] -= row[j] * b[j];
		b[i] /= row[i];
	}
}

/* Solves Lᵀ x = y in place. */
static void solve_upper(const struct fold_counters *counters, double *y)
{
	for (unsigned i = counters->nr_bins; i-- > 0;) {
		for (unsigned j = i + 1; j < counters->nr_bins; j++)
			y[i] -= row_of(counters, j)[i] * y[j];
		y[i] /= row_of(counters, i)[i];
	}
}

/* A diagonal element of the inverse is the squared length of a column of the inverted factor. */
static double inverse_diagonal(const struct fold_counters *counters, unsigned bin, double *column)
{
	double sum = 0;

	for (unsigned i = 0; i < counters->nr_bins; i++)
		column[i] = i == bin;
	solve_lower(counters, column, bin);
	for (unsigned i = bin; i < counters->nr_bins; i++)
		sum += column[i] * column[i];
	return sum;
}

/* The variance of an advance over its interval of 1 s, from the residuals. */
static double dispersion(const struct fold_counters *counters, unsigned counter, const double *half)
{
	double squares = counters->squares[counter];

	for (unsigned i = 0; i < counters->nr_bins; i++)
		squares -= half[i] * half[i];
	return fmax(squares, 0) / (double)(counters->intervals - counters->nr_bins);
}

bool fold_counters_solve(struct fold_counters *counters, unsigned counter, struct fold_band *rates)
{
	double *x = counters->advances[counter], variance;
	double *column = calloc(counters->nr_bins + 1U, sizeof(*column));
	bool known = column && counters->intervals > counters->nr_bins && !counters->undetermined;

	if (known && !counters->factored) {
		known = counters->factored = factor(counters);
		counters->undetermined = !known;
	}
	if (!known) {
		free(column);
		return false;
	}
	solve_lower(counters, x, 0);
	variance = dispersion(counters, counter, x);
	solve_upper(counters, x);
	for (unsigned i = 0; i < counters->nr_bins; i++) {
		double band = Z95 * sqrt(variance * inverse_diagonal(counters, i, column));

		rates->value[i] = x[i];
		rates->low[i] = x[i] - band;
		rates->high[i] = x[i] + band;
	}
	free(column);
	return true;
}
