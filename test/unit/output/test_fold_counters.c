/* Rates of counters in a folded iteration: a ramp that samples further apart than an iteration see.
 */
#include "cases.h"
#include "output/views/fold_counters.h"
#include "random.h"

#include <math.h>
#include <string.h>

enum { BINS = 20, INTERVALS = 20000 };

static double iteration_s = 0.0031;

/* 1 to 3 million a second. */
static double true_rate(unsigned bin)
{
	return 1e6 * (1 + 2.0 * bin / (BINS - 1));
}

/* Covers time from a position on, counted in iterations. */
static double cover(double *covered, double from, double to)
{
	double advance = 0, bin_s = iteration_s / BINS;

	for (double at = from; at < to - 1e-12;) {
		double next = fmin((floor(at * BINS + 1e-9) + 1) / BINS, to);
		unsigned bin = (unsigned)floor(at * BINS + 1e-9) % BINS;

		covered[bin] += (next - at) * BINS * bin_s;
		advance += (next - at) * BINS * bin_s * true_rate(bin);
		at = next;
	}
	return advance;
}

static double uniform(uint64_t *seed)
{
	return (double)random_below(seed, 1 << 30) / (1 << 30);
}

/* The sum of a few uniform numbers is nearly normal. */
static double normal(uint64_t *seed)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += uniform(seed);
	return sum - 6;
}

/* The time between samples is 3.9 ms, give or take a tenth; an iteration takes 3.1 ms. */
static void add_intervals(struct fold_counters *counters, uint64_t *seed, double noise)
{
	double at = 0;

	for (unsigned i = 0; i < INTERVALS; i++) {
		double length = 0.0039 * (0.9 + 0.2 * uniform(seed)) / iteration_s;
		double covered[BINS] = {0}, advance = cover(covered, at, at + length);
		uint64_t advances[2] = {0};

		advances[1] = (uint64_t)fmax(advance * (1 + noise * normal(seed)), 0);
		fold_counters_add(counters, covered, advances);
		at = fmod(at + length, 1);
	}
}

static void a_ramp_is_resolved(void **state)
{
	struct fold_counters counters;
	struct fold_band rates;
	unsigned covered = 0, all = 0;
	double error = 0;
	uint64_t seed = 5;

	(void)state;
	for (unsigned round = 0; round < ROUNDS(20); round++) {
		assert_int_equal(fold_counters_init(&counters, BINS, 2), 0);
		add_intervals(&counters, &seed, 0.03);
		assert_true(fold_counters_solve(&counters, 1, &rates));
		for (unsigned i = 0; i < BINS; i++, all++) {
			covered += rates.low[i] <= true_rate(i) && true_rate(i) <= rates.high[i];
			error += fabs(rates.value[i] / true_rate(i) - 1);
		}
		fold_counters_fini(&counters);
	}
	assert_true(covered >= 0.9 * all);
	assert_true(covered < all || all < 200); /* bands that hold everything say nothing */
	assert_true(error / all < 0.1);
}

static void without_noise_it_is_exact(void **state)
{
	struct fold_counters counters;
	struct fold_band rates;
	uint64_t seed = 6;

	(void)state;
	assert_int_equal(fold_counters_init(&counters, BINS, 2), 0);
	add_intervals(&counters, &seed, 0);
	assert_true(fold_counters_solve(&counters, 1, &rates));
	for (unsigned i = 0; i < BINS; i++)
		assert_true(fabs(rates.value[i] / true_rate(i) - 1) < 0.001);
	fold_counters_fini(&counters);
}

/* Intervals that are all of whole iterations tell the mean alone. */
static void whole_iterations_tell_nothing(void **state)
{
	struct fold_counters counters;
	struct fold_band rates;
	uint64_t advances[2] = {0, 1000};

	(void)state;
	assert_int_equal(fold_counters_init(&counters, BINS, 2), 0);
	assert_false(fold_counters_solve(&counters, 1, &rates));
	for (unsigned i = 0; i < 100; i++) {
		double covered[BINS] = {0};

		cover(covered, 0, 1 + i % 3);
		fold_counters_add(&counters, covered, advances);
	}
	assert_false(fold_counters_solve(&counters, 0, &rates));
	assert_false(fold_counters_solve(&counters, 1, &rates));
	fold_counters_fini(&counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ramp_is_resolved),
		cmocka_unit_test(without_noise_it_is_exact),
		cmocka_unit_test(whole_iterations_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
