/* Chains by themselves; test_unwind.c has what becomes of them with real stacks. */
#include "symbolize/chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MOST 1024

/* A recursion so deep: leaf first, all callers return to the same place. */
static void recursion(struct link *links, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		links[i] = (struct link){0x7fff00000000 - (nr - i) * 64, i + 1 < nr ? 7 : 1};
	links[0].slot = 0;
}

static int setup(void **state)
{
	*state = chain_table_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	chain_table_free(*state);
	return 0;
}

/* What a copy of the innermost frames alone becomes, after a stack that was a frame less deep. */
static void deep_recursion_is_completed(void **state)
{
	static struct link before[MOST], truth[MOST], cut[MOST];
	static struct hold holds[MOST];

	for (size_t nr = 16; nr <= MOST; nr *= 2) {
		recursion(before, nr - 1);
		recursion(truth, nr);
		chain_store(*state, 1, &(struct chain_news){.links = before, .nr = nr - 1});
		memcpy(cut, truth, sizeof(cut));
		assert_int_equal(chain_stitch(*state, 1, 1, cut, holds, 10, MOST), nr);
		assert_memory_equal(cut, truth, nr * sizeof(*cut));
	}
}

static void nothing_is_left_of_a_chain_that_is_forgotten(void **state)
{
	static struct link links[MOST];
	static struct hold holds[MOST];

	recursion(links, 100);
	chain_store(
		*state, 1,
		&(struct chain_news){.links = links, .holds = holds, .nr = 100, .generation = 5});
	assert_int_equal(chain_past(*state, 1, 5).nr, 100);
	assert_int_equal(chain_miss(*state, 1), 1);
	chain_forget(*state, 1);
	assert_int_equal(chain_past(*state, 1, 5).nr, 0);
	assert_int_equal(chain_stitch(*state, 1, 1, links, holds, 10, MOST), 10);
	assert_int_equal(chain_miss(*state, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(deep_recursion_is_completed, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_left_of_a_chain_that_is_forgotten, setup,
	                                        teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
