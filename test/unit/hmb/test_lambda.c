
#include "cases.h"
#include "hmb/lambda.h"
#include "perf/sampler/prime.h"

/* As Wagner and Knüpfer (2017) find it: multiply by a De Bruijn sequence and look up. */
static unsigned lambda_of_paper(uint64_t n)
{
	static const uint8_t position[64] = {
		0,  1,  2,  53, 3,  7,  54, 27, 4,  38, 41, 8,  34, 55, 48, 28,
		62, 5,  39, 46, 44, 42, 22, 9,  24, 35, 59, 56, 49, 18, 29, 11,
		63, 52, 6,  26, 37, 40, 33, 47, 61, 45, 43, 21, 23, 58, 17, 10,
		51, 25, 36, 32, 60, 20, 57, 16, 50, 31, 19, 15, 30, 14, 13, 12,
	};

	return n ? position[((n & -n) * 0x022fdd63cc95386d) >> 58] : NR_LEVELS - 1;
}

static void machine_and_paper_agree(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 1 << 16; n++)
		assert_int_equal(lambda(n), lambda_of_paper(n));
	for (unsigned bit = 0; bit < 64; bit++)
		assert_int_equal(lambda_of_paper((uint64_t)1 << bit), bit);
	assert_int_equal(lambda(0), lambda_of_paper(0));
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

/* At every level, and it is neither always the first nor always the second. */
static void chance_leaves_one_of_each_two(void **state)
{
	enum { NR = 1 << 16 };

	(void)state;
	for (unsigned level = 0; level < 8; level++) {
		unsigned nr_second = 0, nr_blocks = NR >> (level + 1);

		for (uint64_t block = 0; block < nr_blocks; block++) {
			unsigned left = 0;

			for (uint64_t i = 0; i < UINT64_C(2) << level; i++) {
				if (lambda_random((block << (level + 1)) + i) <= level)
					continue;
				left++;
				nr_second += (unsigned)(i >> level);
			}
			assert_int_equal(left, 1);
		}
		assert_in_range(nr_second, nr_blocks / 2 - nr_blocks / 8,
		                nr_blocks / 2 + nr_blocks / 8);
	}
}

/* Whatever its step was, and the kernel's: half are of the first half of a program's step. */
static void check_halves(unsigned shift, unsigned step)
{
	enum { NR = 1 << 20, FLOOR = 8, LEFT = NR >> FLOOR };
	uint64_t period = shift ? prime_beside(UINT64_C(1) << shift) : 1;
	struct stream stream = stream_start(5, shift, 0);
	unsigned nr = 0, first = 0;

	stream_slow_counts(&stream, shift, 1);
	for (uint64_t n = 0; n < NR; n += period) {
		if (stream_next_count(&stream, 1, period) < FLOOR)
			continue;
		nr++;
		first += n % step < step / 2;
	}
	assert_in_range(nr, LEFT - 4, LEFT + 4);
	assert_in_range(first, LEFT / 2 - LEFT / 25, LEFT / 2 + LEFT / 25);
}

static void counts_meet_all_parts_of_a_program(void **state)
{
	(void)state;
	for (unsigned shift = 0; shift <= 8; shift++)
		for (unsigned step = 2; step <= 1024 && shift != 1; step *= 2)
			check_halves(shift, step);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machine_and_paper_agree),
		cmocka_unit_test(each_level_holds_every_second_of_the_rest),
		cmocka_unit_test(slowing_keeps_the_grid),
		cmocka_unit_test(the_last_level_takes_all_higher_ones),
		cmocka_unit_test(streams_start_apart),
		cmocka_unit_test(chance_leaves_one_of_each_two),
		cmocka_unit_test(counts_meet_all_parts_of_a_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
