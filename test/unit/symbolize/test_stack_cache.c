/* The stack cache by itself; test_unwind.c uses it with real stacks. */
#include "cases.h"
#include "symbolize/unwind/stack_cache.h"

#include <string.h>

#define MOST 1024

/* A recursion so deep: leaf first, all callers return to the same place. */
static void recursion(struct stack_entry *entries, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		entries[i] =
			(struct stack_entry){0x7fff00000000 - (nr - i) * 64, i + 1 < nr ? 7 : 1};
	entries[0].slot = 0;
}

static int setup(void **state)
{
	*state = stack_cache_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	stack_cache_free(*state);
	return 0;
}

/* A copy of the innermost frames alone is completed from a stack that was a frame less deep. */
static void deep_recursion_is_completed(void **state)
{
	static struct stack_entry before[MOST], truth[MOST], cut[MOST];
	static struct frame_regs regs[MOST];

	for (size_t nr = 16; nr <= MOST; nr *= 2) {
		recursion(before, nr - 1);
		recursion(truth, nr);
		stack_cache_store(*state, 1, &(struct new_stack){.entries = before, .nr = nr - 1});
		memcpy(cut, truth, sizeof(cut));
		assert_int_equal(
			stack_cache_stitch(*state, 1, 1, &(struct cut){cut, regs, 10, MOST}), nr);
		assert_memory_equal(cut, truth, nr * sizeof(*cut));
	}
}

/* Stitches a stack of which two frames are known, by the outer one's registers. */
static size_t stitch_two(struct stack_cache *cache, const struct stack_entry *inner,
                         const struct stack_entry *outer, uint64_t extra, uint64_t time)
{
	static struct stack_entry cut[MOST];
	static struct frame_regs regs[MOST];

	cut[0] = *inner;
	cut[1] = *outer;
	regs[1] = (struct frame_regs){.fp = 1, .extra = extra};
	return stack_cache_stitch(cache, 1, time, &(struct cut){cut, regs, 2, MOST});
}

/* The same where the inner one is another. */
static size_t stitch_one(struct stack_cache *cache, const struct stack_entry *entry, uint64_t extra,
                         uint64_t time)
{
	return stitch_two(cache, &(struct stack_entry){0, 77}, entry, extra, time);
}

static void few_frames_join_by_registers(void **state)
{
	static struct stack_entry entries[MOST];
	static struct frame_regs regs[MOST];
	struct new_stack news = {.entries = entries, .nr = 20};
	size_t i;

	recursion(entries, 20);
	for (i = 0; i < 20; i++)
		regs[i] = (struct frame_regs){.fp = 1, .extra = 100 + i};
	stack_cache_store(*state, 1, &news);
	/* none are known */
	assert_int_equal(stitch_two(*state, &entries[9], &entries[10], 110, 1), 2);
	news.regs = regs;
	stack_cache_store(*state, 1, &news);
	assert_int_equal(stitch_two(*state, &entries[9], &entries[10], 111, 1), 2);
	assert_int_equal(stitch_one(*state, &entries[10], 110, 1), 2);
	assert_int_equal(stitch_two(*state, &entries[9], &entries[10], 110, 1), 11);
}

/* A stack that is valid from some time on leaves the common part valid for longer. */
static void what_a_stack_had_stays_valid(void **state)
{
	static struct stack_entry entries[MOST];
	static struct frame_regs regs[MOST];
	struct new_stack news = {.entries = entries, .regs = regs, .nr = 20};
	size_t i;

	recursion(entries, 20);
	for (i = 0; i < 20; i++)
		regs[i].fp = 1;
	stack_cache_store(*state, 1, &news);
	entries[10].frame = 8;
	news.since = 1000;
	stack_cache_store(*state, 1, &news);
	assert_int_equal(stack_cache_last(*state, 1, 0).nr, 0);
	assert_int_equal(stitch_two(*state, &entries[9], &entries[10], 0, 999), 2);
	assert_int_equal(stitch_two(*state, &entries[11], &entries[12], 0, 999), 9);
	entries[15].frame = 8;
	news.since = 2000;
	stack_cache_store(*state, 1, &news);
	assert_int_equal(stitch_two(*state, &entries[11], &entries[12], 0, 1999), 2);
	assert_int_equal(stitch_two(*state, &entries[11], &entries[12], 0, 2000), 9);
}

