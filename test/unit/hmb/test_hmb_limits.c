#include "hmb/code.h"
#include "cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "random.h"

/* The buffer at its edges: the smallest budgets, the longest paths, far too many of them. */

enum { TRUNCATED = 1 };

static uint64_t seed = 1;

static uint64_t rnd(uint64_t below)
{
	return random_below(&seed, below);
}

static struct hmb *make_buffer(size_t size, unsigned nr_kinds, unsigned max_path)
{
	return buffer_new((struct hmb_config){.size = size,
	                                      .nr_kinds = nr_kinds,
	                                      .max_path = max_path,
	                                      .truncated_frame = TRUNCATED});
}

struct census {
	const struct hmb *hmb;
	unsigned char *seen; /* nodes */
	uint64_t nodes, records, truncated;
};

static void count_path(struct census *c, uint32_t node)
{
	const struct arena *arena = &c->hmb->arena;

	c->truncated += node && node_at(arena, node)->frame == TRUNCATED;
	for (; node != NODE_NONE && !c->seen[node]; node = node_at(arena, node)->parent) {
		assert_true(hmb_bin_live(c->hmb, node_bin(arena, node)));
		c->seen[node] = 1;
		c->nodes++;
	}
}

static void count_list(struct census *c, const struct bin_list *list)
{
	static struct code_cursor cursor;
	struct code_sample got;
	const struct bin *bin;

	for (uint32_t ref = list->first; ref != BIN_NONE; ref = bin->next) {
		bin = bin_at(&c->hmb->arena, ref);
		assert_true(hmb_bin_live(c->hmb, bin));
		assert_int_equal(
			code_open(&cursor, bin, bin_size(bin), arena_nodes(&c->hmb->arena)), 0);
		for (; code_next(&cursor, &got) == 1; c->records++)
			count_path(c, got.context);
		assert_int_equal(cursor.left, 0);
	}
}

/* Decodes everything: what the buffer counts is there, and every live node is needed. */
static uint64_t check_all(const struct hmb *hmb)
{
	struct census c = {.hmb = hmb, .seen = calloc(hmb->arena.size / NODE_UNIT, 1)};
	uint64_t stored = 0;

	for (unsigned k = 0; k < hmb->nr_kinds; k++) {
		stored += hmb_stored(hmb, k);
		for (unsigned l = hmb_floor(hmb, k); l < NR_LEVELS; l++) {
			count_list(&c, &hmb->kinds[k].levels[l].sub_bins);
			count_list(&c, &hmb->kinds[k].levels[l].bins);
		}
	}
	assert_int_equal(c.records, stored);
	assert_int_equal(c.nodes, hmb->cct.nr_nodes);
	free(c.seen);
	return c.truncated;
}

static void wrong_configurations_are_refused(void **state)
{
	static const struct {
		size_t size;
		unsigned nr_kinds, time_shift, nr_counters;
	} rows[] = {
		{0, 1, 0},
		{ARENA_MIN_SIZE - 1, 1, 0},
		{ARENA_MAX_SIZE + 1, 1, 0},
		{SIZE_MAX, 1, 0},
		{ARENA_MIN_SIZE, 0, 0},
		{ARENA_MIN_SIZE, HMB_MAX_KINDS + 1, 0},
		{ARENA_MIN_SIZE, 1, CODE_MAX_TIME_SHIFT + 1},
		{ARENA_MIN_SIZE, 1, 0, COUNTER_MAX + 1},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct hmb_config config = {
			.size = rows[i].size, .nr_kinds = rows[i].nr_kinds, .max_path = 10};

		config.kinds[0].time_shift = rows[i].time_shift;
		config.kinds[0].nr_counters = rows[i].nr_counters;
		errno = 0;
		assert_null(hmb_new(&config));
		assert_int_equal(errno, EINVAL);
	}
	hmb_free(NULL);
}

/* Paths of the greatest length, through frames that differ at the leaf, the root or anywhere. */
static void the_longest_paths_fit_the_smallest_budget(void **state)
{
	enum { DEPTH = 1000 };
	static uint64_t path[DEPTH];

	(void)state;
	for (unsigned way = 0; way < 4; way++) {
		struct hmb *hmb = make_buffer(ARENA_MIN_SIZE, 1, DEPTH);

		for (uint64_t n = 1; n <= 3000; n++) {
			struct hmb_sample s = {.level = lambda(n),
			                       .time = n,
			                       .leaf = n % 7,
			                       .path = path,
			                       .path_size = DEPTH};

			for (unsigned i = 0; i < DEPTH; i++)
				path[i] = 100 + i;
			if (way == 1)
				path[0] = n;
			if (way == 2)
				path[DEPTH - 1] = n;
			if (way == 3)
				path[rnd(DEPTH)] = n;
			hmb_put(hmb, &s);
			assert_true(hmb_used(hmb) <= ARENA_MIN_SIZE);
			if (n % 500 == 0)
				check_all(hmb);
		}
		assert_int_equal(hmb->ledger->taken[0], 3000);
		assert_true(hmb_stored(hmb, 0) > 0);
		buffer_free(hmb);
	}
}

