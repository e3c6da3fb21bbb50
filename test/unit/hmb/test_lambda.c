
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

/*
 * A kernel that samples a program every 1024 units, and now and then every unit for a while. It
 * begins a period anew at each change. All occurrences of the program are worth the same.
 */
enum { LONG = 10, STEP = 1 << LONG };

struct windowed {
	struct stream stream;
	bool counts;
	uint64_t run;    /* samples of the run */
	uint64_t inside; /* those of them that were taken in windows */
};

static unsigned next_of(struct windowed *w)
{
	return w->counts ? w->stream.shift + lambda_random(++w->stream.n) : stream_next(&w->stream);
}

static void go_on(struct windowed *w, uint64_t units)
{
	for (uint64_t t = STEP; t <= units; t += STEP) {
		next_of(w);
		w->run++;
		for (; w->stream.owed; w->run++)
			stream_pay(&w->stream, w->counts);
	}
}

static void look_closely(struct windowed *w, uint64_t units)
{
	if (w->counts)
		stream_enter_counts(&w->stream, 0, 1);
	else
		stream_enter(&w->stream, 0);
	for (uint64_t t = 0; t < units; t++)
		w->inside += next_of(w) >= LONG;
	if (w->counts)
		stream_leave_counts(&w->stream, LONG, 1);
	else
		stream_leave(&w->stream, LONG);
}

/* Windows of two long periods and of much less, each beside a random time of the run. */
static void check_windowed(uint64_t length, bool counts)
{
	enum { NR = 4000 };
	struct windowed w = {.stream = stream_start(3, length, LONG), .counts = counts};
	uint64_t seed = 11, units = 0, expected;

	for (unsigned i = 0; i < NR; i++) {
		uint64_t beside = lambda_mix(seed++) % (60 * STEP);

		go_on(&w, beside);
		w.stream.change++;
		look_closely(&w, length);
		w.stream.change++;
		units += beside + length;
	}
	expected = units / STEP;
	w.run += w.inside;
	assert_in_range(w.run, expected - expected / 500, expected + expected / 500);
	expected = NR * length / STEP;
	assert_in_range(w.inside + NR / 20, expected, expected + NR / 10);
}

static void windows_leave_the_run_its_weight(void **state)
{
	static const uint64_t lengths[] = {0, 1, 100, 1000, 1024, 2000};

	(void)state;
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		check_windowed(lengths[i], false);
		check_windowed(lengths[i], true);
	}
}

/* Wherever the floor is, what the run has in a window are the samples that it would have had. */
static void windows_keep_the_levels_of_the_run(void **state)
{
	struct stream stream = stream_start(42, 7, 5), run = stream;

	(void)state;
	stream_enter(&stream, 2);
	for (unsigned i = 0; i < 5000; i++) {
		unsigned level = stream_next(&stream);

		if (level >= 5)
			assert_int_equal(level, stream_next(&run));
	}
	stream_leave(&stream, 5);
	assert_int_equal(stream.n, run.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machine_and_paper_agree),
		cmocka_unit_test(each_level_holds_every_second_of_the_rest),
		cmocka_unit_test(slowing_keeps_the_grid),
		cmocka_unit_test(the_last_level_takes_all_higher_ones),
		cmocka_unit_test(streams_start_apart),
		cmocka_unit_test(windows_leave_the_run_its_weight),
		cmocka_unit_test(windows_keep_the_levels_of_the_run),
		cmocka_unit_test(chance_leaves_one_of_each_two),
		cmocka_unit_test(counts_meet_all_parts_of_a_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
