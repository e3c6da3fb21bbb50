#include "cases.h"
#include "record/own_processes.h"

#define RECORDER 100
#define TARGET   200

static bool has(struct own_processes *own, enum record_type type, uint32_t pid, uint32_t parent)
{
	struct record record = {.type = type, .pid = pid, .tid = pid};

	if (type == RECORD_FORK || type == RECORD_EXIT)
		record.fork.parent_pid = parent;
	return own_processes_has(own, &record);
}

static void nothing_is_own_outside_of_the_cgroup(void **state)
{
	struct own_processes own = {0};

	(void)state;
	assert_false(has(&own, RECORD_SAMPLE, RECORDER, 0));
	assert_false(has(&own, RECORD_SAMPLE, 0, 0));
}

static void forked_processes_are_own_until_their_number_is_anothers(void **state)
{
	struct own_processes own;

	(void)state;
	own_processes_begin(&own, RECORDER);
	assert_true(has(&own, RECORD_SAMPLE, RECORDER, 0));
	assert_false(has(&own, RECORD_SAMPLE, TARGET, 0));
	assert_false(has(&own, RECORD_FORK, TARGET + 1, TARGET));
	assert_true(has(&own, RECORD_FORK, RECORDER + 1, RECORDER));
	assert_true(has(&own, RECORD_FORK, RECORDER + 2, RECORDER + 1));
	assert_true(has(&own, RECORD_SAMPLE, RECORDER + 2, 0));
	assert_true(has(&own, RECORD_EXIT, RECORDER + 1, RECORDER));
	/* Samples of its end come behind it. */
	assert_true(has(&own, RECORD_SAMPLE, RECORDER + 1, 0));
	assert_true(has(&own, RECORD_SAMPLE, RECORDER + 2, 0));
	assert_false(has(&own, RECORD_FORK, RECORDER + 1, TARGET));
	assert_false(has(&own, RECORD_SAMPLE, RECORDER + 1, 0));
	assert_true(has(&own, RECORD_SAMPLE, RECORDER + 2, 0));
}

/* Processes that live stay. */
static void many_that_ended_push_each_other_out(void **state)
{
	struct own_processes own;

	(void)state;
	own_processes_begin(&own, RECORDER);
	has(&own, RECORD_FORK, RECORDER + 1, RECORDER);
	for (uint32_t i = 2; i < 100; i++) {
		assert_true(has(&own, RECORD_FORK, RECORDER + i, RECORDER + 1));
		assert_true(has(&own, RECORD_EXIT, RECORDER + i, RECORDER + 1));
	}
	assert_true(has(&own, RECORD_SAMPLE, RECORDER + 1, 0));
	assert_true(has(&own, RECORD_SAMPLE, RECORDER + 99, 0));
	assert_false(has(&own, RECORD_SAMPLE, RECORDER + 2, 0));
}

static void the_end_of_a_thread_is_no_end_of_its_process(void **state)
{
	struct own_processes own;
	struct record record = {.type = RECORD_EXIT, .pid = RECORDER + 1, .tid = RECORDER + 7};

	(void)state;
	own_processes_begin(&own, RECORDER);
	has(&own, RECORD_FORK, RECORDER + 1, RECORDER);
	assert_true(own_processes_has(&own, &record));
	assert_true(has(&own, RECORD_SAMPLE, RECORDER + 1, 0));
}

/* Memory is bounded, and the recorder itself is never forgotten. */
static void many_processes_push_the_first_out(void **state)
{
	struct own_processes own;

	(void)state;
	own_processes_begin(&own, RECORDER);
	for (uint32_t i = 1; i < 100; i++)
		assert_true(has(&own, RECORD_FORK, RECORDER + i, RECORDER));
	assert_int_equal(own.nr, OWN_PROCESSES_MAX);
	assert_true(has(&own, RECORD_SAMPLE, RECORDER, 0));
	assert_true(has(&own, RECORD_SAMPLE, RECORDER + 99, 0));
	assert_false(has(&own, RECORD_SAMPLE, RECORDER + 1, 0));
	assert_true(has(&own, RECORD_EXIT, RECORDER, 1));
	assert_true(has(&own, RECORD_SAMPLE, RECORDER, 0));
}

/* The cgroup may have one that was forked before anybody was sampled. */
static void one_that_was_forked_before_is_added(void **state)
{
	struct own_processes own = {0};

	(void)state;
	own_processes_add(&own, RECORDER + 1);
	assert_false(has(&own, RECORD_SAMPLE, RECORDER + 1, 0));
	own_processes_begin(&own, RECORDER);
	own_processes_add(&own, RECORDER + 1);
	assert_true(has(&own, RECORD_SAMPLE, RECORDER + 1, 0));
	assert_true(has(&own, RECORD_FORK, RECORDER + 2, RECORDER + 1));
	assert_false(has(&own, RECORD_SAMPLE, RECORDER + 3, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_own_outside_of_the_cgroup),
		cmocka_unit_test(forked_processes_are_own_until_their_number_is_anothers),
		cmocka_unit_test(the_end_of_a_thread_is_no_end_of_its_process),
		cmocka_unit_test(many_processes_push_the_first_out),
		cmocka_unit_test(many_that_ended_push_each_other_out),
		cmocka_unit_test(one_that_was_forked_before_is_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
