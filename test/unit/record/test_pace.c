#include "cases.h"
#include "base/grid.h"
#include "record/pace.h"

#define MS UINT64_C(1000000)

/* --- how often -------------------------------------------------------------------------------- */

static void intervals_are_tenths_of_a_second_halved(void **state)
{
	(void)state;
	assert_int_equal(pace_interval(UINT64_MAX), 100 * MS);
	assert_int_equal(pace_interval(100 * MS), 100 * MS);
	assert_int_equal(pace_interval(100 * MS - 1), 50 * MS);
	assert_int_equal(pace_interval(25 * MS), 25 * MS);
	assert_int_equal(pace_interval(13 * MS), 12 * MS + MS / 2);
	assert_int_equal(pace_interval(0), PACE_SHORTEST);
}

/* Wakes up at its interval, with rings that fill at this share of one a ms. */
static void run(struct pace *pace, uint64_t *now, double rate, unsigned times)
{
	while (times--) {
		*now += pace->interval;
		pace_note_fill(pace, rate * (double)pace->interval / MS, *now);
	}
}

static void no_ring_fills_by_more_than_a_quarter(void **state)
{
	uint64_t now = 5 * MS;
	struct pace pace;

	(void)state;
	pace_begin(&pace, now);
	for (double rate = 0.0001; rate < 0.15; rate *= 1.7) {
		run(&pace, &now, rate, 10);
		assert_true(rate * (double)pace.interval / MS <= 0.25);
		assert_true(pace.interval == 100 * MS ||
		            rate * 2 * (double)pace.interval / MS > 0.25);
	}
	run(&pace, &now, 10, 1);
	assert_int_equal(pace.interval, PACE_SHORTEST);
}

/* A pause of the program does not make the recorder sleep through the burst that follows. */
static void intervals_lengthen_step_by_step(void **state)
{
	uint64_t now = 5 * MS;
	struct pace pace;

	(void)state;
	pace_begin(&pace, now);
	run(&pace, &now, 0.25 / 6, 10);
	assert_int_equal(pace.interval, 3 * MS + MS / 8);
	run(&pace, &now, 0, 1);
	assert_int_equal(pace.interval, 6 * MS + MS / 4);
	run(&pace, &now, 0, 20);
	assert_int_equal(pace.interval, 100 * MS);
}

/* Drains right after each other say nothing about the rate. */
static void successive_drains_change_nothing(void **state)
{
	uint64_t now = 5 * MS;
	struct pace pace;

	(void)state;
	pace_begin(&pace, now);
	for (unsigned i = 1; i < 8; i++)
		pace_note_fill(&pace, 0.1, now + i * MS / 10);
	assert_int_equal(pace.interval, 12 * MS + MS / 2);
	/* Nor does one after days in which the recorder was stopped. */
	pace_note_fill(&pace, 1e-9, UINT64_MAX / 2);
	assert_int_equal(pace.interval, 25 * MS);
}

/* --- when ------------------------------------------------------------------------------------- */

/* Whenever they begin. */
static void recorders_wake_at_the_same_instants(void **state)
{
	(void)state;
	for (uint64_t start = 777 * MS; start < 877 * MS; start += 3 * MS + 7) {
		uint64_t one = start, other = start + 41 * MS + 13;

		while (one != other) {
			uint64_t *behind = one < other ? &one : &other;

			*behind = pace_next(25 * MS, 97081, *behind);
			assert_true(one < start + 200 * MS);
		}
	}
}

static void slow_recorders_wake_when_fast_ones_do(void **state)
{
	static const uint64_t periods[] = {0, 97081, 970817, 9708121};

	(void)state;
	for (unsigned i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		uint64_t slow = pace_next(100 * MS, periods[i], 12345 * MS), fast = 12345 * MS;

		while (fast < slow)
			fast = pace_next(PACE_SHORTEST, periods[i], fast);
		assert_int_equal(fast, slow);
	}
}

static void wake_ups_are_between_instants_of_the_grid(void **state)
{
	const struct grid grid = {.base = 97081};
	uint64_t now = 999 * MS;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		uint64_t next = pace_next(50 * MS, grid.base, now);
		int64_t distance = grid_distance(&grid, grid_epoch(&grid, next), next);

		assert_in_range(next - now, 4 * MS, 100 * MS);
		assert_true(distance >= 97081 / 2 - 1 || distance <= -97081 / 2 + 1);
		now = next;
	}
	assert_int_equal(pace_next(50 * MS, 0, 120 * MS), 150 * MS);
	assert_int_equal(pace_next(50 * MS, 0, 149 * MS), 200 * MS);
	/* A grid that is as coarse as the interval moves nothing. */
	assert_int_equal(pace_next(50 * MS, 10 * MS, 120 * MS), 150 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_tenths_of_a_second_halved),
		cmocka_unit_test(no_ring_fills_by_more_than_a_quarter),
		cmocka_unit_test(intervals_lengthen_step_by_step),
		cmocka_unit_test(successive_drains_change_nothing),
		cmocka_unit_test(recorders_wake_at_the_same_instants),
		cmocka_unit_test(slow_recorders_wake_when_fast_ones_do),
		cmocka_unit_test(wake_ups_are_between_instants_of_the_grid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
