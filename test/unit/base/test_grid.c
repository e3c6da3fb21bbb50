#include "cases.h"
#include "base/grid.h"

#define BASE   97081
#define SECOND 1000000000ULL

static void instants_are_a_period_apart(void **state)
{
	const struct grid grid = {BASE, 0};
	uint64_t time = 5 * SECOND, epoch = grid_epoch(&grid, time);
	uint64_t first = grid_next(&grid, epoch, time);

	(void)state;
	assert_int_equal(epoch, time);
	assert_in_range(first, time, time + BASE - 1);
	assert_int_equal(grid_next(&grid, epoch, first), first);
	assert_int_equal(grid_next(&grid, epoch, first + 1), first + BASE);
	assert_int_equal(grid_distance(&grid, epoch, first), 0);
	assert_int_equal(grid_distance(&grid, epoch, first + 7), 7);
	assert_int_equal(grid_distance(&grid, epoch, first + BASE - 7), -7);
	assert_int_equal(grid_distance(&grid, epoch, first + 1000ULL * BASE - 7), -7);
}

static void slower_grids_are_parts_of_faster_ones(void **state)
{
	const struct grid fast = {BASE, 0};

	(void)state;
	for (unsigned shift = 1; shift <= 3; shift++) {
		const struct grid slow = {BASE, shift};
		uint64_t time = 1234 * SECOND + 987654321, epoch = grid_epoch(&slow, time);
		uint64_t instant = grid_next(&slow, epoch, time);

		assert_int_equal(epoch, grid_epoch(&fast, time));
		assert_int_equal(grid_distance(&fast, epoch, instant), 0);
		assert_int_equal(grid_next(&slow, epoch, instant + 1) - instant, BASE << shift);
	}
}

/* A program in lockstep with one epoch's grid is not in lockstep with the next one's. */
static void epochs_differ(void **state)
{
	const struct grid grid = {BASE, 0};
	unsigned hit[10] = {0};

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		uint64_t epoch = i * SECOND;

		hit[(grid_next(&grid, epoch, 0) % BASE) * 10 / BASE]++;
	}
	for (unsigned i = 0; i < 10; i++)
		assert_in_range(hit[i], 8, 12);
}

static void epochs_have_many_periods(void **state)
{
	const struct grid grid = {10000000, 0}, slowest = {(uint64_t)1 << 56, 0};
	uint64_t time = 100 * SECOND;

	(void)state;
	assert_int_equal(grid_epoch(&grid, time), 96 * SECOND);
	assert_int_equal(grid_epoch(&slowest, time), 0);
	assert_in_range(grid_next(&slowest, 0, time), time, (uint64_t)1 << 57);
}

static void times_before_the_first_instant_have_a_distance(void **state)
{
	const struct grid grid = {BASE, 0};
	uint64_t epoch = SECOND, first = grid_next(&grid, epoch, 0);

	(void)state;
	assert_in_range(first, 1, BASE - 1);
	assert_int_equal(grid_distance(&grid, epoch, first - 1), -1);
	assert_int_equal(grid_next(&grid, epoch, first - 1), first);
}

/* Each instant of the fast grid is well within one tick of the slow one. */
static void ticks_hold_the_instants_of_faster_grids(void **state)
{
	const struct grid fast = {BASE, 0};

	(void)state;
	for (unsigned shift = 0; shift <= 3; shift++) {
		const struct grid grid = {BASE, shift};
		uint64_t time = 77 * SECOND + SECOND / 2, epoch = grid_epoch(&fast, time);
		struct grid_tick before = grid_tick(&grid, time), tick;

		for (unsigned i = 0; i < 100; i++) {
			time = grid_next(&fast, epoch, time + 1);
			tick = grid_tick(&grid, time);
			assert_in_range(tick.number, before.number, before.number + 1);
			assert_int_equal(grid_tick(&grid, time - BASE / 3).number, tick.number);
			assert_int_equal(grid_tick(&grid, time + BASE / 3).number, tick.number);
			assert_int_equal(grid_tick(&grid, tick.start).number, tick.number);
			assert_int_equal(grid_tick(&grid, tick.start - 1).number, tick.number - 1);
			assert_int_equal(grid_tick(&grid, tick.end - 1).number, tick.number);
			assert_int_equal(tick.end - tick.start, (uint64_t)BASE << shift);
			before = tick;
		}
	}
}

static void any_time_is_in_a_tick(void **state)
{
	const struct grid slowest = {(uint64_t)1 << 56, 0}, fastest = {1, 0};

	(void)state;
	assert_int_equal(grid_tick(&slowest, 0).number, 0);
	assert_true(grid_tick(&slowest, UINT64_MAX / 2).number < 1 << 8);
	assert_int_equal(grid_tick(&fastest, 0).number, 0);
	assert_true(grid_tick(&fastest, 0).end > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instants_are_a_period_apart),
		cmocka_unit_test(slower_grids_are_parts_of_faster_ones),
		cmocka_unit_test(epochs_differ),
		cmocka_unit_test(epochs_have_many_periods),
		cmocka_unit_test(times_before_the_first_instant_have_a_distance),
		cmocka_unit_test(ticks_hold_the_instants_of_faster_grids),
		cmocka_unit_test(any_time_is_in_a_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
