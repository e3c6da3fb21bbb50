#include "output/profile/profile_build.h"

#include <math.h>

/* Rows with less than this share of all samples, or buckets with less than these, prove nothing. */
#define MIN_SHARE    0.01
#define MIN_EXPECTED 10.0
/* How unlikely chance must be, in standard deviations, and how wrong the shares. */
#define MIN_DEVIATION 6.0
#define MIN_DISTANCE  0.03

static uint64_t bucket_key(uint32_t row, unsigned bucket)
{
	return (uint64_t)row * PROFILE_NR_BUCKETS + bucket;
}

int profile_carry(struct profile *profile, uint32_t row, unsigned bucket)
{
	uint64_t key = bucket_key(row, bucket);
	uint32_t before = map64_get(&profile->carried, key);

	return map64_add(&profile->carried, key, before == UINT32_MAX ? 1 : before + 1);
}

static double bucket_samples(const struct profile *profile, const struct profile_row *row,
                             unsigned bucket)
{
	uint32_t number = (uint32_t)(row - profile->rows);
	uint32_t carried = map64_get(&profile->carried, bucket_key(number, bucket));

	return row->buckets[bucket] + (carried == UINT32_MAX ? 0 : 256.0 * carried);
}

struct evidence {
	double chi2, farthest;
	unsigned nr;
};

/* How far the row's share at one level is from its share of all samples. */
static void weigh_bucket(struct evidence *evidence, double in_row, double in_all, double share)
{
	double expected = in_all * share, distance = fabs(in_row / in_all - share);

	if (expected < MIN_EXPECTED || in_all - expected < MIN_EXPECTED)
		return;
	evidence->chi2 += (in_row - expected) * (in_row - expected) / (expected * (1 - share));
	evidence->nr++;
	if (distance > evidence->farthest)
		evidence->farthest = distance;
}

/*
 * A test of homogeneity: were the levels independent samples of one program, their shares of the
 * row would differ as chance has it, and the statistic would follow a chi-square distribution with
 * nr - 1 degrees of freedom. Evenly spaced samples of programs with phases differ less than that.
 * The distribution's cube root is nearly normal (Wilson and Hilferty, 1931).
 *
 * In a recording in step, samples of one tick may depend on each other and count as one.
 */
bool profile_in_lockstep(const struct profile *profile, const struct profile_row *row)
{
	double share = (double)row->samples / (double)profile->samples, spread, deviation;
	double samples = fmax(profile->samples_in_tick, 1); /* that count as one */
	struct evidence evidence = {0};

	if (profile->has_all || row->name == PROFILE_NONE || !profile->samples || share < MIN_SHARE)
		return false;
	for (unsigned i = 0; i < PROFILE_NR_BUCKETS; i++)
		if (profile->buckets[i])
			weigh_bucket(&evidence, bucket_samples(profile, row, i) / samples,
			             (double)profile->buckets[i] / samples, share);
	if (evidence.nr < 2 || evidence.farthest < MIN_DISTANCE)
		return false;
	spread = 2.0 / (9.0 * (evidence.nr - 1));
	deviation = (cbrt(evidence.chi2 / (evidence.nr - 1)) - (1 - spread)) / sqrt(spread);
	return deviation > MIN_DEVIATION;
}
