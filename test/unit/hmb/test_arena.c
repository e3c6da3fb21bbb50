#include "cases.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

#include "hmb/arena.h"

static uint64_t seed = 1;

static uint64_t rnd(uint64_t below)
{
	return random_below(&seed, below);
}

static void *zeroed(size_t size)
{
	void *memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);

	memset(memory, 0, (size + 4095) / 4096 * 4096);
	return memory;
}

static void sizes_follow_the_budget(void **state)
{
	static const struct {
		size_t size;
		unsigned bin_shift, sub_shift;
	} rows[] = {
		{64 << 10, 10, 8},        {(64 << 10) + 1023, 10, 8}, {128 << 10, 11, 8},
		{(128 << 10) - 1, 10, 8}, {256 << 10, 12, 8},         {512 << 10, 13, 9},
		{1 << 20, 14, 10},        {(8 << 20) - 1, 14, 10},    {8 << 20, 15, 11},
		{16 << 20, 16, 12},       {100000000, 16, 12},        {(size_t)64 << 30, 16, 12},
	};
	struct arena arena;

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		arena_init(&arena, NULL, rows[i].size);
		assert_int_equal(arena.bin_shift, rows[i].bin_shift);
		assert_int_equal(arena.sub_shift, rows[i].sub_shift);
		assert_int_equal(arena.nr_bins, rows[i].size >> rows[i].bin_shift);
		assert_int_equal(arena.nr_free, arena.nr_bins);
	}
}

/* Takes whole bins or sub-bins until there are none; every byte of them is written. */
static uint32_t take_all(struct arena *arena, bool sub, struct bin **bins)
{
	uint32_t nr = 0, sequence = 0;
	struct bin *bin;

	while ((bin = arena_take(arena, BIN_SAMPLES, sub))) {
		assert_true((unsigned char *)bin >= arena->memory);
		assert_true((unsigned char *)bin + bin_size(bin) <= arena->memory + arena->size);
		assert_int_equal(bin->size_shift, sub ? arena->sub_shift : arena->bin_shift);
		assert_int_equal(bin->use, BIN_SAMPLES);
		assert_int_equal(bin->next, BIN_NONE);
		assert_int_equal(bin->kind + bin->level + bin->nr_counters, 0);
		bin->kind = bin->level = bin->nr_counters = 1;
		assert_int_equal(bin_room(bin), bin_size(bin) - sizeof(*bin));
		assert_true(bin->sequence > sequence);
		assert_ptr_equal(bin_at(arena, bin_ref(arena, bin)), bin);
		sequence = bin->sequence;
		memset(bin_records(bin), (int)nr, bin_room(bin));
		bins[nr++] = bin;
	}
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(*bin_records(bins[i]), (unsigned char)i);
	return nr;
}

/* The size is no multiple of the bins': the sanitizer sees what goes beyond. */
static void all_of_it_can_be_taken_and_given_back(void **state)
{
	size_t size = (64 << 10) + 1000;
	void *memory = zeroed(size);
	struct bin *bins[64 * 4] = {NULL};
	struct arena arena;

	(void)state;
	arena_init(&arena, memory, size);
	for (unsigned round = 0; round < 3; round++) {
		assert_int_equal(take_all(&arena, false, bins), 64);
		assert_null(arena_take(&arena, BIN_CALLS, true));
		for (unsigned i = 0; i < 64; i++) {
			arena_give(&arena, bins[i]);
			assert_int_equal(bins[i]->use, BIN_FREE);
		}
		assert_int_equal(arena.nr_free, 64);
	}
	/* What a whole bin held is no header of a sub-bin. */
	bins[0] = arena_take(&arena, BIN_CALLS, true);
	assert_non_null(bins[0]);
	for (uint32_t ref = arena.free_sub.first; ref != BIN_NONE;
	     ref = bin_at(&arena, ref)->next) {
		assert_int_equal(bin_at(&arena, ref)->use, BIN_FREE);
		assert_int_equal(bin_at(&arena, ref)->record_bytes, 0);
	}
	arena_give(&arena, bins[0]);
	assert_int_equal(take_all(&arena, true, bins), 64 * 4);
	assert_int_equal(arena.nr_carved, 64);
	for (unsigned i = 0; i < 64 * 4; i++)
		arena_give(&arena, bins[i]);
	/* Carved is carved: the levels need the sub-bins again. */
	assert_null(arena_take(&arena, BIN_CALLS, false));
	assert_int_equal(arena.nr_free_sub, 64 * 4);
	free(memory);
}

static void a_list_is_given_back_whole(void **state)
{
	void *memory = zeroed(1 << 20);
	struct bin_list list = {BIN_NONE, BIN_NONE}, empty = list;
	struct arena arena;
	struct bin *bin;

	(void)state;
	arena_init(&arena, memory, 1 << 20);
	arena_splice(&arena, &empty, false, 0);
	assert_int_equal(arena.nr_free, 64);
	for (unsigned i = 0; i < 40; i++)
		bin_list_append(&arena, &list, arena_take(&arena, BIN_SAMPLES, false));
	bin = bin_at(&arena, list.first);
	for (unsigned i = 1; i < 40; i++) {
		assert_true(bin_at(&arena, bin->next)->sequence > bin->sequence);
		bin = bin_at(&arena, bin->next);
	}
	assert_int_equal(bin->next, BIN_NONE);
	arena_splice(&arena, &list, false, 40);
	assert_int_equal(list.first, BIN_NONE);
	assert_int_equal(arena.nr_free, 64);
	for (unsigned i = 0; i < 64; i++)
		assert_non_null(arena_take(&arena, BIN_SAMPLES, false));
	assert_null(arena_take(&arena, BIN_SAMPLES, false));
	free(memory);
}

