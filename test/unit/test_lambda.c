#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hmb/lambda.h"

static void machine_and_portable_agree(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 1 << 16; n++)
		assert_int_equal(lambda(n), lambda_portable(n));
	for (unsigned bit = 0; bit < 64; bit++)
		assert_int_equal(lambda_portable((uint64_t)1 << bit), bit);
	assert_int_equal(lambda(0), lambda_portable(0));
}

static void each_level_holds_every_second_of_the_rest(void **state)
{
	unsigned count[NR_LEVELS] = {0};

	(void)state;
	for (uint64_t n = 1; n <= 1 << 20; n++)
		count[lambda(n)]++;
	for (unsigned level = 0; level < 20; level++)
		assert_int_equal(count[level], 1 << (19 - level));
}

/* Slowing a stream keeps the levels that its samples would have had at the old period. */
static void slowing_keeps_the_grid(void **state)
{
	struct stream fast = stream_start(42, 7, 0), slow = fast;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		unsigned level = stream_next(&fast);

		if (i == 500) {
			slow = fast;
			stream_slow(&slow, 3);
		} else if (i > 500 && level >= 3) {
			assert_int_equal(level, stream_next(&slow));
		}
	}
}

/* However far it was slowed; and it never gets faster again. */
static void the_last_level_takes_all_higher_ones(void **state)
{
	struct stream stream = {.n = 7, .shift = NR_LEVELS - 2};

	(void)state;
	stream_slow(&stream, 3);
	assert_int_equal(stream.shift, NR_LEVELS - 2);
	assert_int_equal(stream.n, 7);
	assert_int_equal(stream_next(&stream), NR_LEVELS - 1);
	assert_int_equal(stream_next(&stream), NR_LEVELS - 2);
	assert_int_equal(stream_next(&stream), NR_LEVELS - 1);
}

static void streams_start_apart(void **state)
{
	(void)state;
	assert_true(stream_start(1, 1, 0).n != stream_start(1, 2, 0).n);
	assert_true(stream_start(1, 1, 0).n != stream_start(2, 1, 0).n);
	assert_true(stream_start(1, 1, 0).n == stream_start(1, 1, 0).n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machine_and_portable_agree),
		cmocka_unit_test(each_level_holds_every_second_of_the_rest),
		cmocka_unit_test(slowing_keeps_the_grid),
		cmocka_unit_test(the_last_level_takes_all_higher_ones),
		cmocka_unit_test(streams_start_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
