#include "cases.h"
#include "record/sample_stack.h"

static const struct perf_branch_entry calls[] = {{.from = 0x1010, .to = 0x1000},
                                                 {.from = 0x2020, .to = 0x2000},
                                                 {.from = 0x3030, .to = 0x3000}};

static struct record sample(const uint64_t *chain, size_t nr, size_t nr_branches)
{
	struct record record = {.type = RECORD_SAMPLE};

	record.sample.chain = chain;
	record.sample.chain_size = nr;
	record.sample.branches = calls;
	record.sample.nr_branches = nr_branches;
	return record;
}

static void callers_are_where_they_called(void **state)
{
	/* what frame pointers make of it is left out behind the first */
	static const uint64_t chain[] = {PERF_CONTEXT_USER, 0x1005, 0xdead, 0xbeef};
	struct record record = sample(chain, 4, 3);
	uint64_t got[8];
	bool cut;

	(void)state;
	assert_int_equal(branch_stack(&record, 32, got, 8, &cut), 4);
	assert_int_equal(got[0], 0x1005);
	assert_int_equal(got[1], 0x1010);
	assert_int_equal(got[3], 0x3030);
	assert_false(cut);
}

static void the_kernel_stands_before_them(void **state)
{
	static const uint64_t chain[] = {PERF_CONTEXT_KERNEL,
	                                 0xffffffff81000010,
	                                 0xffffffff81000020,
	                                 PERF_CONTEXT_USER,
	                                 0x1005,
	                                 0xdead};
	struct record record = sample(chain, 6, 2);
	uint64_t got[8];
	bool cut;

	(void)state;
	assert_int_equal(branch_stack(&record, 32, got, 8, &cut), 5);
	assert_int_equal(got[1], 0xffffffff81000020);
	assert_int_equal(got[2], 0x1005);
	assert_int_equal(got[4], 0x2020);
	assert_false(cut);
	/* a thread of the kernel has nothing of a user's */
	record = sample(chain, 3, 2);
	assert_int_equal(branch_stack(&record, 32, got, 8, &cut), 2);
}

static void what_is_full_may_be_cut(void **state)
{
	static const uint64_t chain[] = {PERF_CONTEXT_USER, 0x1005};
	struct record record = sample(chain, 2, 3);
	uint64_t got[8] = {0};
	bool cut;

	(void)state;
	assert_int_equal(branch_stack(&record, 3, got, 8, &cut), 4);
	assert_true(cut);
	assert_int_equal(branch_stack(&record, 32, got, 3, &cut), 3);
	assert_true(cut);
	assert_int_equal(got[3], 0x3030); /* of the call before: not touched */
	record = sample(chain, 0, 0);
	assert_int_equal(branch_stack(&record, 32, got, 8, &cut), 0);
	assert_false(cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_where_they_called),
		cmocka_unit_test(the_kernel_stands_before_them),
		cmocka_unit_test(what_is_full_may_be_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
