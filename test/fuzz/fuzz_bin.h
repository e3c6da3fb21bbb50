/* Bins made of a fuzzer's input: as the whole bin with its header, or as its records alone. */
#ifndef FUZZ_BIN_H
#define FUZZ_BIN_H

#include <stdlib.h>
#include <string.h>

#include "hmb/arena.h"

typedef void bin_decode(const struct bin *bin, size_t size);

static inline void decode_bin(bin_decode *decode, const uint8_t *data, size_t size)
{
	struct bin *bin = malloc(size ? size : 1);

	if (size)
		memcpy(bin, data, size);
	decode(bin, size);
	free(bin);
}

/* The bin is as large as its records need, so that the sanitizer sees who reads beyond. */
static inline void decode_records(bin_decode *decode, const uint8_t *data, size_t size,
                                  unsigned nr_counters)
{
	unsigned shift = 8;
	struct bin *bin;

	while ((size_t)1 << shift < sizeof(*bin) + size)
		shift++;
	bin = calloc(1, (size_t)1 << shift);
	bin->size_shift = (uint8_t)shift;
	bin->record_bytes = (uint32_t)(bin_size(bin) - sizeof(*bin));
	bin->nr_records = UINT32_MAX;
	bin->time_shift = 6;
	bin->nr_counters = (uint8_t)nr_counters;
	memcpy(bin_records(bin), data, size);
	decode(bin, bin_size(bin));
	free(bin);
}

#endif
