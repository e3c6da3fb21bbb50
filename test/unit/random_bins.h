/* Numbers at random, the same in every run, and bins to code them into. */
#ifndef TEST_RANDOM_BINS_H
#define TEST_RANDOM_BINS_H

#include <stdlib.h>
#include <string.h>

#include "hmb/arena.h"

static uint64_t seed = 1;

static inline uint64_t rnd(void)
{
	/* xorshift64* (Vigna, 2016) */
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1d;
}

static inline uint64_t rnd_below(uint64_t end)
{
	return (rnd() >> 20) % end;
}

/* Numbers of all lengths alike, the extremes of `bits` bits among them. */
static inline uint64_t rnd_bits(unsigned bits)
{
	unsigned length = (unsigned)(rnd() % (bits + 1));
	uint64_t value = length ? rnd() >> (64 - length) : 0;

	return rnd() % 8 || !bits ? value : value | (UINT64_MAX >> (64 - bits));
}

/* Full of what does not look like records. */
static inline struct bin *new_bin(unsigned size_shift, enum bin_use use)
{
	struct bin *bin = aligned_alloc(256, (size_t)1 << size_shift);

	memset(bin, 0xee, (size_t)1 << size_shift);
	*bin = (struct bin){.use = (uint8_t)use, .size_shift = (uint8_t)size_shift};
	return bin;
}

#endif
