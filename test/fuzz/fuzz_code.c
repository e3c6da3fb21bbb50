/*
 * Fuzzing of the decoder of samples, with a bin made of the input in three ways: as its records
 * alone, without and with counters, and as the whole bin with its header, as a trace file has it.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hmb/code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(const struct bin *bin, size_t size)
{
	static struct code_cursor cursor;
	struct code_sample sample;
	size_t nr = 0;
	int end = code_open(&cursor, bin, size);

	if (!end)
		while ((end = code_next(&cursor, &sample)) == 1) {
			assert(++nr <= size);
			assert(sample.leaf >> 48 == 0);
		}
	assert(end == 0 || end == -EBADMSG);
}

/* The bin is as large as its records need, so that the sanitizer sees who reads beyond. */
static void decode_records(const uint8_t *data, size_t size, unsigned nr_counters)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bin *bin = malloc(size ? size : 1);

	if (size)
		memcpy(bin, data, size);
	decode(bin, size);
	free(bin);
	if (size < 1 << 20) {
		decode_records(data, size, 0);
		decode_records(data, size, 1 + size % COUNTER_MAX);
	}
	return 0;
}
