#include "raw_ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 4096 };

/* A record of this size whose bytes tell its number. */
static size_t numbered(struct raw *raw, unsigned number, size_t size)
{
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = (uint16_t)size};

	raw_start(raw, PERF_RECORD_SAMPLE, 0);
	while (raw->nr * 8 < size)
		raw_word(raw, (uint64_t)number << 32 | raw->nr);
	memcpy(raw->words, &header, sizeof(header));
	return size;
}

static void assert_numbered(const void *record, size_t size, unsigned number)
{
	const uint64_t *words = record;

	assert_int_equal((uintptr_t)record % 8, 0);
	for (size_t i = 1; i < size / 8; i++)
		assert_int_equal(words[i], (uint64_t)number << 32 | i);
}

/* Writes and reads records of random sizes, multiples of unit, some dozens at a time. */
static void pass(uint64_t position, size_t unit)
{
	struct raw_ring raw;
	struct ring ring;
	struct raw record;
	uint64_t seed = position + 1;
	unsigned written = 0, read = 0;
	size_t size, sizes[64];
	const void *at;

	raw_ring_init(&raw, &ring, SIZE, position);
	for (unsigned round = 0; round < 2000; round++) {
		for (size_t n = raw_random(&seed) % 30; n-- > 0; written++) {
			size = 8 + unit * (raw_random(&seed) % (480 / unit));
			numbered(&record, written, size);
			if (!raw_ring_write(&raw, record.words, size))
				break;
			sizes[written % 64] = size;
		}
		ring_refresh(&ring);
		for (size_t n = raw_random(&seed) % 40;
		     n-- > 0 && (at = ring_peek(&ring, &size));) {
			assert_true(read < written);
			assert_int_equal(size, sizes[read % 64]);
			assert_numbered(at, size, read++);
			ring_consume(&ring, size);
		}
		ring_release(&ring);
		assert_int_equal(raw.page->data_tail, ring.tail);
	}
	assert_true(read > 5000);
	assert_false(ring.broken);
	raw_ring_fini(&raw);
}

static void records_come_out_as_they_went_in(void **state)
{
	(void)state;
	pass(0, 8);
}

/* As where a stack pointer of a 32-bit program, or one that lies, is near the end of its memory. */
static void sizes_may_be_odd(void **state)
{
	(void)state;
	pass(0, 4);
	pass(12345, 1);
}

/* Positions only ever grow, and are taken modulo 2^64. */
static void positions_overflow(void **state)
{
	(void)state;
	pass(UINT64_MAX - 100 * SIZE + 1, 8);
	pass(((uint64_t)1 << 32) - 8, 8);
}

static void wraps_at_every_offset(void **state)
{
	struct raw_ring raw;
	struct ring ring;
	struct raw record;
	size_t size;

	(void)state;
	for (size_t offset = 0; offset < SIZE; offset++) {
		const void *at;

		raw_ring_init(&raw, &ring, SIZE, offset);
		assert_true(raw_ring_write(&raw, record.words, numbered(&record, 7, SIZE)));
		ring_refresh(&ring);
		assert_int_equal(ring_fill(&ring), SIZE);
		at = ring_peek(&ring, &size);
		assert_non_null(at);
		assert_int_equal(size, SIZE);
		assert_numbered(at, size, 7);
		raw_ring_fini(&raw);
	}
}

static void nothing_beyond_the_last_refresh(void **state)
{
	struct raw_ring raw;
	struct ring ring;
	struct raw record;
	size_t size;

	(void)state;
	raw_ring_init(&raw, &ring, SIZE, 0);
	assert_null(ring_peek(&ring, &size));
	raw_ring_write(&raw, record.words, numbered(&record, 1, 64));
	assert_null(ring_peek(&ring, &size));
	ring_refresh(&ring);
	assert_non_null(ring_peek(&ring, &size));
	assert_non_null(ring_peek(&ring, &size)); /* peeking takes nothing */
	ring_consume(&ring, size);
	assert_null(ring_peek(&ring, &size));
	assert_int_equal(raw.page->data_tail, 0);
	ring_release(&ring);
	assert_int_equal(raw.page->data_tail, 64);
	raw_ring_fini(&raw);
}

