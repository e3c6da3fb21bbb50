/*
 * Fuzzing of the decoder of calls, with a bin made of the input in two ways: as its records
 * alone, and as the whole bin with its header, as a trace file has it.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hmb/call_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(const struct bin *bin, size_t size)
{
	static struct call_cursor cursor;
	struct call call;
	size_t nr = 0;
	int end = call_code_open(&cursor, bin, size);

	if (!end)
		while ((end = call_code_next(&cursor, &call)) == 1) {
			assert(++nr <= size);
			assert(call.enter <= call.leave);
		}
	assert(end == 0 || end == -EBADMSG);
}

/* The bin is as large as its records need, so that the sanitizer sees who reads beyond. */
static void decode_records(const uint8_t *data, size_t size)
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
	if (size < 1 << 20)
		decode_records(data, size);
	return 0;
}
