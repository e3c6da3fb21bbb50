#include "cases.h"
#include "record/program_cost.h"

#define SECOND 1000000000ULL

/* 16 CPUs at 2.5 kHz, with samples of 5 us. */
static struct cost_facts facts(void)
{
	return (struct cost_facts){
		.samples = 16 * 25000,
		.price = 5000,
		.busy = 160 * SECOND,
		.wall = 10 * SECOND,
	};
}

static void samples_at_different_times_add_up(void **state)
{
	struct cost_facts f = facts();
	struct program_cost cost = program_cost(&f);

	(void)state;
	assert_float_equal(cost.one_cpu, 0.0125, 1e-9);
	assert_float_equal(cost.coupled, 16 * 0.0125, 1e-9);
}

static void samples_in_step_cost_once(void **state)
{
	struct cost_facts f = facts();
	struct program_cost cost;

	(void)state;
	f.in_step = true;
	f.off = 1000;
	cost = program_cost(&f);
	assert_float_equal(cost.one_cpu, 0.0125, 1e-9);
	assert_float_equal(cost.coupled, 2500 * 7e-6, 1e-9);
	f.nr_unsteered = 2;
	cost = program_cost(&f);
	assert_float_equal(cost.coupled, 2500 * 7e-6 + 2 * 0.0125, 1e-9);
	f.off = 1000000; /* never more than apart */
	assert_float_equal(program_cost(&f).coupled, 16 * 0.0125, 1e-9);
}

/* 16 ranks with a recorder each: the same job as with one recorder for all. */
static void recorders_of_ranks_add_up_as_their_cpus_would(void **state)
{
	struct cost_facts f = facts();

	(void)state;
	f.samples /= 16;
	f.busy /= 16;
	f.nr_recordings = 16;
	assert_float_equal(program_cost(&f).one_cpu, 0.0125, 1e-9);
	assert_float_equal(program_cost(&f).coupled, 16 * 0.0125, 1e-9);
	f.in_step = true;
	f.off = 1000;
	assert_float_equal(program_cost(&f).coupled, 2500 * 7e-6, 1e-9);
	f.nr_unsteered = 1;
	assert_float_equal(program_cost(&f).coupled, 16 * 0.0125, 1e-9);
	f.samples = 0;
	f.recorder = SECOND / 100;
	assert_float_equal(program_cost(&f).coupled, 0.001, 1e-9);
	f.in_step = false; /* they wake at different times */
	assert_float_equal(program_cost(&f).coupled, 0.016, 1e-9);
}

static void one_cpu_waits_for_none(void **state)
{
	struct cost_facts f = facts();
	struct program_cost cost;

	(void)state;
	f.busy = f.wall / 2;
	f.samples = 12500;
	cost = program_cost(&f);
	assert_float_equal(cost.one_cpu, 0.0125, 1e-9);
	assert_float_equal(cost.coupled, 0.0125, 1e-9);
}

static void the_recorder_and_calls_cost_too(void **state)
{
	struct cost_facts f = facts();
	struct program_cost cost;

	(void)state;
	f.samples = 0;
	f.recorder = SECOND;
	f.calls = 16 * SECOND;
	cost = program_cost(&f);
	assert_float_equal(cost.one_cpu, 17 / 160., 1e-9);
	assert_float_equal(cost.coupled, 0.1 + 0.1, 1e-9);
}

/* At 10 kHz, where a sample takes 56 us. */
static void no_program_loses_more_than_all(void **state)
{
	struct cost_facts f = facts();
	struct program_cost cost;

	(void)state;
	f.samples = 16 * 100000;
	f.price = 56000;
	cost = program_cost(&f);
	assert_float_equal(cost.one_cpu, 0.56, 1e-9);
	assert_float_equal(cost.coupled, 1, 1e-9);
	f.recorder = f.busy;
	assert_float_equal(program_cost(&f).one_cpu, 1, 1e-9);
}

static void nothing_is_known_of_nothing(void **state)
{
	const struct cost_facts none = {.samples = 3, .price = 5000};
	struct program_cost cost = program_cost(&none);

	(void)state;
	assert_true(cost.one_cpu == 0 && cost.coupled == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_at_different_times_add_up),
		cmocka_unit_test(samples_in_step_cost_once),
		cmocka_unit_test(recorders_of_ranks_add_up_as_their_cpus_would),
		cmocka_unit_test(one_cpu_waits_for_none),
		cmocka_unit_test(the_recorder_and_calls_cost_too),
		cmocka_unit_test(no_program_loses_more_than_all),
		cmocka_unit_test(nothing_is_known_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