/* Where stacks end in the same frame for a while it counts by itself; those cut before do not. */
static void a_frame_that_stays_joins(void **state)
{
	static struct stack_entry entries[MOST];
	static const struct stack_entry inner = {0x7fff00000000 - 30 * 64, 5};
	struct new_stack news = {.entries = entries, .nr = 20};
	unsigned n = 0;

	recursion(entries, 20);
	stack_cache_store(*state, 1, &news);
	while (stitch_one(*state, &entries[10], 0, 1) == 2) {
		assert_int_equal(stitch_one(*state, &inner, 0, 1), 2);
		assert_in_range(++n, 1, 100);
	}
	assert_true(n > 1);
}

/* For 50 ms, and as long as looks of every 5 ms find it. */
static void a_stack_is_believed_while_it_is_seen(void **state)
{
	enum { MS = 1000000 };
	static struct stack_entry entries[MOST];
	struct new_stack news = {.entries = entries, .nr = 20, .seen = 100 * MS};

	recursion(entries, 20);
	assert_false(stack_cache_is_due(*state, 1, 100 * MS));
	assert_false(stack_cache_is_believed(*state, 1, 100 * MS));
	stack_cache_store(*state, 1, &news);
	assert_true(stack_cache_is_believed(*state, 1, 1));
	assert_true(stack_cache_is_believed(*state, 1, 150 * MS));
	assert_false(stack_cache_is_believed(*state, 1, 150 * MS + 1));
	assert_true(stack_cache_is_due(*state, 1, 151 * MS));
	assert_false(stack_cache_is_due(*state, 1, 155 * MS));
	assert_true(stack_cache_is_due(*state, 1, 156 * MS));
	stack_cache_looked(*state, 1, 156 * MS, true);
	assert_true(stack_cache_is_believed(*state, 1, 200 * MS));
	/* Frames that completed a stack are no evidence: the thread was not seen to have them. */
	news.seen = 0;
	stack_cache_store(*state, 1, &news);
	assert_false(stack_cache_is_believed(*state, 1, 206 * MS + 1));
	stack_cache_forget(*state, 1);
	assert_false(stack_cache_is_believed(*state, 1, 1));
}

/* Where another stack was found, as many looks must find the same, and each time twice as many. */
static void what_changes_must_be_seen_more_often(void **state)
{
	enum { MS = 1000000 };
	static struct stack_entry entries[MOST];
	struct new_stack news = {.entries = entries, .nr = 20, .seen = MS};

	recursion(entries, 20);
	stack_cache_store(*state, 1, &news);
	for (unsigned change = 0; change < 8; change++) {
		unsigned needed = change < 4 ? 1U << change : 16;

		stack_cache_looked(*state, 1, 2 * MS, false);
		stack_cache_store(*state, 1, &news);
		for (unsigned i = 0; i < needed; i++) {
			assert_false(stack_cache_is_believed(*state, 1, MS));
			stack_cache_looked(*state, 1, 2 * MS, true);
		}
		assert_true(stack_cache_is_believed(*state, 1, MS));
	}
}

static void nothing_is_left_of_a_chain_that_is_forgotten(void **state)
{
	static struct stack_entry entries[MOST];
	static struct frame_regs regs[MOST];

	recursion(entries, 100);
	stack_cache_store(
		*state, 1,
		&(struct new_stack){.entries = entries, .regs = regs, .nr = 100, .generation = 5});
	assert_int_equal(stack_cache_last(*state, 1, 5).nr, 100);
	assert_int_equal(stack_cache_last(*state, 1, 6).nr, 0); /* it was walked in another space */
	assert_int_equal(stack_cache_miss(*state, 1), 1);
	stack_cache_forget(*state, 1);
	assert_int_equal(stack_cache_last(*state, 1, 5).nr, 0);
	assert_int_equal(stack_cache_stitch(*state, 1, 1, &(struct cut){entries, regs, 10, MOST}),
	                 10);
	assert_int_equal(stack_cache_miss(*state, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(deep_recursion_is_completed),
		TEST(few_frames_join_by_registers),
		TEST(what_a_stack_had_stays_valid),
		TEST(a_frame_that_stays_joins),
		TEST(a_stack_is_believed_while_it_is_seen),
		TEST(what_changes_must_be_seen_more_often),
		TEST(nothing_is_left_of_a_chain_that_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
