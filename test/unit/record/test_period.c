#include "cases.h"

#include <stdbool.h>
#include <string.h>

#include "record/period.h"

static const struct event clock_event = {.name = "cpu-clock", .unit = EVENT_NS};

static struct event counter(uint32_t type, uint64_t config)
{
	return (struct event){.unit = EVENT_COUNT, .attr = {.type = type, .config = config}};
}

static bool is_prime(uint64_t n)
{
	for (uint64_t d = 2; d * d <= n; d++)
		if (!(n % d))
			return false;
	return n > 1;
}

static void clocks_start_at_10_kHz(void **state)
{
	(void)state;
	assert_int_equal(period_base(&clock_event, 0, 0), 97081);
	assert_int_equal(period_base(&clock_event, 10000, 0), 97081);
}

/* A little faster than asked for, never slower, and never in lockstep with round times. */
static void clocks_are_prime_and_beside_the_round(void **state)
{
	static const double frequencies[] = {0.01, 1, 99, 100, 997, 1000, 4000, 49999, 90000};

	(void)state;
	for (size_t i = 0; i < sizeof(frequencies) / sizeof(frequencies[0]); i++) {
		double round = 1e9 / frequencies[i];
		uint64_t period = period_base(&clock_event, frequencies[i], 0);

		assert_true(is_prime(period));
		assert_true((double)period < round * 0.98);
		assert_true((double)period > round * 0.95);
	}
}

static void own_wishes_go_first(void **state)
{
	struct event often = {.name = "cpu-clock:freq=100", .unit = EVENT_NS, .freq = 100};
	struct event fixed = {.name = "cpu-clock:period=50000", .unit = EVENT_NS, .period = 50000};

	(void)state;
	assert_int_equal(period_base(&often, 0, 7), period_base(&clock_event, 100, 0));
	assert_int_equal(period_base(&often, 5000, 0), period_base(&clock_event, 100, 0));
	assert_int_equal(period_base(&fixed, 0, 7), 50000);
	assert_int_equal(period_base(&fixed, 5000, 0), 50000);
}

static void counters_start_as_asked_for(void **state)
{
	struct event cycles = counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	(void)state;
	assert_int_equal(period_base(&cycles, 0, 1000), 1000);
	assert_int_equal(period_base(&cycles, 0, 1), 1);
	assert_int_equal(period_base(&cycles, 500, 1000), 1000);
}

static void counters_start_with_a_guess(void **state)
{
	static const uint32_t types[] = {PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE, PERF_TYPE_RAW, 17};
	struct event event;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		event = counter(types[i], PERF_COUNT_HW_CACHE_MISSES);
		assert_true(period_base(&event, 0, 0) > 1000);
		assert_true(is_prime(period_base(&event, 0, 0)));
	}
	/* Rare ones are all wanted. */
	event = counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	assert_int_equal(period_base(&event, 0, 0), 1);
	event = counter(PERF_TYPE_TRACEPOINT, 300);
	assert_int_equal(period_base(&event, 0, 0), 1);
}

static void what_the_name_says_goes_first(void **state)
{
	struct event event = clock_event;

	(void)state;
	event.freq = 100;
	assert_int_equal(period_base(&event, 10000, 0), period_base(&clock_event, 100, 0));
	event.freq = 0;
	event.period = 12345;
	assert_int_equal(period_base(&event, 10000, 0), 12345);
	event = counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	event.period = 4711;
	assert_int_equal(period_base(&event, 0, 1000), 4711);
}

/* A shorter period is stretched by the kernel without a word, and weights would be wrong. */
static void clocks_are_no_faster_than_the_kernels(void **state)
{
	struct event event = clock_event;

	(void)state;
	assert_true(period_base(&clock_event, 100000, 0) * 98 / 100 >= 10000);
	assert_true(period_base(&clock_event, 1e12, 0) * 98 / 100 >= 10000);
	event.freq = UINT64_MAX;
	assert_true(period_base(&event, 0, 0) * 98 / 100 >= 10000);
	event.freq = 0;
	event.period = 1;
	assert_true(period_base(&event, 0, 0) * 98 / 100 >= 10000);
	event.unit = EVENT_COUNT;
	assert_int_equal(period_base(&event, 0, 0), 1);
}

/* Periods are in units, which an occurrence may be several of. */
static void what_stands_for_several_starts_later(void **state)
{
	struct event flops = counter(PERF_TYPE_RAW, 0x40c7);

	(void)state;
	flops.scale = 8;
	flops.usual = 1000003;
	assert_int_equal(period_base(&flops, 0, 0), 1000003);
	assert_int_equal(period_base(&flops, 0, 80000), 10000);
	assert_int_equal(period_base(&flops, 0, 80001), 10001);
	assert_int_equal(period_base(&flops, 0, 1), 1);
	flops.period = 16;
	assert_int_equal(period_base(&flops, 0, 80000), 2);
	flops.scale = 1;
	assert_int_equal(period_base(&flops, 0, 80000), 16);
}

/* Whoever asks for a place wants to see all that happens there. */
static void places_start_with_every_occurrence(void **state)
{
	struct event probe = counter(9, 0);

	(void)state;
	strcpy(probe.probe, "/bin/app");
	assert_int_equal(period_base(&probe, 0, 0), 1);
	assert_int_equal(period_base(&probe, 0, 100), 100);
	probe = counter(PERF_TYPE_BREAKPOINT, 0);
	assert_int_equal(period_base(&probe, 0, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_start_at_10_kHz),
		cmocka_unit_test(clocks_are_prime_and_beside_the_round),
		cmocka_unit_test(own_wishes_go_first),
		cmocka_unit_test(counters_start_as_asked_for),
		cmocka_unit_test(counters_start_with_a_guess),
		cmocka_unit_test(what_the_name_says_goes_first),
		cmocka_unit_test(clocks_are_no_faster_than_the_kernels),
		cmocka_unit_test(what_stands_for_several_starts_later),
		cmocka_unit_test(places_start_with_every_occurrence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
