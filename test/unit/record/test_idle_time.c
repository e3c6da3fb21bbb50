#include "cases.h"
#include "record/idle_time.h"

static const char stat[] = "cpu  100 0 50 3000 7 0 0 0 0 0\n"
			   "cpu0 50 0 20 1000 3 0 0 0 0 0\n"
			   "cpu2 50 0 30 2000 4 0 0 0 0 0\n"
			   "intr 12345 0 0\n"
			   "cpu3 1 1 1 5000 5 0\n";

static void cpus_are_added_up(void **state)
{
	struct cpu_list some = {{0}};

	(void)state;
	assert_int_equal(idle_time_in(stat, NULL, 100), 3007 * 10000000ULL);
	cpu_list_add(&some, 2);
	cpu_list_add(&some, 3);
	assert_int_equal(idle_time_in(stat, &some, 100), 2004 * 10000000ULL);
}

static void other_text_is_no_time(void **state)
{
	(void)state;
	assert_int_equal(idle_time_in("", NULL, 100), 0);
	assert_int_equal(idle_time_in("cpu0 1 2 3", NULL, 100), 0);
	assert_int_equal(idle_time_in("cpu99999 1 2 3 4 5\n", NULL, 100), 0);
	assert_int_equal(idle_time_in(stat, NULL, 0), 0);
}

static void this_machine_says(void **state)
{
	(void)state;
	assert_true(idle_time(NULL) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_are_added_up),
		cmocka_unit_test(other_text_is_no_time),
		cmocka_unit_test(this_machine_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
