#include "cases.h"
#include "record/spare_cpus.h"

#include <string.h>

static void expect(const char *own, const char *online, const char *reserved, const char *expected)
{
	struct cpu_list list, all, wanted;

	assert_int_equal(cpu_list_parse(&list, own), 0);
	assert_int_equal(cpu_list_parse(&all, online), 0);
	assert_int_equal(cpu_list_parse(&wanted, expected), 0);
	spare_cpus_add(&list, &all, reserved);
	assert_memory_equal(&list, &wanted, sizeof(list));
}

static void all_but_reserved_cpus_are_added(void **state)
{
	(void)state;
	expect("3", "0-15", "", "0-15");
	expect("3", "0-15", "\n\n", "0-15");
	expect("3", "0-15", "8-11\n10-12\n", "0-7,13-15");
	expect("3", "0-15", "8-11", "0-7,12-15");
	expect("0-1,8", "0-1,8", "", "0-1,8");
}

/* The launcher has a reason to run the rank there. */
static void own_cpus_stay(void **state)
{
	(void)state;
	expect("9", "0-15", "8-11\n", "0-7,9,12-15");
	expect("20", "0-15", "", "0-15,20");
}

static void what_is_no_list_reserves_nothing(void **state)
{
	static char line[10000];

	(void)state;
	expect("3", "0-15", "(null)\n8\n", "0-7,9-15");
	memset(line, '1', sizeof(line) - 1);
	expect("3", "0-15", line, "0-15");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_but_reserved_cpus_are_added),
		cmocka_unit_test(own_cpus_stay),
		cmocka_unit_test(what_is_no_list_reserves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
