/*
 * Fuzzing of the decoder of calls, with a bin made of the input in two ways: as its records
 * alone, and as the whole bin with its header, as a trace file has it.
 */

#include <assert.h>
#include <errno.h>

#include "fuzz_bin.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	decode_bin(decode, data, size);
	if (size < 1 << 20)
		decode_records(decode, data, size, 0);
	return 0;
}
