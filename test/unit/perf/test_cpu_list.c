#include "cases.h"
#include "perf/machine/cpu_list.h"

#include <errno.h>
#include <unistd.h>

static unsigned count(const struct cpu_list *list)
{
	unsigned nr = 0;

	for (unsigned cpu = 0; cpu < CPU_LIST_MAX; cpu++)
		nr += cpu_list_has(list, cpu);
	return nr;
}

static void lists(void **state)
{
	struct cpu_list list;

	(void)state;
	assert_int_equal(cpu_list_parse(&list, "0"), 0);
	assert_true(cpu_list_has(&list, 0));
	assert_int_equal(count(&list), 1);
	assert_int_equal(cpu_list_parse(&list, "1-3,8,8191"), 0);
	assert_int_equal(count(&list), 5);
	assert_true(cpu_list_has(&list, 1) && cpu_list_has(&list, 3) && cpu_list_has(&list, 8) &&
	            cpu_list_has(&list, 8191));
	assert_false(cpu_list_has(&list, 0) || cpu_list_has(&list, 4) || cpu_list_has(&list, 8192));
	assert_int_equal(cpu_list_parse(&list, "0-8191"), 0);
	assert_int_equal(count(&list), CPU_LIST_MAX);
}

static void what_is_no_list(void **state)
{
	static const char *const texts[] = {"",
	                                    ",",
	                                    "1,",
	                                    ",1",
	                                    "1,,2",
	                                    "1-",
	                                    "-1",
	                                    "2-1",
	                                    "a",
	                                    "1 2",
	                                    "1-2-3",
	                                    "8192",
	                                    "0-99999999999999999999",
	                                    " 1",
	                                    "+1",
	                                    "0x1"};
	struct cpu_list list;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (cpu_list_parse(&list, texts[i]) != -EINVAL)
			fail_msg("'%s'", texts[i]);
}

static void those_that_run(void **state)
{
	struct cpu_list online, some;

	(void)state;
	assert_int_equal(cpu_list_online(&online), 0);
	assert_int_equal(count(&online), sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(cpu_list_beyond(&online, &online), -1);
	assert_int_equal(cpu_list_parse(&some, "3,5"), 0);
	assert_int_equal(cpu_list_parse(&online, "0-4"), 0);
	assert_int_equal(cpu_list_beyond(&some, &online), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(what_is_no_list),
		cmocka_unit_test(those_that_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
