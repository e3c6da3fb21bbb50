#include "cases.h"
#include "record/overhead_guard.h"

#define SECOND ((uint64_t)1000000000)

/* An interval of one second in which the recorder used this much more than nothing. */
static struct overhead_guard interval(uint64_t own_ns)
{
	struct overhead_guard guard;

	overhead_guard_init(&guard, 0.05, 10000);
	guard.since = 1;
	guard.cpu_since = overhead_guard_cpu_time() - own_ns;
	return guard;
}

static void test_initial_shift(void **state)
{
	struct overhead_guard guard;

	(void)state;
	overhead_guard_init(&guard, 0.05, 10000);
	assert_int_equal(overhead_guard_initial_shift(&guard, 400000), 0);
	assert_int_equal(overhead_guard_initial_shift(&guard, 399999), 1);
	assert_int_equal(overhead_guard_initial_shift(&guard, 97081), 3);
	/* what three clocks may cost is for all of them */
	guard.nr_clocks = 3;
	assert_int_equal(overhead_guard_initial_shift(&guard, 1200000), 0);
	assert_int_equal(overhead_guard_initial_shift(&guard, 1199999), 1);
	overhead_guard_init(&guard, 0, 10000);
	assert_int_equal(overhead_guard_initial_shift(&guard, 1), 0);
	overhead_guard_init(&guard, 0.05, 10 * SECOND);
	assert_int_equal(overhead_guard_initial_shift(&guard, 1), 20);
	/* a price that could not be measured, and no limit: the kernel has one all the same */
	overhead_guard_init(&guard, 0, 0);
	guard.max_rate = 500;
	assert_int_equal(overhead_guard_initial_shift(&guard, 4 * SECOND / 1000), 0);
	assert_int_equal(overhead_guard_initial_shift(&guard, 4 * SECOND / 1000 - 1), 1);
	guard.max_rate = 12300;
	assert_int_equal(overhead_guard_initial_shift(&guard, 97081), 1);
	guard.max_rate = 12301;
	assert_int_equal(overhead_guard_initial_shift(&guard, 97081), 0);
}

/* It stands for the target's where that is not known. */
static void test_time_of_the_machine(void **state)
{
	static const struct {
		unsigned nr_cpus;
		double max_overhead;
		bool exceeded;
	} rows[] = {{1, 0.05, true}, {64, 0.05, false}, {4, 0.2, false}, {1, 0, false}};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct overhead_guard guard = interval(SECOND / 2);

		guard.max_overhead = rows[i].max_overhead;
		guard.samples = 10000;
		assert_int_equal(overhead_guard_exceeded(&guard, SECOND + 1, rows[i].nr_cpus),
		                 rows[i].exceeded);
	}
}

static void test_own_time(void **state)
{
	struct overhead_guard guard = interval(SECOND / 2);

	(void)state;
	guard.target_ns = SECOND;
	guard.samples = 10000;
	assert_true(overhead_guard_exceeded(&guard, SECOND + 1, 1));
	/* the interval has begun anew */
	assert_false(overhead_guard_exceeded(&guard, SECOND + 2, 1));
	assert_int_equal(guard.samples, 0);
}

/* A flood of mappings or tasks is no reason to sample less. */
static void test_own_time_without_samples(void **state)
{
	struct overhead_guard guard = interval(SECOND);

	(void)state;
	guard.target_ns = SECOND;
	guard.samples = 100;
	assert_false(overhead_guard_exceeded(&guard, SECOND + 1, 1));
}

static void test_own_time_beside_others(void **state)
{
	struct overhead_guard guard = interval(SECOND / 10);

	(void)state;
	guard.target_ns = SECOND;
	guard.samples = 10000;
	guard.others_ns = SECOND / 10;
	assert_false(overhead_guard_exceeded(&guard, SECOND + 1, 1));
	assert_int_equal(guard.others_ns, 0);
}

static void test_price_of_counters(void **state)
{
	struct overhead_guard guard = interval(0);

	(void)state;
	guard.target_ns = SECOND;
	guard.samples = 10000;
	guard.unbounded = 10000;
	assert_true(overhead_guard_exceeded(&guard, SECOND + 1, 1));
	guard = interval(0);
	guard.target_ns = SECOND;
	guard.samples = 10000;
	guard.unbounded = 100;
	assert_false(overhead_guard_exceeded(&guard, SECOND + 1, 1));
}

/* 1000 samples of 10 us in a second of the target: 1 % of its time, of 5 % that it may lose. */
static struct overhead_guard sampled(uint64_t own_ns)
{
	struct overhead_guard guard = interval(own_ns);

	guard.target_ns = SECOND;
	guard.samples = 1000;
	return guard;
}

/* The recorder may take 4 % where it stops the target, and 5 % where it does not. */
static void test_sum_with_own_time(void **state)
{
	struct overhead_guard guard = sampled(SECOND / 1000 * 45);

	(void)state;
	assert_false(overhead_guard_exceeded(&guard, SECOND + 1, 1));
	guard = sampled(SECOND / 1000 * 45);
	guard.beside_ns = SECOND / 1000 * 39;
	assert_false(overhead_guard_exceeded(&guard, SECOND + 1, 1));
	guard = sampled(SECOND / 1000 * 45);
	guard.beside_ns = SECOND / 1000 * 41;
	assert_true(overhead_guard_exceeded(&guard, SECOND + 1, 1));
	/* what samples did not cause counts for nothing */
	guard = sampled(SECOND / 1000 * 45);
	guard.beside_ns = SECOND / 1000 * 41;
	guard.others_ns = SECOND / 1000 * 10;
	assert_false(overhead_guard_exceeded(&guard, SECOND + 1, 1));
}

