#include "hmb/code.h"
#include "cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "random.h"
#include "raw_records.h"

/*
 * A model of the buffer that keeps everything, compared with what the buffer kept: random samples
 * of several kinds, streams, threads and stacks, put in random order.
 */

enum { MAX_SAMPLES = 200000, MAX_DEPTH = 40 };

struct kept {
	struct hmb_sample sample;
	uint64_t path[MAX_DEPTH];
};

static uint64_t seed = 1;

static uint64_t rnd(uint64_t below)
{
	return random_below(&seed, below);
}

struct world {
	struct hmb *hmb;
	struct kept *all;
	size_t nr;
	size_t since[HMB_MAX_KINDS]; /* samples of before were cleared */
	struct stream streams[8];
	size_t away; /* bytes that were released, and not restored */
};

/* Whoever reads what was released finds garbage. */
static int spoil(void *arg, size_t offset, size_t size)
{
	struct world *w = arg;

	memset(w->hmb->arena.memory + offset, 0xa5, size);
	w->away += size;
	return 0;
}

static int count_restored(void *arg, size_t offset, size_t size)
{
	struct world *w = arg;

	(void)offset;
	assert_true(size <= w->away);
	w->away -= size;
	return 0;
}

static void world_open(struct world *w, size_t size, unsigned nr_kinds)
{
	struct hmb_config config = {
		.size = size,
		.nr_kinds = nr_kinds,
		.max_path = MAX_DEPTH,
		.truncated_frame = 1,
		.release = spoil,
		.restore = count_restored,
		.reserve_arg = w,
	};

	for (unsigned k = 0; k < nr_kinds; k++)
		config.kinds[k].time_shift = 6;
	w->hmb = buffer_new(config);
	w->all = malloc(MAX_SAMPLES * sizeof(*w->all));
	w->nr = w->away = 0;
	memset(w->since, 0, sizeof(w->since));
	for (unsigned i = 0; i < 8; i++)
		w->streams[i] = stream_start(99, i, 0);
}

static void world_close(struct world *w)
{
	buffer_free(w->hmb);
	free(w->all);
}

static void put_random(struct world *w, unsigned variety)
{
	struct kept *k = &w->all[w->nr];
	unsigned kind = rnd(10) ? 0 : (unsigned)rnd(w->hmb->nr_kinds), cpu = (unsigned)rnd(4);

	k->sample = (struct hmb_sample){
		.kind = kind,
		.time = 1000000 + w->nr * 25000 + rnd(20000),
		.thread = (uint32_t)rnd(10) * 1000 + cpu,
		.cpu = cpu,
		.leaf = rnd(3) << 32 | rnd(50),
		.path_size = 1 + (unsigned)rnd(MAX_DEPTH - 1),
	};
	k->sample.level = stream_next(&w->streams[kind % 2 * 4 + cpu]);
	k->sample.step = (uint64_t)100000 << (k->sample.level + 1);
	for (unsigned i = 0; i < k->sample.path_size; i++)
		k->path[i] = (i + 7 < k->sample.path_size ? rnd(variety) : 5) << 32 | (i + 2);
	k->sample.path = k->path;
	if (rnd(2) && k->sample.level >= hmb_floor(w->hmb, kind))
		hmb_put_at(w->hmb, &k->sample, cct_intern(w->hmb, &k->sample));
	else
		hmb_put(w->hmb, &k->sample);
	w->nr++;
}

/* The samples of a kind that arrived since it was cleared. */
static uint64_t count_taken(const struct world *w, unsigned kind)
{
	uint64_t nr = 0;

	for (size_t i = w->since[kind]; i < w->nr; i++)
		nr += w->all[i].sample.kind == kind;
	return nr;
}

static void check_counts(const struct world *w)
{
	const struct hmb_ledger *ledger = w->hmb->ledger;

	for (unsigned k = 0; k < w->hmb->nr_kinds; k++) {
		assert_int_equal(ledger->taken[k], count_taken(w, k));
		assert_int_equal(ledger->taken[k], hmb_stored(w->hmb, k) + ledger->reduced[k]);
	}
}

static void check_accounts(const struct world *w)
{
	const struct hmb *hmb = w->hmb;
	const struct arena *arena = &hmb->arena;
	uint64_t in_lists = 0, subs = 0;

	for (unsigned k = 0; k < hmb->nr_kinds; k++) {
		for (unsigned l = 0; l < NR_LEVELS; l++) {
			in_lists += hmb->kinds[k].levels[l].nr_bins;
			subs += hmb->kinds[k].levels[l].nr_sub_bins;
		}
	}
	assert_int_equal(in_lists + arena->nr_free + hmb->cct.index.nr_pages + arena->nr_carved,
	                 arena->nr_bins);
	assert_int_equal(subs + arena->nr_free_sub,
	                 arena->nr_carved << (arena->bin_shift - arena->sub_shift));
}

