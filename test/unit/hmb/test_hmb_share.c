#include "hmb/call_code.h"
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"

/* The calls that a kind keeps once the buffer is full. */

enum { SIZE = 1 << 20, SHARE = 300 << 10, NR = 300000 };

struct buffer {
	struct hmb *hmb;
	uint32_t next; /* of the calls */
};

static void buffer_open(struct buffer *buffer, size_t share, bool by_level)
{
	buffer->hmb = buffer_new((struct hmb_config){
		.size = SIZE,
		.nr_kinds = 2,
		.max_path = 8,
		.kinds[1] = {.content = HMB_CALLS, .share = share, .by_level = by_level},
	});
	buffer->next = 0;
}

/* The call tells its number by its tag, and takes a byte or two more for its odd duration. */
static bool put(struct buffer *buffer, unsigned level)
{
	uint32_t i = buffer->next++;
	const struct call_part part = {
		.type = CALL_SEND,
		.comm = 1,
		.tag = (int32_t)i,
		.bytes = level,
	};
	const struct call call = {
		.enter = 1000 + (uint64_t)i * 5000,
		.leave = 1000 + (uint64_t)i * 5000 + i % 3333,
		.region = 7,
		.nr_parts = 1,
		.parts = &part,
	};

	return hmb_put_call(buffer->hmb, 1, level, &call);
}

/* Reads all live calls back; each must be of its bin's level. */
static uint64_t read_back(const struct buffer *buffer, unsigned char *there)
{
	const struct arena *arena = &buffer->hmb->arena;
	struct call_cursor *cursor = malloc(sizeof(*cursor));
	uint64_t nr = 0;
	struct call call;

	for (unsigned level = hmb_floor(buffer->hmb, 1); level < NR_LEVELS; level++)
		for (unsigned sub = 0; sub < 2; sub++) {
			const struct hmb_level *l = &buffer->hmb->kinds[1].levels[level];
			uint32_t ref = sub ? l->sub_bins.first : l->bins.first;

			for (; ref != BIN_NONE; ref = bin_at(arena, ref)->next) {
				const struct bin *bin = bin_at(arena, ref);

				assert_int_equal(call_code_open(cursor, bin, bin_size(bin)), 0);
				while (call_code_next(cursor, &call) == 1) {
					assert_int_equal(call.parts[0].bytes, level);
					there[call.parts[0].tag] = 1;
					nr++;
				}
			}
		}
	free(cursor);
	return nr;
}

/* Kinds that were added have their share together, and the largest of them makes room. */
static void the_largest_of_a_pool_makes_room(void **state)
{
	enum { SHARE_OF_ALL = SIZE / 8, LAST = HMB_MAX_KINDS - 1 };
	struct hmb *hmb = buffer_new((struct hmb_config){
		.size = SIZE, .nr_kinds = 1, .max_path = 8, .kinds[0] = {.time_shift = 6}});
	const struct hmb_kind_config config = {
		.time_shift = 6, .share = SHARE_OF_ALL, .pool = 7, .by_level = true};
	struct stream streams[3];
	const uint64_t path = 5;

	(void)state;
	for (unsigned k = 0; k < 3; k++)
		streams[k] = stream_start(1, k, 0);
	assert_int_equal(hmb_add_kind(hmb, &config), 1);
	assert_int_equal(hmb_add_last_kind(hmb, &config), LAST);
	for (uint64_t i = 0; i < 1000000; i++) {
		/* The second one gets a sixteenth of what the first one gets. */
		const unsigned which = i % 2 ? 0 : i % 32 ? 1 : 2;
		const struct hmb_sample sample = {
			.kind = which == 2 ? LAST : which,
			.level = stream_next(&streams[which]),
			.time = 1000000 + i * 5000,
			.leaf = i % 7,
			.path = &path,
			.path_size = 1,
		};

		hmb_put(hmb, &sample);
	}
	assert_true(hmb->kinds[1].bytes + hmb->kinds[LAST].bytes <=
	            SHARE_OF_ALL + (1U << hmb->arena.bin_shift));
	assert_true(hmb->kinds[0].bytes > SIZE / 3);
	assert_true(hmb_floor(hmb, 1) > hmb_floor(hmb, 0));
	assert_true(hmb_floor(hmb, 1) >= hmb_floor(hmb, LAST) + 2);
	for (unsigned k = 0; k < hmb->nr_kinds; k++)
		assert_int_equal(hmb->ledger->taken[k],
		                 hmb_stored(hmb, k) + hmb->ledger->reduced[k]);
	for (unsigned k = 0; k < hmb->nr_kinds; k++)
		hmb_clear(hmb, k);
	assert_int_equal(hmb_used(hmb), 0);
	assert_int_equal(hmb_add_kind(hmb, &config), 2);
	assert_int_equal(hmb_add_last_kind(hmb, &config), LAST - 1);
	buffer_free(hmb);
}

