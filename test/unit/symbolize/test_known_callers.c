/* Stacks that are completed by what was seen above their outermost frames: when, and when not. */
#include "cases.h"
#include "symbolize/unwind/known_callers.h"

#include <string.h>

#define MOST 64

/* Functions have 4 KiB. Two stacks of one shape that differ in the outermost function. */
#define AT(slot, frame)                                    \
	{                                                  \
		0x7fff0000 + (slot), 0x100000000 + (frame) \
	}

static const struct stack_entry leaf = {0, 0x100000010};
static const struct stack_entry deep = AT(0x100, 0x1100), middle = AT(0x200, 0x2100);
static const struct stack_entry near_middle = AT(0x200, 0x2180), other_middle = AT(0x200, 0x5100);
static const struct stack_entry root = AT(0x300, 0x3100), other_root = AT(0x300, 0x4100);

static bool same(void *arg, uint64_t a, uint64_t b)
{
	(void)arg;
	return a >> 12 == b >> 12;
}

static int setup(void **state)
{
	*state = known_callers_new(same, NULL);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	known_callers_free(*state);
	return 0;
}

static void learn(void *callers, pid_t tid, uint64_t since, struct stack_entry mid,
                  struct stack_entry top)
{
	const struct stack_entry entries[] = {leaf, deep, mid, top};

	known_callers_learn(callers, tid, since, entries, 4, 0);
}

/* A leaf and `deep` with what is above it; false: nothing. */
static bool completes(void *callers, pid_t tid, uint64_t time, struct stack_entry *entries)
{
	struct frame_regs regs[MOST] = {0};

	memset(entries, 0, MOST * sizeof(*entries));
	entries[0] = leaf;
	entries[1] = deep;
	return known_callers_append(callers, tid, time, &(struct cut){entries, regs, 2, MOST}) == 4;
}

static void what_was_seen_is_appended(void **state)
{
	struct stack_entry entries[MOST];
	struct frame_regs regs[MOST];

	assert_false(completes(*state, 1, 100, entries));
	learn(*state, 1, 50, middle, root);
	assert_true(completes(*state, 1, 100, entries));
	assert_memory_equal(&entries[2], &middle, sizeof(middle));
	assert_memory_equal(&entries[3], &root, sizeof(root));
	assert_false(completes(*state, 1, 49, entries));
	assert_false(completes(*state, 2, 100, entries));
	assert_int_equal(known_callers_append(*state, 1, 100, &(struct cut){entries, regs, 2, 3}),
	                 2);
	known_callers_forget(*state, 1);
	assert_false(completes(*state, 1, 100, entries));
}

static void other_places_of_one_function_replace_each_other(void **state)
{
	struct stack_entry entries[MOST];

	learn(*state, 1, 1, middle, root);
	learn(*state, 1, 2, near_middle, root);
	assert_true(completes(*state, 1, 3, entries));
	assert_memory_equal(&entries[2], &near_middle, sizeof(near_middle));
}

static void two_callers_are_none(void **state)
{
	struct stack_entry entries[MOST];

	learn(*state, 1, 1, middle, root);
	learn(*state, 1, 2, other_middle, root);
	assert_false(completes(*state, 1, 3, entries));
	learn(*state, 1, 4, middle, root);
	assert_false(completes(*state, 1, 5, entries));
}

/* Below two places of one function, which was called by two. */
static void two_callers_further_up_are_none(void **state)
{
	struct stack_entry entries[MOST];

	learn(*state, 1, 1, middle, root);
	learn(*state, 1, 2, near_middle, other_root);
	assert_false(completes(*state, 1, 3, entries));
}

static void it_begins_anew_when_full(void **state)
{
	struct stack_entry entries[MOST];

	learn(*state, 1, 1, middle, root);
	for (unsigned i = 0; i < 8192; i++)
		learn(*state, 1, 1, (struct stack_entry){0x7ffe0000 + 8 * i, 0x100000000 + i},
		      root);
	assert_false(completes(*state, 1, 2, entries));
	for (unsigned i = 0; i < 8192; i++)
		learn(*state, 2, 1, (struct stack_entry){0x7ffe0000 + 8 * i, 0x100000000 + i},
		      (struct stack_entry){0x7ffd0000 + 8 * i, 0x100000000 + i});
	learn(*state, 3, 1, middle, root);
	assert_true(completes(*state, 3, 2, entries));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_seen_is_appended),
		TEST(other_places_of_one_function_replace_each_other),
		TEST(two_callers_are_none),
		TEST(two_callers_further_up_are_none),
		TEST(it_begins_anew_when_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
