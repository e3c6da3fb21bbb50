#include "cli/watch/median.h"

#include <math.h>

#define LEAST_EXPONENT (-63) /* of frexp() */

/* Returns -1 for a value that is nearly 0. */
static int bucket_of(double size)
{
	int exponent;
	double fraction = frexp(size, &exponent); /* 0.5 … 1 */

	if (exponent < LEAST_EXPONENT)
		return -1;
	if (exponent >= LEAST_EXPONENT + MEDIAN_OCTAVES)
		return MEDIAN_BUCKETS - 1;
	return (exponent - LEAST_EXPONENT) * MEDIAN_STEPS +
	       (int)((fraction - 0.5) * 2 * MEDIAN_STEPS);
}

/* Returns the middle of a bucket. */
static double value_of(unsigned bucket)
{
	const double fraction = 0.5 + (bucket % MEDIAN_STEPS + 0.5) / (2.0 * MEDIAN_STEPS);

	return ldexp(fraction, (int)(bucket / MEDIAN_STEPS) + LEAST_EXPONENT);
}

void median_add(struct median *median, double value)
{
	int bucket = value != 0 && isfinite(value) ? bucket_of(fabs(value)) : -1;

	if (!isfinite(value))
		return;
	median->nr++;
	if (bucket < 0)
		median->zeros++;
	else
		median->buckets[value < 0][bucket]++;
}

double median_get(const struct median *median)
{
	uint64_t before = 0, middle = (median->nr + 1) / 2;

	if (!median->nr)
		return 0;
	for (unsigned b = MEDIAN_BUCKETS; b-- > 0;) {
		before += median->buckets[1][b];
		if (before >= middle)
			return -value_of(b);
	}
	before += median->zeros;
	if (before >= middle)
		return 0;
	for (unsigned b = 0; b < MEDIAN_BUCKETS; b++) {
		before += median->buckets[0][b];
		if (before >= middle)
			return value_of(b);
	}
	return 0;
}