/* Any order of taking and giving: what is taken never overlaps, and the counts add up. */
static void counts_add_up(void **state)
{
	enum { BINS = 64, SUBS = 16 };
	void *memory = zeroed(1 << 20);
	struct bin *held[BINS * SUBS];
	struct arena arena;
	unsigned nr = 0;

	(void)state;
	arena_init(&arena, memory, 1 << 20);
	for (unsigned i = 0; i < 20000; i++) {
		bool sub = rnd(4) == 0;
		struct bin *bin = rnd(2) ? arena_take(&arena, BIN_SAMPLES, sub) : NULL;
		uint64_t whole = 0, subs = 0;

		if (bin) {
			memset(bin_records(bin), 0xff, bin_room(bin));
			held[nr++] = bin;
		} else if (nr) {
			unsigned at = (unsigned)rnd(nr);

			arena_give(&arena, held[at]);
			held[at] = held[--nr];
		}
		for (unsigned h = 0; h < nr; h++) {
			assert_int_equal(held[h]->use, BIN_SAMPLES);
			*(held[h]->size_shift == arena.bin_shift ? &whole : &subs) += 1;
		}
		assert_int_equal(whole + arena.nr_free + arena.nr_carved, BINS);
		assert_int_equal(subs + arena.nr_free_sub, arena.nr_carved * SUBS);
	}
	free(memory);
}

static void nodes_know_their_bins(void **state)
{
	void *memory = zeroed(1 << 20);
	struct arena arena;

	(void)state;
	arena_init(&arena, memory, 1 << 20);
	for (unsigned i = 0; i < 60; i++) {
		struct bin *bin = arena_take(&arena, BIN_SAMPLES, i % 3 == 0);
		struct node node = {.frame = ((uint64_t)1 << 48) - 1, .parent = NODE_NONE};

		while (bin_room(bin) >= sizeof(node)) {
			uint32_t number;

			node.tag_low++;
			node.tag_high = (uint16_t)i;
			number = bin_add_node(&arena, bin, &node);
			assert_int_not_equal(number, NODE_NONE);
			assert_ptr_equal(node_bin(&arena, number), bin);
			assert_memory_equal(node_at(&arena, number), &node, sizeof(node));
			node.parent = number;
		}
		assert_int_equal(bin->node_bytes / sizeof(node), node.tag_low);
		assert_true(bin_room(bin) < sizeof(node));
	}
	free(memory);
}

struct grant {
	size_t given, limit;
	unsigned nr_asked;
};

static int grant_reserve(void *arg, size_t size)
{
	struct grant *grant = arg;

	grant->nr_asked++;
	if (size > grant->limit)
		return -1;
	grant->given = size;
	return 0;
}

/* Bins lie in what was granted, all of it; where no more is, the arena ends there. */
static void memory_is_asked_for_as_it_is_needed(void **state)
{
	static const size_t limits[] = {0, 1 << 20, 3 << 20, 5 << 20};
	const size_t size = 5 << 20;
	void *memory = zeroed(size);

	(void)state;
	for (unsigned i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct grant grant = {.limit = limits[i]};
		struct bin_list list = {BIN_NONE, BIN_NONE};
		struct arena arena;
		struct bin *bin;
		uint32_t nr = 0;

		arena_init(&arena, memory, size);
		arena.reserve = grant_reserve;
		arena.arg = &grant;
		while ((bin = arena_take(&arena, BIN_SAMPLES, false))) {
			assert_true((unsigned char *)bin + bin_size(bin) <=
			            arena.memory + grant.given);
			assert_true((unsigned char *)bin + bin_size(bin) + (1 << 20) >=
			            arena.memory + grant.given);
			bin_list_append(&arena, &list, bin);
			nr++;
		}
		assert_int_equal(nr, limits[i] >> arena.bin_shift);
		/* A MiB and the next bin at once, and bin by bin at the end. */
		assert_true(grant.nr_asked <= 5 + 2 * (1U << 20 >> arena.bin_shift));
		assert_true(limits[i] < size || grant.nr_asked <= 5);
		assert_int_equal(arena.nr_bins, nr);
		assert_int_equal(arena.nr_free, 0);
		assert_null(arena_take(&arena, BIN_SAMPLES, true));
		arena_splice(&arena, &list, false, nr);
		for (uint32_t again = 0; again < nr; again++)
			assert_non_null(arena_take(&arena, BIN_SAMPLES, false));
		assert_null(arena_take(&arena, BIN_SAMPLES, false));
	}
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_follow_the_budget),
		cmocka_unit_test(all_of_it_can_be_taken_and_given_back),
		cmocka_unit_test(a_list_is_given_back_whole),
		cmocka_unit_test(counts_add_up),
		cmocka_unit_test(nodes_know_their_bins),
		cmocka_unit_test(memory_is_asked_for_as_it_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