/* Walks the stored path of a node against a sample's; the last node may be a [truncated]. */
static void check_path(const struct hmb *hmb, uint32_t number, const struct hmb_sample *s)
{
	uint64_t found[MAX_DEPTH + 1];
	unsigned depth = 0;

	for (; number != NODE_NONE; number = node_at(&hmb->arena, number)->parent) {
		const struct bin *bin = node_bin(&hmb->arena, number);

		assert_true(hmb_bin_live(hmb, bin) && bin->kind == s->kind);
		assert_true(bin->level >= s->level);
		assert_true(depth <= MAX_DEPTH);
		found[depth++] = node_at(&hmb->arena, number)->frame;
	}
	if (found[0] == 1) {
		memmove(found, found + 1, --depth * sizeof(*found));
		assert_true(depth < s->path_size);
	} else {
		assert_int_equal(depth, s->path_size);
	}
	for (unsigned i = 0; i < depth; i++)
		assert_int_equal(found[depth - 1 - i], s->path[s->path_size - 1 - i]);
}

/* Marks the nodes on a path, in a map with one byte per possible node. */
static uint64_t mark(const struct hmb *hmb, unsigned char *seen, uint32_t number)
{
	uint64_t new = 0;

	for (; number != NODE_NONE && !seen[number];
	     number = node_at(&hmb->arena, number)->parent, new ++)
		seen[number] = 1;
	return new;
}

/* The stored samples of one (kind, level) are exactly those that the definition keeps. */
static uint64_t check_level(const struct world *w, unsigned kind, unsigned level,
                            unsigned char *seen, uint64_t *nodes)
{
	const struct hmb *hmb = w->hmb;
	const struct bin_list lists[] = {hmb->kinds[kind].levels[level].sub_bins,
	                                 hmb->kinds[kind].levels[level].bins};
	static struct code_cursor cursor;
	struct code_sample got;
	size_t at = w->since[kind];
	uint64_t nr = 0;

	for (unsigned l = 0; l < 2; l++) {
		for (uint32_t ref = lists[l].first; ref != BIN_NONE;) {
			const struct bin *bin = bin_at(&hmb->arena, ref);

			assert_int_equal(
				code_open(&cursor, bin, bin_size(bin), arena_nodes(&hmb->arena)),
				0);
			while (code_next(&cursor, &got) == 1) {
				const struct hmb_sample *want;

				while (w->all[at].sample.kind != kind ||
				       w->all[at].sample.level != level)
					assert_true(++at < w->nr);
				want = &w->all[at++].sample;
				assert_int_equal(got.time, want->time & ~(uint64_t)63);
				assert_int_equal(got.thread, want->thread);
				assert_int_equal(got.cpu, want->cpu);
				assert_int_equal(got.leaf, want->leaf);
				check_path(hmb, got.context, want);
				*nodes += mark(hmb, seen, got.context);
				nr++;
			}
			assert_int_equal(cursor.left, 0);
			ref = bin->next;
		}
	}
	for (; at < w->nr; at++)
		assert_false(w->all[at].sample.kind == kind && w->all[at].sample.level == level);
	return nr;
}

static void check_survivors(const struct world *w)
{
	const struct hmb *hmb = w->hmb;
	unsigned char *seen = calloc(hmb->arena.size / NODE_UNIT, 1);
	uint64_t nodes = 0;

	for (unsigned k = 0; k < hmb->nr_kinds; k++) {
		uint64_t stored = 0;

		for (unsigned l = hmb_floor(hmb, k); l < NR_LEVELS; l++)
			stored += check_level(w, k, l, seen, &nodes);
		assert_int_equal(stored, hmb_stored(hmb, k));
	}
	assert_int_equal(nodes, hmb->cct.nr_nodes);
	free(seen);
}

static void survivors(size_t size, unsigned kinds, unsigned nr, unsigned variety)
{
	struct world w;

	world_open(&w, size, kinds);
	for (unsigned i = 0; i < nr; i++) {
		put_random(&w, variety);
		if (i % (nr / 5) == 0) {
			check_accounts(&w);
			check_survivors(&w);
		}
	}
	check_accounts(&w);
	check_counts(&w);
	check_survivors(&w);
	world_close(&w);
}

static void survivors_are_what_the_definition_says(void **state)
{
	(void)state;
	survivors(64 << 10, 1, 20000, 1);
	survivors(64 << 10, 3, 20000, 3);
	survivors(256 << 10, 2, 60000, 2);
	survivors(1 << 20, 3, 100000, 8);
	survivors(4 << 20, 1, 100000, 2);
}

