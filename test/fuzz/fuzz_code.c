/*
 * Fuzzing of the decoder of samples, with a bin made of the input in three ways: as its records
 * alone, without and with counters, and as the whole bin with its header, as a trace file has it.
 */

#include <assert.h>
#include <errno.h>

#include "fuzz_bin.h"
#include "hmb/code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Some contexts have no node. */
static uint64_t frame_of(const void *of, uint32_t context)
{
	(void)of;
	return context % 8 ? (uint64_t)context * 0x9e3779b97f4a7c15 >> 16 : 0;
}

static void decode(const struct bin *bin, size_t size)
{
	static struct code_cursor cursor;
	struct code_sample sample;
	size_t nr = 0;
	int end = code_open(&cursor, bin, size, (struct code_nodes){.frame = frame_of});

	if (!end)
		while ((end = code_next(&cursor, &sample)) == 1) {
			assert(++nr <= size);
			assert(sample.leaf >> 48 == 0);
		}
	assert(end == 0 || end == -EBADMSG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	decode_bin(decode, data, size);
	if (size < 1 << 20) {
		decode_records(decode, data, size, 0);
		decode_records(decode, data, size, 1 + size % COUNTER_MAX);
	}
	return 0;
}
