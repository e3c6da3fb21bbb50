#include "cases.h"
#include "perf/sampler/steered_timer.h"
#include "random.h"

#include <stdlib.h>

#define BASE      97081
#define SECOND    1000000000ULL
#define TOLERANCE 4000
#define LATENCY   3000 /* of a sample behind its timer, ns */

/* A timer of the kernel, and who steers it. */
struct world {
	struct grid grid;
	struct steered_timer timer;
	uint64_t now, next; /* when the timer expires */
	uint64_t delay;     /* of a restart */
	uint64_t dropped;   /* by restarts, ns */
	unsigned restarts;
	uint64_t seed;
};

static struct world world(unsigned shift)
{
	struct world w = {
		.grid = {BASE, shift},
		.now = 10 * SECOND,
		.next = 10 * SECOND + 31415,
		.delay = 42000,
		.seed = 1,
	};

	timer_init(&w.timer, TOLERANCE);
	return w;
}

static uint64_t period(const struct world *w)
{
	return w->grid.base << w->grid.shift;
}

/* Takes the samples up to a time. */
static void expire(struct world *w, uint64_t until, unsigned late_share)
{
	for (; w->next < until; w->next += period(w)) {
		bool late = random_below(&w->seed, 100) < late_share;

		timer_note(&w->timer, &w->grid,
		           w->next + LATENCY + random_below(&w->seed, 1000) + (late ? 30000 : 0));
	}
}

/* Runs until a time and then looks once, as the recorder does. */
static void run(struct world *w, uint64_t until, unsigned late_share)
{
	uint64_t effect;

	expire(w, until, late_share);
	w->now = until;
	if (!timer_is_off(&w->timer, &w->grid, w->now) || !timer_calls_paid(&w->timer))
		return;
	effect = timer_call_time(&w->timer, &w->grid, w->now, false) + w->delay;
	expire(w, effect, late_share);
	w->dropped += timer_elapsed(&w->timer, effect);
	w->next = effect + period(w);
	timer_restarted(&w->timer, &w->grid, w->now, 1, true, false);
	w->restarts++;
}

static void run_seconds(struct world *w, unsigned seconds, unsigned late_share)
{
	uint64_t end = w->now + seconds * SECOND;

	while (w->now < end)
		run(w, w->now + 20000000, late_share);
}

static int64_t distance(const struct world *w)
{
	return grid_distance(&w->grid, grid_epoch(&w->grid, w->now), w->next + LATENCY);
}

static void a_timer_comes_to_the_grid_and_stays(void **state)
{
	struct world w = world(0);

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		run_seconds(&w, 1, 0);
		run(&w, w.now + 20000000, 0); /* in the next epoch */
		run(&w, w.now + 20000000, 0);
		if (i > 0)
			assert_in_range(llabs(distance(&w)), 0, TOLERANCE);
	}
	assert_in_range(w.restarts, 10, 30);
	assert_false(timer_is_restless(&w.timer));
}

/* A delay that is not known yet is learned from one call, and calls that hit are not made again. */
static void one_call_teaches_the_delay(void **state)
{
	struct world w = world(0);

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		run(&w, w.now + 20000000, 0);
	assert_int_equal(w.restarts, 2);
	assert_in_range(llabs(distance(&w)), 0, TOLERANCE);
	assert_false(timer_is_missed(&w.timer));
}

static void calls_that_miss_are_told(void **state)
{
	struct world w = world(0);

	(void)state;
	for (unsigned i = 0; w.restarts < 3; i++) {
		w.delay = 10000 + w.restarts * 20000;
		run(&w, w.now + 20000000, 0);
	}
	run(&w, w.now + 5000000, 0);
	assert_true(timer_is_missed(&w.timer));
}

/* One interrupt in six comes 30 us late: that says nothing of the timer. */
static void late_samples_do_not_mislead(void **state)
{
	struct world w = world(0);

	(void)state;
	run_seconds(&w, 5, 16);
	run(&w, w.now + 20000000, 16);
	run(&w, w.now + 20000000, 16);
	assert_in_range(llabs(distance(&w)), 0, TOLERANCE);
	assert_in_range(w.restarts, 5, 30);
}

/* Each 30 ms another task runs for a while, and the timer continues behind it. */
static void a_preempted_timer_comes_back(void **state)
{
	struct world w = world(0);
	unsigned near = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		if (i % 3 == 0)
			w.next += 50000 + random_below(&w.seed, 200000);
		run(&w, w.now + 10000000, 0);
		near += llabs(distance(&w)) <= 5000;
	}
	assert_true(near > 600);
	assert_true(w.restarts <= w.timer.taken / TIMER_PATIENCE + 4);
}

static void restarts_are_bounded_where_they_fail(void **state)
{
	struct world w = world(0);

	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		w.delay = random_below(&w.seed, BASE);
		run(&w, w.now + 20000000, 0);
	}
	assert_in_range(w.restarts, 10, w.timer.taken / 200);
}