/* Every live bin of the arena is in a list: whoever judges by headers alone finds the same. */
static void check_headers(const struct world *w)
{
	const struct arena *arena = &w->hmb->arena;
	uint64_t stored[HMB_MAX_KINDS] = {0};
	size_t step;

	for (size_t at = 0; at < (size_t)arena->fresh << arena->bin_shift; at += step) {
		const struct bin *bin = (const void *)(arena->memory + at);

		step = bin_size(bin);
		if (hmb_bin_live(w->hmb, bin))
			stored[bin->kind] += bin->nr_records;
	}
	for (unsigned k = 0; k < w->hmb->nr_kinds; k++)
		assert_int_equal(stored[k], hmb_stored(w->hmb, k));
}

static void clear(struct world *w, unsigned kind)
{
	hmb_clear(w->hmb, kind);
	w->since[kind] = w->nr;
	assert_int_equal(hmb_floor(w->hmb, kind), 0);
	assert_int_equal(w->hmb->kinds[kind].bytes, 0);
}

/* Adds a kind that shares a tenth of the memory with the others that were added. */
static void add_kind(struct world *w)
{
	const struct hmb_kind_config config = {
		.time_shift = 6, .share = w->hmb->arena.size / 10, .pool = 1, .by_level = true};
	const unsigned nr = w->hmb->nr_kinds;

	if (nr == HMB_MAX_KINDS) {
		assert_int_equal(hmb_add_kind(w->hmb, &config), -ENOSPC);
		return;
	}
	w->since[nr] = w->nr;
	assert_int_equal(hmb_add_kind(w->hmb, &config), nr);
	assert_int_equal(hmb_stored(w->hmb, nr), 0);
}

/* Whole bins that are in use fit into the limit. */
static void limit(struct world *w, size_t size)
{
	const struct arena *arena = &w->hmb->arena;
	const size_t least = hmb_least_limit(w->hmb), most = size - least + 1;
	const size_t wanted = least + (size_t)rnd(most);

	assert_int_equal(hmb_set_limit(w->hmb, wanted, 0), 0);
	assert_int_equal(arena->nr_bins, wanted >> arena->bin_shift);
	assert_true(hmb_used(w->hmb) <= wanted);
	assert_int_equal(arena->nr_bins + arena->nr_away, arena->fresh_end);
	assert_int_equal(hmb_set_limit(w->hmb, least - 1, 0), -EINVAL);
}

/* Puts, reductions, clears, other limits, kinds that are added or rest, in random order. */
static void interleave(size_t size, unsigned kinds, unsigned nr, unsigned variety)
{
	struct world w;

	world_open(&w, size, kinds);
	for (unsigned i = 0; i < nr; i++) {
		unsigned kind = (unsigned)rnd(w.hmb->nr_kinds);

		put_random(&w, variety);
		if (!rnd(nr / 40))
			clear(&w, kind);
		if (!rnd(nr / 20))
			hmb_close_lowest(w.hmb, kind, i, HMB_CAUSE_OVERHEAD);
		if (!rnd(nr / 30))
			limit(&w, size);
		if (!rnd(nr / 400))
			for (unsigned k = 0; k < w.hmb->nr_kinds; k++)
				clear(&w, k);
		if (!rnd(nr / 10))
			add_kind(&w);
		if (!rnd(nr / 40))
			hmb_rest(w.hmb, kind);
		if (!rnd(nr / 20)) {
			check_accounts(&w);
			check_counts(&w);
			check_headers(&w);
			check_survivors(&w);
		}
	}
	check_accounts(&w);
	check_counts(&w);
	check_headers(&w);
	check_survivors(&w);
	world_close(&w);
}

static void clears_leave_the_samples_since(void **state)
{
	(void)state;
	interleave(64 << 10, 1, 20000, 1);
	interleave(64 << 10, 3, 20000, 1000);
	interleave(256 << 10, 4, 40000, 3);
	interleave(1 << 20, 2, 60000, 50);
}

/* All levels of all kinds, more often than the ledger has places for reductions. */
/* A limit that falls and rises leaves the whole budget to those who come later. */
static void memory_comes_back(void **state)
{
	const size_t size = 4 << 20;
	struct world w;

	(void)state;
	world_open(&w, size, 1);
	for (unsigned i = 0; i < 100000; i++)
		put_random(&w, 50);
	assert_int_equal(hmb_set_limit(w.hmb, 1 << 20, 0), 0);
	assert_true(hmb_used(w.hmb) <= 1 << 20);
	assert_true(w.away > size / 2);
	for (unsigned i = 0; i < 20000; i++)
		put_random(&w, 50);
	assert_true(hmb_used(w.hmb) <= 1 << 20);
	assert_int_equal(hmb_set_limit(w.hmb, 2 * size, 0), 0);
	assert_int_equal(w.away, 0);
	assert_int_equal(hmb_size(w.hmb), size);
	for (unsigned i = 0; i < 60000; i++)
		put_random(&w, 50);
	check_accounts(&w);
	check_counts(&w);
	check_headers(&w);
	check_survivors(&w);
	world_close(&w);
}

