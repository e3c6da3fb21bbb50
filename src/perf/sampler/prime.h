/* Steps that do not march with what a program repeats. */
#ifndef PERF_SAMPLER_PRIME_H
#define PERF_SAMPLER_PRIME_H

#include <stdbool.h>
#include <stdint.h>

static inline bool is_prime(uint64_t n)
{
	for (uint64_t d = 2; d * d <= n; d++)
		if (!(n % d))
			return false;
	return n > 1;
}

/*
 * A prime some 3 % below a round number, and badly approximable by simple fractions of it: 97081
 * for 100000. The time it takes grows with the root of the number.
 */
static inline uint64_t prime_beside(uint64_t round)
{
	uint64_t n = round - round * 2918 / 100000;

	while (n > 2 && !is_prime(n))
		n--;
	return n ? n : 1;
}

#endif
