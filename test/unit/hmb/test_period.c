/* The detector against equation (1) as it is written, and streams that must not lock. */
#include "cases.h"
#include "hmb/period.h"
#include "random.h"

#include <stdbool.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#define EVENTS 20000u
#else
#define EVENTS 1000000u
#endif

static uint64_t seed = 1;

static unsigned below(unsigned bound)
{
	return (unsigned)random_below(&seed, bound);
}

struct detector {
	struct period period;
	void *memory;
};

static struct detector detector_new(uint32_t delays, uint32_t least)
{
	struct detector detector;

	detector.memory = aligned_alloc(16, (period_bytes(delays) + 15) / 16 * 16);
	assert_non_null(detector.memory);
	period_init(&detector.period, delays, least, detector.memory);
	return detector;
}

/* d(m) of the N events up to i. Before the first event nothing equals anything. */
static int distance(const uint16_t *x, size_t i, uint32_t m, uint32_t length)
{
	if (i + 1 < (size_t)m + length)
		return 1;
	for (uint32_t k = 0; k < length; k++)
		if (x[i - k] != x[i - k - m])
			return 1;
	return 0;
}

/* Loops of any length, some of them nested, with single events that do not belong there. */
static void fill(uint16_t *x, size_t nr)
{
	size_t i = 0;

	while (i < nr) {
		unsigned length = 1 + below(below(4) ? 20 : 600), symbols = 1 + below(9);
		size_t end = i + length * (1 + below(below(3) ? 5 : 200));

		for (size_t first = i; i < end && i < nr; i++) {
			x[i] = (uint16_t)(i < first + length ? 1 + below(symbols) : x[i - length]);
			if (!below(1000))
				x[i] = 99;
		}
	}
}

static unsigned differences_at(const struct period *period, const uint16_t *x, size_t i)
{
	const uint32_t lengths[] = {1, 2, 7, period->delays, 2 * period->delays};
	unsigned nr = 0;

	for (uint32_t m = 1; m <= period->delays; m++)
		for (unsigned w = 0; w < sizeof(lengths) / sizeof(*lengths); w++)
			nr += period_repeats(period, m, lengths[w]) ==
			      distance(x, i, m, lengths[w]);
	return nr;
}

/* The smallest locked delay by definition. */
static uint32_t locked(const uint16_t *x, size_t i, uint32_t delays, uint32_t least)
{
	for (uint32_t m = 1; m <= delays; m++)
		if (!distance(x, i, m, 2 * m > least ? 2 * m : least))
			return m;
	return 0;
}

/* Returns how often the detector was locked. */
static unsigned compare(uint32_t delays, size_t nr)
{
	struct detector detector = detector_new(delays, 32);
	uint16_t *x = malloc(nr * sizeof(*x));
	unsigned different = 0, found = 0;

	assert_non_null(x);
	fill(x, nr);
	for (size_t i = 0; i < nr; i++) {
		uint32_t period = period_put(&detector.period, x[i]);

		if (i % PERIOD_BATCH < PERIOD_BATCH - 1)
			continue;
		different += differences_at(&detector.period, x, i);
		different += period != locked(x, i, delays, 32);
		found += period != 0;
	}
	assert_int_equal(different, 0);
	free(x);
	free(detector.memory);
	return found;
}

static void equals_the_formula(void **state)
{
	unsigned found = 0;

	(void)state;
	found += compare(16, EVENTS / 2);
	found += compare(24, EVENTS / 8);
	found += compare(64, EVENTS / 4);
	found += compare(200, EVENTS / 16);
	found += compare(512, EVENTS / 16);
	assert_true(found > 100);
}

/* Runs are counted no further, but are not forgotten. */
static void long_runs_saturate(void **state)
{
	struct detector detector = detector_new(16, 32);

	(void)state;
	for (unsigned i = 0; i < 8 * 20000; i++)
		period_put(&detector.period, 5);
	assert_true(period_repeats(&detector.period, 16, PERIOD_MAX_RUN));
	for (unsigned i = 0; i < 8; i++)
		period_put(&detector.period, 6);
	assert_false(period_repeats(&detector.period, 16, 1));
	assert_true(period_repeats(&detector.period, 1, 7));
	assert_false(period_repeats(&detector.period, 1, 8));
	free(detector.memory);
}

static void random_streams_never_lock(void **state)
{
	const unsigned symbols[] = {2, 3, 8, 64};
	struct detector detector = detector_new(512, 32);

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		period_reset(&detector.period);
		for (unsigned i = 0; i < EVENTS; i++) {
			uint16_t event = (uint16_t)(1 + below(symbols[k]));

			assert_int_equal(period_put(&detector.period, event), 0);
		}
	}
	free(detector.memory);
}

/* After three iterations, and 32 events that are equal to earlier ones. */
static void locks_after_three_iterations(void **state)
{
	struct detector detector = detector_new(512, 32);

	(void)state;
	for (uint32_t m = 1; m <= 512; m++) {
		uint32_t wanted = m + (2 * m > 32 ? 2 * m : 32), nr = 0, found = 0;

		period_reset(&detector.period);
		while (!found)
			found = period_put(&detector.period, (uint16_t)(1 + nr++ % m));
		assert_int_equal(found, m);
		assert_int_equal(nr, (wanted + PERIOD_BATCH - 1) / PERIOD_BATCH * PERIOD_BATCH);
	}
	free(detector.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_the_formula),
		cmocka_unit_test(long_runs_saturate),
		cmocka_unit_test(random_streams_never_lock),
		cmocka_unit_test(locks_after_three_iterations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