/* The rest up to the head is skipped; what is written later is read again. */
static void broken_sizes_are_skipped(void **state)
{
	static const uint16_t sizes[] = {0, 1, 4, 7, 65, 72, 4096, 65535};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = sizes[i]};
		struct raw_ring raw;
		struct ring ring;
		struct raw record;
		size_t size;

		raw_ring_init(&raw, &ring, SIZE, SIZE - 32);
		numbered(&record, 1, 64);
		memcpy(record.words, &header, sizeof(header));
		raw_ring_write(&raw, record.words, 64);
		ring_refresh(&ring);
		assert_null(ring_peek(&ring, &size));
		assert_true(ring.broken);
		raw_ring_write(&raw, record.words, numbered(&record, 2, 64));
		ring_refresh(&ring);
		assert_non_null(ring_peek(&ring, &size));
		assert_numbered(record.words, size, 2);
		raw_ring_fini(&raw);
	}
}

/* A head further away than the ring is large: nothing there can be trusted. */
static void head_out_of_range(void **state)
{
	static const uint64_t heads[] = {SIZE + 8, 65536, UINT32_MAX, UINT64_MAX - 7, SIZE + 3};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct raw_ring raw;
		struct ring ring;
		struct raw record;
		size_t size;

		raw_ring_init(&raw, &ring, SIZE, 0);
		numbered(&record, 1, 2 * SIZE);
		memcpy(raw.data, record.words, SIZE);
		raw.page->data_head = heads[i];
		ring_refresh(&ring);
		assert_null(ring_peek(&ring, &size));
		assert_true(ring.broken);
		assert_int_equal(ring_fill(&ring), 0);
		raw_ring_fini(&raw);
	}
}

static void garbage_is_harmless(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		struct raw_ring raw;
		struct ring ring;
		size_t size, total = 0;
		const void *at;

		raw_ring_init(&raw, &ring, SIZE, raw_random(&seed) & ~(uint64_t)7);
		for (size_t i = 0; i < SIZE; i += 8) {
			uint64_t word = raw_random(&seed);

			/* Sizes that are often possible, else all would end at the first. */
			if (round % 2)
				word = (word & ~(UINT64_MAX << 48)) | (raw_random(&seed) % 64) * 8
				                                              << 48;
			memcpy(raw.data + i, &word, 8);
		}
		raw.page->data_head += raw_random(&seed) % (SIZE + 1);
		ring_refresh(&ring);
		while ((at = ring_peek(&ring, &size))) {
			unsigned char sum = 0;

			for (size_t i = 0; i < size; i++)
				sum ^= ((const unsigned char *)at)[i];
			total += size + sum - sum;
			ring_consume(&ring, size);
		}
		assert_true(total <= SIZE);
		ring_release(&ring);
		raw_ring_fini(&raw);
	}
}

/* Whoever asks for more than a descriptor gives gets an error or less, and no leak. */
static void mapping_shrinks_or_fails(void **state)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ring ring;
	char *mapped;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(page + 4 * page)), 0);
	assert_int_equal(ring_map(&ring, fd, 4 * page, NULL), 0);
	assert_int_equal(ring.size, 4 * page);
	mapped = (char *)ring.page;
	assert_int_equal(msync(mapped, 5 * page, MS_ASYNC), 0);
	ring_unmap(&ring);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(msync(mapped + i * page, page, MS_ASYNC), -1);
	assert_null(ring.page);
	ring_unmap(&ring);
	close(fd);
	assert_int_equal(ring_map(&ring, -1, 4 * page, NULL), -EBADF);
	ring_unmap(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_out_as_they_went_in),
		cmocka_unit_test(sizes_may_be_odd),
		cmocka_unit_test(positions_overflow),
		cmocka_unit_test(wraps_at_every_offset),
		cmocka_unit_test(nothing_beyond_the_last_refresh),
		cmocka_unit_test(broken_sizes_are_skipped),
		cmocka_unit_test(head_out_of_range),
		cmocka_unit_test(garbage_is_harmless),
		cmocka_unit_test(mapping_shrinks_or_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
