/* Numbers at random, the same in every run with the same seed. */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <stdint.h>

/* One in [0, below). */
static inline uint64_t random_below(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return (*seed >> 33) % below;
}

#endif
