/* Changes of files that consist of parts, most of which are small: all are as likely to change. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <string.h>

#include "random.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* Numbers that are at the edge of something, or stand elsewhere in the part. */
static inline uint32_t strange_number(const uint8_t *part, size_t nr_words, uint64_t *random)
{
	static const uint32_t edges[] = {0, 1, 2, 255, 256, 65535, INT32_MAX, 1U << 31, UINT32_MAX};
	uint32_t other;

	memcpy(&other, part + 4 * random_below(random, nr_words), sizeof(other));
	switch (random_below(random, 4)) {
	case 0:
		return edges[random_below(random, sizeof(edges) / sizeof(*edges))];
	case 1:
		return (uint32_t)random_below(random, 1 << 16);
	case 2:
		return other + (uint32_t)random_below(random, 3) - 1;
	default:
		return other;
	}
}

/* A few numbers, or some bytes; its size stays. */
static inline void change_part(uint8_t *part, size_t size, uint64_t *random)
{
	size_t nr = 1 + random_below(random, 4), at = random_below(random, size);
	size_t most = size - at < 64 ? size - at : 64;

	if (size < 4 || !random_below(random, 2)) {
		LLVMFuzzerMutate(part + at, most, most);
		return;
	}
	for (; nr; nr--) {
		uint32_t number = strange_number(part, size / 4, random);

		memcpy(part + 4 * random_below(random, size / 4), &number, sizeof(number));
	}
}

#endif
