#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "cli/expected_size.h"

#define MIB ((off_t)1 << 20)

static uint64_t after(struct expected_size *expected, off_t written, double share)
{
	assert_int_equal(fseeko(expected->file, written, SEEK_SET), 0);
	return expected_size(expected, share);
}

/* The first two thirds of the work write nothing. */
static void large_is_told_once(void **state)
{
	struct expected_size expected = {.file = tmpfile()};

	(void)state;
	assert_int_equal(after(&expected, 0, 0.3), 0);
	assert_int_equal(after(&expected, 4096, 0.6), 0);
	assert_int_equal(after(&expected, 10 * MIB, 0.602), 0); /* too early to say */
	assert_in_range(after(&expected, 500 * MIB, 0.7), 1999 * MIB, 2001 * MIB);
	assert_int_equal(after(&expected, 1000 * MIB, 0.8), 0);
	fclose(expected.file);
}

static void small_is_not_told(void **state)
{
	struct expected_size expected = {.file = tmpfile()};

	(void)state;
	assert_int_equal(after(&expected, 0, 0.5), 0);
	assert_int_equal(after(&expected, 500 * MIB, 0.5), 0);
	assert_int_equal(after(&expected, 500 * MIB, 0.75), 0);
	assert_int_equal(after(&expected, 1000 * MIB, 1), 0);
	fclose(expected.file);
}

static void nothing_is_known_of_pipes(void **state)
{
	struct expected_size none = {0};
	struct expected_size pipe = {.file = popen("exec cat >/dev/null", "w")};

	(void)state;
	assert_int_equal(expected_size(&none, 0.5), 0);
	fputs("some", pipe.file);
	assert_int_equal(expected_size(&pipe, 0.5), 0);
	assert_int_equal(pclose(pipe.file), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_is_told_once),
		cmocka_unit_test(small_is_not_told),
		cmocka_unit_test(nothing_is_known_of_pipes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
