#include "cases.h"

#include <stdbool.h>

#include "record/calls/calls_thin.h"

/* When calls cost too much, and how many of them are timed then. */

static const struct calls_price price = {15, 75};

#define SECOND UINT64_C(1000000000)

static double cost_with(const struct calls_thinning *thinning)
{
	double more = price.timed - price.untimed;

	return price.untimed + more / (1 << thinning->shift) + more / (1 << thinning->level);
}

/* Any limit that can be met is met, without more thinning than that takes. */
static void test_limits(void **state)
{
	struct calls_thinning thinning = calls_thinning_for(&price, 75);

	(void)state;
	assert_int_equal(thinning.shift, 0);
	for (double limit = 74; limit > 19; limit -= 0.5) {
		thinning = calls_thinning_for(&price, limit);
		assert_true(cost_with(&thinning) <= limit);
		assert_true(thinning.shift == 1 || cost_with(&thinning) > limit / 2);
	}
	thinning = calls_thinning_for(&price, 0.1);
	assert_true(cost_with(&thinning) < 1.2 * price.untimed);
	assert_int_equal(thinning.level, THIN_MAX_LEVEL);
}

static uint64_t look(struct calls_thread_cost *cost, uint64_t now, uint64_t calls, double share)
{
	const struct calls_look at = {.now = now, .cpu = now, .calls = calls, .share = share};

	return calls_thread_look(cost, &price, &at);
}

/* 100,000 calls a second cost 0.75 %, three million 22 %. */
static void test_rates(void **state)
{
	struct calls_thread_cost cost = {0};

	(void)state;
	look(&cost, SECOND, 0, 0.05);
	assert_int_equal(look(&cost, 2 * SECOND, 100000, 0.05), 7500000);
	assert_int_equal(cost.thinning.shift, 0);
	look(&cost, 3 * SECOND, 3100000, 0.05);
	assert_true(cost.thinning.shift > 3);
	/* Without a limit all calls are timed again, and rare ones always. */
	look(&cost, 4 * SECOND, 6100000, 0);
	assert_int_equal(cost.thinning.shift, 0);
	look(&cost, 5 * SECOND, 6100100, 1e-9);
	assert_int_equal(cost.thinning.shift, 0);
}

/* The same rate keeps its thinning, although calls that are not timed leave time for more of them.
 */
static void test_steady(void **state)
{
	struct calls_thread_cost cost = {0};
	unsigned shift;

	(void)state;
	look(&cost, SECOND, 0, 0.025);
	look(&cost, 2 * SECOND, 500000, 0.025);
	shift = cost.thinning.shift;
	assert_true(shift > 0);
	for (uint64_t i = 3; i < 10; i++) {
		look(&cost, i * SECOND, (i - 1) * 500000 + (i % 2) * 50000, 0.025);
		assert_in_range(cost.thinning.shift, shift, shift + 1);
	}
}

/* A thread of a process that mostly waits has only the CPU time that it used. */
static void test_waiting(void **state)
{
	struct calls_thread_cost cost = {0};
	struct calls_look at = {.now = SECOND, .cpu = 0, .share = 0.05};

	(void)state;
	calls_thread_look(&cost, &price, &at);
	at = (struct calls_look){
		.now = 2 * SECOND, .cpu = SECOND / 100, .calls = 100000, .share = 0.05};
	calls_thread_look(&cost, &price, &at);
	assert_true(cost.thinning.shift > 0);
	assert_int_equal(cost.changed, 2 * SECOND);
	at.now = 3 * SECOND;
	calls_thread_look(&cost, &price, &at);
	assert_int_equal(cost.changed, 2 * SECOND);
}

/* A target may count whatever it likes. */
static void test_lies(void **state)
{
	struct calls_thread_cost cost = {0};

	(void)state;
	look(&cost, SECOND, UINT64_MAX - 5, 0.05);
	assert_in_range(look(&cost, 2 * SECOND, UINT64_MAX, 0.05), 0, SECOND);
	assert_in_range(look(&cost, 3 * SECOND, 7, 0.05), 0, SECOND);
	assert_in_range(look(&cost, 4 * SECOND, UINT64_MAX / 2, 0.05), 0, SECOND);
}

static void test_price(void **state)
{
	struct calls_price measured = calls_price_measure(RING_CLOCK_MONOTONIC);

	(void)state;
	assert_true(measured.untimed > 0);
	assert_true(measured.timed > measured.untimed + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits), cmocka_unit_test(test_rates),
		cmocka_unit_test(test_steady), cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_lies),   cmocka_unit_test(test_price),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