/* What is longer than a path may be ends in [truncated] below its outermost frames. */
static void a_path_that_is_too_long_keeps_its_root(void **state)
{
	struct hmb *hmb = make_buffer(ARENA_MIN_SIZE, 1, 3);
	static const uint64_t path[] = {15, 14, 13, 12, 11};
	struct hmb_sample s = {.path = path};

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		const struct node *node;
		uint32_t number;

		s.path_size = 1 + i % 5;
		s.path = path + 5 - s.path_size;
		number = cct_intern(hmb, &s);
		node = node_at(&hmb->arena, number);
		if (s.path_size > 3) {
			assert_int_equal(node->frame, TRUNCATED);
			node = node_at(&hmb->arena, node->parent);
			assert_int_equal(node->frame, 13);
		} else {
			assert_int_equal(node->frame, s.path[0]);
		}
	}
	assert_int_equal(hmb->cct.nr_nodes, 4);
	assert_int_equal(hmb->truncated, 8);
	buffer_free(hmb);
}

/* Recursion: 100,000 contexts, far more than fit. */
static void too_many_contexts_are_folded_visibly(void **state)
{
	enum { DEPTH = 200, CONTEXTS = 100000 };
	struct hmb *hmb = make_buffer(1 << 20, 1, DEPTH);
	struct stream stream = stream_start(3, 4, 0);
	uint64_t path[DEPTH];

	(void)state;
	for (uint64_t i = 0; i < 2 * CONTEXTS; i++) {
		uint64_t context = i * 7919 % CONTEXTS;
		struct hmb_sample s = {.level = stream_next(&stream),
		                       .time = i * 1000,
		                       .leaf = i % 5,
		                       .path_size = 1 + (unsigned)(context % DEPTH),
		                       .path = path};

		for (unsigned f = 0; f < s.path_size; f++) /* 500 roots, 200 deep each */
			path[s.path_size - 1 - f] = context / DEPTH * 1000 + f + 2;
		hmb_put(hmb, &s);
		assert_true(i < 10000 || hmb_stored(hmb, 0) > 1000);
	}
	assert_true(check_all(hmb) > 0);
	assert_true(hmb->truncated > 0);
	buffer_free(hmb);
}

/* As of a compiler, half of whose samples have call paths of their own: all of the run has them. */
static void later_paths_are_as_good_as_early_ones(void **state)
{
	struct hmb *hmb = make_buffer(1 << 20, 1, 4);
	struct stream stream = stream_start(3, 4, 0);

	(void)state;
	for (uint64_t i = 0; i < 300000; i++) {
		const uint64_t path[] = {i % 2 ? i : 7, i / 2 % 16, i / 32, 2};
		struct hmb_sample s = {.level = stream_next(&stream),
		                       .time = i * 1000,
		                       .leaf = i % 5,
		                       .path_size = 4,
		                       .path = path};

		hmb_put(hmb, &s);
	}
	assert_int_equal(hmb->truncated, 0);
	assert_int_equal(check_all(hmb), 0);
	assert_true(hmb_stored(hmb, 0) > 5000);
	assert_true(hmb->ledger->nr_reductions > 0);
	buffer_free(hmb);
}

/* The path that a number stands for, outermost frame last, below a single root. */
static uint32_t intern(struct hmb *hmb, uint64_t number, unsigned level, bool extended)
{
	const uint64_t path[] = {7, 100 + number, 2};
	const struct hmb_sample s = {
		.level = level, .path = path + !extended, .path_size = 2 + extended};

	return cct_intern(hmb, &s);
}

static bool is_folded(const struct hmb *hmb, uint32_t node)
{
	return node_at(&hmb->arena, node)->frame == TRUNCATED;
}

/*
 * A tree that has its share takes no new paths, but goes on with the copies of known ones, so that
 * a hot path stays whole; at the end of their room, too, what is folded has a node for all.
 */