static void test_all_at_once(void **state)
{
	unsigned char *there = calloc(NR, 1);
	struct buffer buffer;
	uint64_t most = 0;

	(void)state;
	buffer_open(&buffer, SHARE, false);
	while (put(&buffer, 0))
		most = buffer.hmb->kinds[1].bytes;
	/* The share was no limit while there was room. */
	assert_in_range(most, SIZE - (2U << buffer.hmb->arena.bin_shift), SIZE);
	assert_int_equal(buffer.hmb->kinds[1].bytes, 0);
	assert_int_equal(hmb_floor(buffer.hmb, 1), NR_LEVELS);
	for (unsigned i = 0; i < 1000; i++)
		assert_false(put(&buffer, i % NR_LEVELS));
	assert_int_equal(read_back(&buffer, there), 0);
	assert_int_equal(buffer.hmb->ledger->taken[1], buffer.next);
	assert_int_equal(hmb_stored(buffer.hmb, 1), 0);
	assert_int_equal(buffer.hmb->ledger->reductions[1][0].cause, HMB_CAUSE_SHARE);
	buffer_free(buffer.hmb);
	free(there);
}

/*
 * Whatever is stored is all that ever came of the open levels, and no more is closed than must be:
 * the level that was closed last would not have fitted.
 */
static void lowest_level_first(size_t share)
{
	unsigned char *there = calloc(NR, 1), *level_of = calloc(NR, 1);
	struct buffer buffer;
	uint64_t closed_bytes = 0;
	unsigned floor = 0;

	buffer_open(&buffer, share, true);
	for (uint32_t i = 0; i < NR; i++) {
		unsigned level = (unsigned)__builtin_ctz(i + 1) / 2;
		uint64_t before = buffer.hmb->kinds[1].bytes;
		bool stored;

		level_of[i] = (unsigned char)level;
		stored = put(&buffer, level);
		assert_int_equal(stored, level >= hmb_floor(buffer.hmb, 1));
		if (hmb_floor(buffer.hmb, 1) != floor) {
			/* One bin too many was the reason. */
			closed_bytes = before;
			assert_true(closed_bytes > SIZE - (2U << buffer.hmb->arena.bin_shift));
			floor = hmb_floor(buffer.hmb, 1);
		}
	}
	assert_in_range(floor, 1, 6);
	read_back(&buffer, there);
	for (uint32_t i = 0; i < NR; i++)
		assert_int_equal(there[i], level_of[i] >= floor);
	buffer_free(buffer.hmb);
	free(level_of);
	free(there);
}

static void test_lowest_level_first(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		lowest_level_first(SHARE - i * (SHARE / 9));
}

/* A call of many parts leaves with all its records, and counts once. */
static void test_whole_calls(void **state)
{
	struct call_part parts[50] = {0};
	struct call call = {.enter = 5, .leave = 9, .nr_parts = 50, .parts = parts};
	struct buffer buffer;

	(void)state;
	buffer_open(&buffer, SHARE, true);
	for (unsigned i = 0; i < 50; i++)
		parts[i] = (struct call_part){.type = CALL_SEND_DONE, .request = i + 1};
	assert_true(hmb_put_call(buffer.hmb, 1, 0, &call));
	call.flags = CALL_CONTINUED;
	assert_true(hmb_put_call(buffer.hmb, 1, 3, &call));
	call.flags = 0;
	assert_true(hmb_put_call(buffer.hmb, 1, 3, &call));
	assert_int_equal(buffer.hmb->ledger->taken[1], 2);
	assert_int_equal(hmb_stored(buffer.hmb, 1), 2);
	hmb_close_lowest(buffer.hmb, 1, 10, HMB_CAUSE_SHARE);
	assert_int_equal(hmb_stored(buffer.hmb, 1), 1);
	buffer_free(buffer.hmb);
}