/* Calls leave less for samples, but never less than half: 2.5 %. */
static void test_sum_with_calls(void **state)
{
	static const struct {
		unsigned samples, calls_ms;
		bool exceeded;
	} rows[] = {{3000, 19, false}, {3000, 21, true}, {2400, 1000, false}, {2600, 1000, true}};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct overhead_guard guard = sampled(0);

		guard.samples = rows[i].samples;
		guard.calls_ns = rows[i].calls_ms * SECOND / 1000;
		assert_int_equal(overhead_guard_exceeded(&guard, SECOND + 1, 1), rows[i].exceeded);
	}
}

/* The CPUs wait from the first sample of a tick to the last. */
static void test_sum_with_spread(void **state)
{
	struct overhead_guard guard = sampled(0);

	(void)state;
	guard.samples = 3000;
	guard.spread = 6000;
	assert_false(overhead_guard_exceeded(&guard, SECOND + 1, 1));
	guard.target_ns = SECOND;
	guard.samples = 3000;
	assert_int_equal(guard.spread, 6000);
	guard.spread = 7000;
	assert_true(overhead_guard_exceeded(&guard, 2 * SECOND + 2, 1));
	/* no more than as much again: CPUs that are so far apart need not wait for each other */
	guard = sampled(0);
	guard.samples = 2400;
	guard.spread = SECOND;
	assert_false(overhead_guard_exceeded(&guard, SECOND + 1, 1));
}

/* What used next to nothing is not worth a judgement, whatever its samples cost. */
static void test_waiting_target(void **state)
{
	struct overhead_guard guard = interval(SECOND / 2);

	(void)state;
	guard.target_ns = SECOND / 20;
	guard.samples = 10000;
	assert_false(overhead_guard_exceeded(&guard, SECOND + 1, 1));
}

/* Each interval is judged by the same share, and by what was used in it alone. */
static void test_intervals(void **state)
{
	struct overhead_guard guard = interval(SECOND / 2);

	(void)state;
	for (unsigned i = 1; i <= 6; i++) {
		const uint64_t before = overhead_guard_cpu_time();
		bool costly = i % 2;

		guard.target_ns = SECOND;
		guard.samples = 10000;
		if (costly && i > 1)
			guard.cpu_since -= SECOND / 2;
		assert_int_equal(overhead_guard_exceeded(&guard, i * SECOND + 1, 1), costly);
		assert_true(guard.cpu_since >= before);
	}
}

/* The target's time is told from its start on, of which an interval has its part. */
static void test_told_time(void **state)
{
	struct overhead_guard guard = interval(0);

	(void)state;
	overhead_guard_target_time(&guard, 10 * SECOND);
	assert_int_equal(guard.target_ns, 0);
	overhead_guard_target_time(&guard, 12 * SECOND);
	assert_int_equal(guard.target_ns, 2 * SECOND);
	overhead_guard_target_time(&guard, 0);
	assert_int_equal(guard.target_ns, 2 * SECOND);
	assert_false(overhead_guard_exceeded(&guard, SECOND + 1, 1));
	overhead_guard_target_time(&guard, 15 * SECOND);
	assert_int_equal(guard.target_ns, 3 * SECOND);
}

static void test_throttled(void **state)
{
	struct overhead_guard guard = interval(0);

	(void)state;
	guard.throttled = 1;
	assert_false(overhead_guard_exceeded(&guard, SECOND, 1)); /* not over yet */
	assert_true(overhead_guard_exceeded(&guard, SECOND + 1, 1));
}

static void test_lost(void **state)
{
	struct overhead_guard guard = interval(0);

	(void)state;
	guard.samples = 1000;
	guard.lost = 10;
	assert_false(overhead_guard_exceeded(&guard, SECOND + 1, 1));
	guard = interval(0);
	guard.samples = 1000;
	guard.lost = 11;
	assert_true(overhead_guard_exceeded(&guard, SECOND + 1, 1));
}

/* What a whole interval may cost is used up in a part of it. */
static void test_evident_price(void **state)
{
	struct overhead_guard guard = interval(0);

	(void)state;
	guard.target_ns = SECOND / 5;
	guard.samples = guard.unbounded = 2500; /* of 20 us each: as much as a second may cost */
	assert_false(overhead_guard_exceeded(&guard, SECOND / 5 + 1, 1));
	guard.samples = ++guard.unbounded;
	assert_true(overhead_guard_exceeded(&guard, SECOND / 5 + 1, 1));
	assert_int_equal(guard.since, SECOND / 5 + 1);
	assert_int_equal(guard.unbounded, 0);
}

/* Most samples are lost, and no stall of a moment did it. */
static void test_evident_loss(void **state)
{
	struct overhead_guard guard = interval(0);

	(void)state;
	guard.samples = 1000;
	guard.lost = 1255;
	assert_false(overhead_guard_exceeded(&guard, SECOND / 10 + 1, 1));
	guard.lost++;
	assert_false(overhead_guard_exceeded(&guard, SECOND / 10, 1));
	assert_true(overhead_guard_exceeded(&guard, SECOND / 10 + 1, 1));
	assert_int_equal(guard.lost, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_initial_shift),
		cmocka_unit_test(test_time_of_the_machine),
		cmocka_unit_test(test_own_time),
		cmocka_unit_test(test_own_time_without_samples),
		cmocka_unit_test(test_own_time_beside_others),
		cmocka_unit_test(test_price_of_counters),
		cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_sum_with_own_time),
		cmocka_unit_test(test_sum_with_calls),
		cmocka_unit_test(test_sum_with_spread),
		cmocka_unit_test(test_waiting_target),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_told_time),
		cmocka_unit_test(test_evident_price),
		cmocka_unit_test(test_evident_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