/* Tasks leave the CPU before nine samples in a row. */
static void a_restless_cpu_is_left_alone(void **state)
{
	struct world w = world(0);
	unsigned before;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		w.next += 20000 + random_below(&w.seed, 50000);
		run(&w, w.now + 5 * BASE, 0);
	}
	assert_true(timer_is_restless(&w.timer));
	before = w.restarts;
	for (unsigned i = 0; i < 100; i++) {
		w.next += 20000 + random_below(&w.seed, 50000);
		run(&w, w.now + 5 * BASE, 0);
	}
	assert_int_equal(w.restarts, before);
	run_seconds(&w, 3, 0); /* until it calms down */
	assert_true(w.restarts > before);
}

/* A thread moves to the other of two CPUs after nine samples at most. */
static void a_thread_that_moves_is_left_alone(void **state)
{
	struct world w = world(0);

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		timer_moved(&w.timer);
		run(&w, w.now + 5 * BASE, 0);
	}
	assert_true(timer_is_restless(&w.timer));
	assert_in_range(w.restarts, 0, 20);
	run_seconds(&w, 3, 0);
	run(&w, w.now + 20000000, 0);
	run(&w, w.now + 20000000, 0);
	assert_in_range(llabs(distance(&w)), 0, TOLERANCE);
}

/* Each look stops the thread for a while, so it is restarted at the end of each. */
static void a_timer_that_each_look_moves_is_kept(void **state)
{
	struct world w = world(0);

	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		uint64_t end = w.now + 100000000;

		for (; w.next < end; w.next += period(&w))
			timer_note(&w.timer, &w.grid, w.next + LATENCY);
		if (i > 3)
			assert_in_range(llabs(distance(&w)), 0, TOLERANCE);
		w.now = end;
		w.next += 50000 + random_below(&w.seed, 200000);
		assert_true(timer_is_steady(&w.timer, &w.grid, w.now));
		assert_true(timer_calls_paid(&w.timer));
		w.next = timer_call_time(&w.timer, &w.grid, w.now, true) + w.delay + period(&w);
		timer_restarted(&w.timer, &w.grid, w.now, 1, true, true);
	}
}

static void an_idle_cpu_is_left_alone(void **state)
{
	struct world w = world(0);

	(void)state;
	run(&w, w.now + 5000000, 0);
	w.restarts = 0;
	w.now += SECOND;
	assert_false(timer_is_off(&w.timer, &w.grid, w.now));
}

static void a_new_period_is_followed(void **state)
{
	struct world w = world(0);

	(void)state;
	run_seconds(&w, 2, 0);
	for (w.grid.shift = 1; w.grid.shift < 4; w.grid.shift++) {
		timer_lost(&w.timer);
		w.next += 12345;
		run_seconds(&w, 2, 0);
		run(&w, w.now + 40000000, 0);
		run(&w, w.now + 40000000, 0);
		assert_in_range(llabs(distance(&w)), 0, TOLERANCE);
	}
}

/* However many calls each restart takes, and whether it succeeds. */
static void all_calls_are_paid_for(void **state)
{
	(void)state;
	for (unsigned calls = 1; calls <= 4; calls++) {
		struct world w = world(0);
		unsigned samples = 0, made = 0;

		for (; samples < 5000; samples++) {
			/* Always half of a period off. */
			timer_note(&w.timer, &w.grid, w.next + BASE / 2);
			w.next += BASE;
			if (!timer_is_off(&w.timer, &w.grid, w.next) ||
			    timer_calls_paid(&w.timer) < calls)
				continue;
			made += calls;
			timer_restarted(&w.timer, &w.grid, w.next, calls, calls % 2, false);
			assert_true(made <= samples / TIMER_PATIENCE + 4);
		}
		assert_true(made > calls);
	}
}

/* The timer stops now and then for a moment, and so leaves the grid. */
static void restarts_tell_the_time_that_has_no_samples(void **state)
{
	struct world w = world(0);
	const uint64_t begin = w.next;
	uint64_t ran, told;

	(void)state;
	for (unsigned i = 0; i < 400; i++) {
		run_seconds(&w, 1, 2);
		w.next += 31000;
	}
	ran = w.next - begin - UINT64_C(400) * 31000;
	told = w.timer.taken * period(&w) + w.dropped;
	assert_in_range(w.restarts, 200, 2000);
	assert_true(w.dropped > 100 * period(&w));
	/* Samples are a little behind their timers, so that it is not told exactly. */
	assert_in_range(told + 60 * period(&w), ran, ran + 120 * period(&w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timer_comes_to_the_grid_and_stays),
		cmocka_unit_test(one_call_teaches_the_delay),
		cmocka_unit_test(calls_that_miss_are_told),
		cmocka_unit_test(late_samples_do_not_mislead),
		cmocka_unit_test(a_preempted_timer_comes_back),
		cmocka_unit_test(restarts_are_bounded_where_they_fail),
		cmocka_unit_test(a_restless_cpu_is_left_alone),
		cmocka_unit_test(a_thread_that_moves_is_left_alone),
		cmocka_unit_test(a_timer_that_each_look_moves_is_kept),
		cmocka_unit_test(an_idle_cpu_is_left_alone),
		cmocka_unit_test(a_new_period_is_followed),
		cmocka_unit_test(all_calls_are_paid_for),
		cmocka_unit_test(restarts_tell_the_time_that_has_no_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