/* Below its share a kind of calls is no victim, however much it holds: samples make room for
 * samples. */
static void test_spared(void **state)
{
	struct hmb_sample sample = {.kind = 0, .step = 1000};
	unsigned char *there = calloc(NR, 1);
	struct buffer buffer;
	uint32_t nr;

	(void)state;
	buffer_open(&buffer, SIZE / 4 * 3, false);
	while (buffer.hmb->kinds[1].bytes < SIZE / 8 * 5)
		assert_true(put(&buffer, 0));
	nr = buffer.next;
	for (unsigned i = 0; i < 2000000; i++) {
		sample.time += 977 + i % 1000;
		sample.level = (unsigned)__builtin_ctz(i + 1);
		sample.leaf = (uint64_t)1 << 32 | i % 5000;
		hmb_put(buffer.hmb, &sample);
	}
	assert_true(hmb_floor(buffer.hmb, 0) > 0);
	assert_int_equal(read_back(&buffer, there), nr);
	buffer_free(buffer.hmb);
	free(there);
}

/* With more than its share, it makes room for samples, until it has its share. */
static void test_makes_room(void **state)
{
	struct hmb_sample sample = {.kind = 0, .step = 1000};
	struct buffer buffer;
	unsigned i = 0;

	(void)state;
	buffer_open(&buffer, SHARE, true);
	while (buffer.hmb->kinds[1].bytes < SIZE / 8 * 7)
		assert_true(put(&buffer, (unsigned)__builtin_ctz(buffer.next + 1)));
	assert_int_equal(hmb_floor(buffer.hmb, 1), 0);
	while (!hmb_floor(buffer.hmb, 0)) {
		sample.time += 977 + i % 1000;
		sample.level = (unsigned)__builtin_ctz(++i);
		sample.leaf = (uint64_t)1 << 32 | i % 5000;
		hmb_put(buffer.hmb, &sample);
	}
	assert_in_range(hmb_floor(buffer.hmb, 1), 1, 6);
	assert_in_range(buffer.hmb->kinds[1].bytes, 1, SHARE);
	buffer_free(buffer.hmb);
}

/* Unless nothing else is there: then it has to give, as samples do. */
static void test_nothing_else(void **state)
{
	unsigned char *there = calloc(NR, 1);
	struct buffer buffer;

	(void)state;
	buffer_open(&buffer, SIZE, true);
	while (!hmb_floor(buffer.hmb, 1))
		put(&buffer, (unsigned)__builtin_ctz(buffer.next + 1));
	assert_int_equal(buffer.hmb->ledger->reductions[1][0].cause, HMB_CAUSE_MEMORY);
	assert_int_equal(buffer.hmb->ledger->nr_reductions, 1);
	assert_int_equal(read_back(&buffer, there), hmb_stored(buffer.hmb, 1));
	/* Of a kind that has closed all of its levels there is nothing more to close. */
	for (unsigned i = 0; i < 2 * NR_LEVELS; i++)
		hmb_close_lowest(buffer.hmb, 1, 10, HMB_CAUSE_SHARE);
	assert_int_equal(buffer.hmb->ledger->nr_reductions, NR_LEVELS);
	assert_int_equal(buffer.hmb->kinds[1].bytes, 0);
	buffer_free(buffer.hmb);
	free(there);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_of_a_pool_makes_room),
		cmocka_unit_test(test_all_at_once),
		cmocka_unit_test(test_lowest_level_first),
		cmocka_unit_test(test_whole_calls),
		cmocka_unit_test(test_spared),
		cmocka_unit_test(test_makes_room),
		cmocka_unit_test(test_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
