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

static const struct link leaf = {0, 0x100000010};
static const struct link deep = AT(0x100, 0x1100), middle = AT(0x200, 0x2100);
static const struct link near_middle = AT(0x200, 0x2180), other_middle = AT(0x200, 0x5100);
static const struct link root = AT(0x300, 0x3100), other_root = AT(0x300, 0x4100);

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

static void learn(void *callers, pid_t tid, uint64_t since, struct link mid, struct link top)
{
	const struct link links[] = {leaf, deep, mid, top};

	known_callers_learn(callers, tid, since, links, 4, 0);
}

/* A leaf and `deep` with what is above it; false: nothing. */
static bool completes(void *callers, pid_t tid, uint64_t time, struct link *links)
{
	struct frame_regs regs[MOST] = {0};

	memset(links, 0, MOST * sizeof(*links));
	links[0] = leaf;
	links[1] = deep;
	return known_callers_append(callers, tid, time, &(struct cut){links, regs, 2, MOST}) == 4;
}

static void what_was_seen_is_appended(void **state)
{
	struct link links[MOST];
	struct frame_regs regs[MOST];

	assert_false(completes(*state, 1, 100, links));
	learn(*state, 1, 50, middle, root);
	assert_true(completes(*state, 1, 100, links));
	assert_memory_equal(&links[2], &middle, sizeof(middle));
	assert_memory_equal(&links[3], &root, sizeof(root));
	assert_false(completes(*state, 1, 49, links));
	assert_false(completes(*state, 2, 100, links));
	assert_int_equal(known_callers_append(*state, 1, 100, &(struct cut){links, regs, 2, 3}), 2);
	known_callers_forget(*state, 1);
	assert_false(completes(*state, 1, 100, links));
}

static void other_places_of_one_function_replace_each_other(void **state)
{
	struct link links[MOST];

	learn(*state, 1, 1, middle, root);
	learn(*state, 1, 2, near_middle, root);
	assert_true(completes(*state, 1, 3, links));
	assert_memory_equal(&links[2], &near_middle, sizeof(near_middle));
}

static void two_callers_are_none(void **state)
{
	struct link links[MOST];

	learn(*state, 1, 1, middle, root);
	learn(*state, 1, 2, other_middle, root);
	assert_false(completes(*state, 1, 3, links));
	learn(*state, 1, 4, middle, root);
	assert_false(completes(*state, 1, 5, links));
}

/* Below two places of one function, which was called by two. */
static void two_callers_further_up_are_none(void **state)
{
	struct link links[MOST];

	learn(*state, 1, 1, middle, root);
	learn(*state, 1, 2, near_middle, other_root);
	assert_false(completes(*state, 1, 3, links));
}

static void it_begins_anew_when_full(void **state)
{
	struct link links[MOST];

	learn(*state, 1, 1, middle, root);
	for (unsigned i = 0; i < 8192; i++)
		learn(*state, 1, 1, (struct link){0x7ffe0000 + 8 * i, 0x100000000 + i}, root);
	assert_false(completes(*state, 1, 2, links));
	for (unsigned i = 0; i < 8192; i++)
		learn(*state, 2, 1, (struct link){0x7ffe0000 + 8 * i, 0x100000000 + i},
		      (struct link){0x7ffd0000 + 8 * i, 0x100000000 + i});
	learn(*state, 3, 1, middle, root);
	assert_true(completes(*state, 3, 2, links));
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
