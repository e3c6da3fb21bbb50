#include "output/views/durations.h"

#include <math.h>

static unsigned bucket_of(uint64_t ns)
{
	unsigned octave, bucket;

	if (ns < 32)
		return (unsigned)ns;
	octave = 63 - (unsigned)__builtin_clzll(ns);
	bucket = (octave - 4) * 32 + ((unsigned)(ns >> (octave - 5)) & 31);
	return bucket < DURATION_BUCKETS ? bucket : DURATION_BUCKETS - 1;
}

/* Returns the middle of a bucket. */
static uint64_t bucket_value(unsigned bucket)
{
	unsigned shift;

	if (bucket < 32)
		return bucket;
	shift = bucket / 32 - 1;
	return ((uint64_t)(32 + bucket % 32) << shift) + ((1UL << shift) - 1) / 2;
}

void durations_add(struct durations *durations, uint64_t ns)
{
	if (!durations->nr || ns < durations->least)
		durations->least = ns;
	if (ns > durations->most)
		durations->most = ns;
	durations->nr++;
	durations->sum += ns;
	durations->buckets[bucket_of(ns)]++;
}

void durations_merge(struct durations *durations, const struct durations *from)
{
	if (!from->nr)
		return;
	if (!durations->nr || from->least < durations->least)
		durations->least = from->least;
	if (from->most > durations->most)
		durations->most = from->most;
	durations->nr += from->nr;
	durations->sum += from->sum;
	for (unsigned i = 0; i < DURATION_BUCKETS; i++)
		durations->buckets[i] += from->buckets[i];
}

static uint64_t within(const struct durations *durations, uint64_t ns)
{
	if (ns < durations->least)
		return durations->least;
	return ns < durations->most ? ns : durations->most;
}

uint64_t durations_quantile(const struct durations *durations, double part)
{
	uint64_t wanted = (uint64_t)ceil(part * (double)durations->nr), nr = 0;

	for (unsigned i = 0; i < DURATION_BUCKETS; i++) {
		nr += durations->buckets[i];
		if (nr && nr >= wanted)
			return within(durations, bucket_value(i));
	}
	return 0;
}

uint64_t durations_above(const struct durations *durations, uint64_t ns)
{
	uint64_t nr = 0;

	for (unsigned i = bucket_of(ns) + 1; i < DURATION_BUCKETS; i++)
		nr += durations->buckets[i];
	return nr;
}