static void known_paths_outlive_a_full_tree(void **state)
{
	const size_t size = 1 << 20, share = size / 4 * 3, most = share + size / 8 + size / 32;
	struct hmb *hmb = make_buffer(size, 1, 4);
	uint64_t nr = 0, copied = 0;

	(void)state;
	while (!is_folded(hmb, intern(hmb, nr, 0, false)))
		nr++;
	assert_in_range(hmb_context_bytes(hmb), share, share + size / 64);
	assert_false(is_folded(hmb, intern(hmb, 0, 5, false)));
	assert_true(is_folded(hmb, intern(hmb, nr, 5, false)));
	while (!is_folded(hmb, intern(hmb, copied, 5, false)))
		assert_true(++copied < nr);
	assert_in_range(hmb_context_bytes(hmb), share + size / 8, share + size / 8 + size / 64);
	for (uint64_t i = 0; i < nr; i++)
		assert_true(is_folded(hmb, intern(hmb, i, i % 4, true)));
	assert_in_range(hmb_context_bytes(hmb), most, most + size / 64);
	assert_int_equal(hmb->ledger->nr_reductions, 0);
	buffer_free(hmb);
}

/* Many kinds and streams of all levels in little room: most of it waits in bins that fill slowly.
 */
static void all_kinds_live_in_the_smallest_budget(void **state)
{
	struct hmb *hmb = make_buffer(ARENA_MIN_SIZE, HMB_MAX_KINDS, 30);
	uint64_t path[30], taken = 0;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		struct hmb_sample s = {.kind = (unsigned)rnd(HMB_MAX_KINDS),
		                       .level = (unsigned)rnd(NR_LEVELS),
		                       .time = i,
		                       .thread = (uint32_t)rnd(1000),
		                       .cpu = (uint32_t)rnd(1000),
		                       .leaf = rnd(1000),
		                       .path_size = (unsigned)rnd(31),
		                       .path = path};

		for (unsigned f = 0; f < 30; f++)
			path[f] = rnd(3) + 2;
		hmb_put(hmb, &s);
		if (i % 10000 == 0)
			check_all(hmb);
	}
	check_all(hmb);
	for (unsigned k = 0; k < HMB_MAX_KINDS; k++)
		taken += hmb->ledger->taken[k];
	assert_int_equal(taken, 100000);
	buffer_free(hmb);
}

/* Closing goes on to the last level, and what is closed stays closed. */
static void everything_can_be_closed(void **state)
{
	struct hmb *hmb = make_buffer(ARENA_MIN_SIZE, 2, 4);
	struct hmb_sample s = {.path = (const uint64_t[]){5, 6, 7}, .path_size = 3};

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		s.level = i % NR_LEVELS;
		s.kind = i % 3 == 0;
		hmb_put(hmb, &s);
	}
	for (unsigned i = 0; i < NR_LEVELS + 5; i++)
		hmb_close_lowest(hmb, 1, i, HMB_CAUSE_OVERHEAD);
	assert_int_equal(hmb_floor(hmb, 1), NR_LEVELS);
	assert_int_equal(hmb->ledger->nr_reductions, NR_LEVELS);
	assert_int_equal(hmb_stored(hmb, 1), 0);
	assert_int_equal(hmb->kinds[1].bytes, 0);
	s.kind = 1;
	assert_false(hmb_put(hmb, &s));
	check_all(hmb);
	for (unsigned i = 0; i < NR_LEVELS; i++)
		hmb_close_lowest(hmb, 0, i, HMB_CAUSE_OVERHEAD);
	check_all(hmb);
	assert_int_equal(hmb->cct.nr_nodes, 0);
	assert_int_equal(hmb_used(hmb), (size_t)hmb->cct.index.nr_pages << hmb->arena.bin_shift);
	buffer_free(hmb);
}

static int refuse(void *arg, size_t size)
{
	(void)arg;
	(void)size;
	return -ENOSPC;
}

/* Without any memory there is an end, too: what asked for it goes without. */
static void no_memory_at_all(void **state)
{
	struct hmb *hmb = buffer_new((struct hmb_config){
		.size = ARENA_MIN_SIZE, .nr_kinds = 2, .max_path = 4, .reserve = refuse});
	const struct hmb_sample s = {.kind = 1, .level = 3};

	(void)state;
	assert_false(hmb_put(hmb, &s));
	assert_int_equal(hmb_floor(hmb, 0), 0);
	assert_int_equal(hmb_floor(hmb, 1), 4);
	check_all(hmb);
	buffer_free(hmb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_configurations_are_refused),
		cmocka_unit_test(the_longest_paths_fit_the_smallest_budget),
		cmocka_unit_test(a_path_that_is_too_long_keeps_its_root),
		cmocka_unit_test(too_many_contexts_are_folded_visibly),
		cmocka_unit_test(later_paths_are_as_good_as_early_ones),
		cmocka_unit_test(known_paths_outlive_a_full_tree),
		cmocka_unit_test(all_kinds_live_in_the_smallest_budget),
		cmocka_unit_test(everything_can_be_closed),
		cmocka_unit_test(no_memory_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
