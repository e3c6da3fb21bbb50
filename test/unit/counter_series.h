/*
 * Running totals as of a program's hardware counters: it goes from site to site, each with its own
 * rates, stays at each for a while, and every interval is a little different from the last.
 */
#ifndef COUNTER_SERIES_H
#define COUNTER_SERIES_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "hmb/counter_code.h"

enum { SERIES_SITES = 32 };

struct series {
	uint64_t random;
	unsigned site;
	double rates[SERIES_SITES][COUNTER_MAX]; /* a ns */
	double totals[COUNTER_MAX];
};

/*
 * The sampled clock itself, cycles, instructions, branches, loads, level-1 misses, last-level
 * misses, branch misses, and page faults, which are rare.
 */
static inline double series_rate(unsigned counter)
{
	static const double rates[COUNTER_MAX] = {1, 3, 3.5, 0.7, 1, 0.03, 0.003, 0.004, 0.00001};

	return rates[counter];
}

static inline double series_random(struct series *series)
{
	/* xorshift64* (Vigna, 2016) */
	series->random ^= series->random >> 12;
	series->random ^= series->random << 25;
	series->random ^= series->random >> 27;
	return (double)(series->random * 0x2545f4914f6cdd1d >> 11) / 0x1p53;
}

/* Of mean 1, and seldom more than twice as much off as said. */
static inline double series_noise(struct series *series, double share)
{
	double sum = -2;

	for (unsigned i = 0; i < 4; i++)
		sum += series_random(series);
	return exp(share * 1.73 * sum);
}

static inline struct series *series_new(uint64_t seed)
{
	struct series *series = calloc(1, sizeof(*series));

	series->random = seed * 0x9e3779b97f4a7c15;
	for (unsigned s = 0; s < SERIES_SITES; s++)
		for (unsigned i = 0; i < COUNTER_MAX; i++)
			series->rates[s][i] =
				series_rate(i) * (i ? series_noise(series, i == 1  ? 0.02
			                                                   : i < 5 ? 0.4
			                                                           : 1)
			                            : 1);
	return series;
}

static inline unsigned series_site(const struct series *series)
{
	return series->site;
}

/* Goes on by this much time. Sites last for some ms, intervals differ by 10 %. */
static inline void series_step(struct series *series, uint64_t ns, uint64_t totals[COUNTER_MAX])
{
	const uint64_t most = ns / 8 > 1000000 ? ns / 8 : 1000000;

	for (uint64_t left = ns, part; left; left -= part) {
		part = left < most ? left : most;
		if (series_random(series) < (double)part / 5e6)
			series->site = (unsigned)(series_random(series) * SERIES_SITES);
		for (unsigned i = 0; i < COUNTER_MAX; i++)
			series->totals[i] += (double)part * series->rates[series->site][i] *
			                     (i ? series_noise(series, 0.1) : 1);
	}
	for (unsigned i = 0; i < COUNTER_MAX; i++)
		totals[i] = (uint64_t)series->totals[i];
}

#endif
