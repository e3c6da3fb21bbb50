/* What is above frames that are larger than any copy: what is believed, and when. */
#include "cases.h"
#include "symbolize/unwind/large_frames.h"

#include <string.h>

#define MS   1000000ull
#define MOST 64

static const struct large_frame key = {.tid = 1, .slot = 0x7fff9000, .bottom = 0x7fff1000};

/* Called from a place of a function, which was called from another one; functions have 4 KiB. */
static const struct stack_entry from_a[] = {{0x7fff9000, 0x100000100}, {0x7fff9100, 0x100000900}};
static const struct stack_entry from_b[] = {{0x7fff9000, 0x100000180}, {0x7fff9100, 0x100000900}};
static const struct stack_entry other[] = {{0x7fff9000, 0x100000180}, {0x7fff9100, 0x100001980}};
static const struct stack_entry far[] = {{0x7fff9000, 0x100100100}, {0x7fff9100, 0x100000900}};

static bool same(void *arg, uint64_t a, uint64_t b)
{
	(void)arg;
	return a >> 12 == b >> 12;
}

static int setup(void **state)
{
	*state = large_frames_new(same, NULL);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	large_frames_free(*state);
	return 0;
}

static void learn(struct large_frames *table, uint64_t now, const struct stack_entry *entries)
{
	assert_true(large_frames_is_due(table, &key, now));
	large_frames_learn(table, &key, now, entries, 2);
}

/* What a leaf becomes. */
static size_t append(struct large_frames *table, uint64_t time, struct stack_entry *entries)
{
	memset(entries, 0, MOST * sizeof(*entries));
	entries[0].frame = 5;
	return large_frames_append(table, &key, time, &(struct cut){entries, NULL, 1, MOST});
}

static void what_was_the_same_twice(void **state)
{
	struct stack_entry entries[MOST];

	assert_int_equal(append(*state, 0, entries), 1);
	learn(*state, 100 * MS, from_a);
	assert_int_equal(append(*state, 150 * MS, entries), 1);
	assert_false(large_frames_is_due(*state, &key, 101 * MS));
	learn(*state, 200 * MS, from_a);
	assert_int_equal(append(*state, 150 * MS, entries), 3);
	assert_memory_equal(entries + 1, from_a, sizeof(from_a));
	/* Not of what was before. */
	assert_int_equal(append(*state, 99 * MS, entries), 1);
	assert_int_equal(
		large_frames_append(*state, &key, 150 * MS, &(struct cut){entries, NULL, 1, 2}), 1);
}

static void other_places_of_one_caller(void **state)
{
	struct stack_entry entries[MOST];

	learn(*state, 100 * MS, from_a);
	learn(*state, 200 * MS, from_b);
	assert_int_equal(append(*state, 300 * MS, entries), 3);
	assert_memory_equal(entries + 1, from_b, sizeof(from_b));
}

static void what_changes_is_believed_later(void **state)
{
	struct stack_entry entries[MOST];
	uint64_t now = 0;
	unsigned believed = 0;

	for (unsigned i = 0; i < 200; i++) {
		learn(*state, now += 100 * MS, i % 3 ? from_a : i % 2 ? other : far);
		believed += append(*state, now + 1, entries) > 1;
	}
	assert_in_range(believed, 0, 2);
	for (unsigned i = 0; i < 5000; i++)
		learn(*state, now += 100 * MS, other);
	assert_int_equal(append(*state, now + 1, entries), 3);
	assert_memory_equal(entries + 1, other, sizeof(other));
}

static void frames_and_threads_by_themselves(void **state)
{
	struct large_frame thread = key, slot = key, bottom = key;
	struct stack_entry entries[MOST];
	const struct cut leaf = {entries, NULL, 1, MOST};

	thread.tid++;
	slot.slot += 64;
	bottom.bottom -= 64;
	learn(*state, 100 * MS, from_a);
	learn(*state, 200 * MS, from_a);
	assert_int_equal(large_frames_append(*state, &thread, 300 * MS, &leaf), 1);
	assert_int_equal(large_frames_append(*state, &slot, 300 * MS, &leaf), 1);
	assert_int_equal(large_frames_append(*state, &bottom, 300 * MS, &leaf), 1);
	large_frames_forget(*state, 2);
	assert_int_equal(append(*state, 300 * MS, entries), 3);
	large_frames_forget(*state, 1);
	assert_int_equal(append(*state, 300 * MS, entries), 1);
	large_frames_forget(*state, 1);
}

/* Where two frames have one place, the newer one has it. */
static void many_frames(void **state)
{
	struct stack_entry entries[MOST];
	const struct cut leaf = {entries, NULL, 1, MOST};
	struct large_frame many = key;

	for (unsigned i = 0; i < 5000; i++) {
		many.slot += 64;
		for (unsigned n = 1; n <= 2; n++) {
			assert_true(large_frames_is_due(*state, &many, (i * 2 + n) * 100 * MS));
			large_frames_learn(*state, &many, (i * 2 + n) * 100 * MS, from_a, 2);
		}
		assert_int_equal(large_frames_append(*state, &many, (i * 2 + 2) * 100 * MS, &leaf),
		                 3);
	}
	large_frames_forget(*state, 1);
	assert_int_equal(large_frames_append(*state, &many, 1000000 * MS, &leaf), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_the_same_twice),
		TEST(other_places_of_one_caller),
		TEST(what_changes_is_believed_later),
		TEST(frames_and_threads_by_themselves),
		TEST(many_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