static void reductions_are_those_since_the_clear(void **state)
{
	static struct hmb_reduction reductions[HMB_MAX_REDUCTIONS];
	struct world w;

	(void)state;
	world_open(&w, 64 << 10, 2);
	for (unsigned turn = 0; turn < 100; turn++) {
		for (unsigned l = 0; l < NR_LEVELS; l++)
			hmb_close_lowest(w.hmb, turn % 2, turn, HMB_CAUSE_MEMORY);
		hmb_clear(w.hmb, turn % 2);
	}
	assert_int_equal(hmb_reductions(w.hmb->ledger, reductions), 0);
	hmb_close_lowest(w.hmb, 1, 7, HMB_CAUSE_MEMORY);
	hmb_close_lowest(w.hmb, 0, 6, HMB_CAUSE_OVERHEAD);
	hmb_close_lowest(w.hmb, 1, 5, HMB_CAUSE_MEMORY);
	assert_int_equal(hmb_reductions(w.hmb->ledger, reductions), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(reductions[i].time, 7 - i);
	assert_int_equal(reductions[1].kind, 0);
	assert_int_equal(reductions[2].floor, 2);
	world_close(&w);
}

static void budget_is_used_well(void **state)
{
	struct world w;
	size_t least = SIZE_MAX;
	uint32_t seen = 0;

	(void)state;
	world_open(&w, 1 << 20, 1);
	for (unsigned i = 0; i < MAX_SAMPLES; i++) {
		size_t used = hmb_used(w.hmb);

		put_random(&w, 3);
		if (w.hmb->ledger->nr_reductions != seen) {
			seen = w.hmb->ledger->nr_reductions;
			least = used < least ? used : least;
		}
	}
	assert_true(seen > 2);
	assert_true(least > (1 << 20) * 95 / 100);
	world_close(&w);
}

/* A compiling phase fills the tree; a computing phase that follows must get the room back. */
static void tree_gives_its_room_back(void **state)
{
	struct world w;
	unsigned floor;
	size_t full;

	(void)state;
	world_open(&w, 1 << 20, 1);
	for (unsigned i = 0; i < MAX_SAMPLES / 4; i++)
		put_random(&w, 1000);
	full = hmb_context_bytes(w.hmb);
	floor = hmb_floor(w.hmb, 0);
	assert_true(full > (256 << 10));
	for (uint64_t i = 0; hmb_floor(w.hmb, 0) < floor + 4; i++) {
		struct hmb_sample s = {.time = 100000 * i,
		                       .step = 100000,
		                       .path = (const uint64_t[]){7, 8, 9},
		                       .path_size = 3,
		                       .leaf = (uint64_t)3 << 32 | rnd(300)};

		s.level = stream_next(&w.streams[0]);
		hmb_put(w.hmb, &s);
	}
	assert_true(w.hmb->cct.nr_nodes * sizeof(struct node) < full / 8);
	assert_true(hmb_context_bytes(w.hmb) < full / 4);
	check_accounts(&w);
	world_close(&w);
}

/* With records of a fixed size: a share that is passed removes all events and keeps samples. */
static void a_share_that_is_passed_removes_all(void **state)
{
	size_t size = 1 << 20;
	struct hmb_config config = {
		.size = size, .nr_kinds = 2, .max_path = 1, .kinds = {{0}, {.share = 1 << 19}}};
	char record[48] = {0};
	struct hmb *hmb = buffer_new(config);

	(void)state;
	for (unsigned i = 1; i < 10000; i++) {
		put_raw(hmb, 0, lambda(i), i, record, sizeof(record));
		put_raw(hmb, 1, 0, i, record, 40);
	}
	assert_true(hmb_floor(hmb, 0) == 0 || hmb_stored(hmb, 0) > 0);
	assert_true(hmb_stored(hmb, 1) * 40 <= size / 2);
	for (unsigned i = 10000; i < 20000; i++)
		put_raw(hmb, 1, 0, i, record, 40);
	assert_int_equal(hmb_stored(hmb, 1), 0);
	assert_int_equal(hmb_floor(hmb, 1), NR_LEVELS);
	assert_int_equal(hmb->ledger->taken[1], 19999);
	buffer_free(hmb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survivors_are_what_the_definition_says),
		cmocka_unit_test(clears_leave_the_samples_since),
		cmocka_unit_test(memory_comes_back),
		cmocka_unit_test(reductions_are_those_since_the_clear),
		cmocka_unit_test(budget_is_used_well),
		cmocka_unit_test(tree_gives_its_room_back),
		cmocka_unit_test(a_share_that_is_passed_removes_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
