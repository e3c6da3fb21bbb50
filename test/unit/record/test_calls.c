
#include "cases.h"
#include "record/calls/calls.h"
#include "record/calls/calls_socket.h"

#include <stdlib.h>

/*
 * What a target finds in its environment; which calls a policy gives up first, and what becomes of
 * their messages; the clock.
 */

/* What becomes of a variable that is there beside another one. */
static void check_preload(const char *before, const char *after)
{
	const struct calls_socket at = {.name = "n", .key = "k"};
	char *environment[] = {(char *)"A=1", (char *)before, (char *)"ADAPTRACE_CALLS=old", NULL};
	char **variables = calls_socket_environment(&at, environment, &call_libraries[CALLS_USER],
	                                            "/lib/ours.so");

	assert_non_null(variables);
	assert_ptr_equal(variables[0], environment[0]);
	assert_string_equal(variables[1], after);
	assert_string_equal(variables[2], "ADAPTRACE_CALLS=n:k");
	assert_null(variables[3]);
	free(variables);
}

static void test_environment(void **state)
{
	(void)state;
	check_preload("LD_PRELOAD=", "LD_PRELOAD=/lib/ours.so");
	check_preload("LD_PRELOAD=/a.so b.so", "LD_PRELOAD=/lib/ours.so:/a.so b.so");
	check_preload("LD_PRELOAD=/a.so:/lib/ours.so", "LD_PRELOAD=/a.so:/lib/ours.so");
}

/* Each number of a ring belongs to one source; its region has a class of this source. */
static void test_sources(void **state)
{
	const struct call_library *mpi = &call_libraries[CALLS_MPI];

	(void)state;
	assert_null(call_library_of(mpi->nr));
	for (uint32_t i = 0; i < mpi->nr; i++) {
		const struct region_traits *traits = region_traits(mpi->regions[i].region_class);

		assert_ptr_equal(call_library_of(i), mpi);
		assert_int_equal(traits->source, CALLS_MPI);
		assert_int_equal(call_class_of(i), traits->policy_class);
		assert_memory_equal(mpi->regions[i].name, "MPI_", 4);
	}
	assert_ptr_equal(call_library_of(RING_USER_REGIONS), &call_libraries[CALLS_USER]);
	assert_int_equal(call_class_of(RING_USER_REGIONS + 7), CLASS_USER);
	for (uint32_t i = 0; i <= NR_TRACE_REGION_CLASSES; i++) {
		assert_non_null(region_traits(i)->word);
		assert_int_equal(trace_region_is_mpi(i), i <= TRACE_MPI_IO);
	}
	assert_string_equal(region_traits(UINT32_MAX)->word, "unknown");
	assert_false(trace_region_is_mpi(UINT32_MAX));
}

static unsigned level(enum trace_policy policy, enum call_class class, uint64_t ns, uint32_t depth)
{
	const struct call call = {.enter = 1000, .leave = 1000 + ns, .depth = depth};

	return calls_level(policy, class, &call);
}

static void test_levels(void **state)
{
	(void)state;
	assert_int_equal(level(TRACE_POLICY_ALL, CLASS_USER, 5000, 3), 0);
	assert_true(level(TRACE_POLICY_CLASS, CLASS_POINT_TO_POINT, 1, 0) <
	            level(TRACE_POLICY_CLASS, CLASS_COLLECTIVE, 1, 0));
	assert_true(level(TRACE_POLICY_CLASS, CLASS_COLLECTIVE, 1, 0) <
	            level(TRACE_POLICY_CLASS, CLASS_USER, 1, 0));
	assert_true(level(TRACE_POLICY_DEPTH, CLASS_POINT_TO_POINT, 1, 9) <
	            level(TRACE_POLICY_DEPTH, CLASS_POINT_TO_POINT, 1, 8));
	assert_int_equal(level(TRACE_POLICY_DEPTH, CLASS_POINT_TO_POINT, 1, 0), NR_LEVELS - 1);
	assert_int_equal(level(TRACE_POLICY_DEPTH, CLASS_POINT_TO_POINT, 1, 1000), 0);
	assert_int_equal(level(TRACE_POLICY_DURATION, CLASS_POINT_TO_POINT, 0, 0), 0);
	assert_int_equal(level(TRACE_POLICY_DURATION, CLASS_POINT_TO_POINT, 1023, 0), 9);
	assert_int_equal(level(TRACE_POLICY_DURATION, CLASS_POINT_TO_POINT, 1024, 0), 10);
	/* Calls of no iteration go by moments. */
	assert_int_equal(level(TRACE_POLICY_ITERATIONS, CLASS_USER, UINT64_C(1) << 30, 0),
	                 level(TRACE_POLICY_TIME, CLASS_USER, UINT64_C(1) << 30, 0));
}

/* A reset opens all levels again, and asks for the same calls as at the start. */
static void test_closed_classes(void **state)
{
	struct calls_config config = {.policy = TRACE_POLICY_CLASS};
	const uint32_t all = (1U << NR_CALL_CLASSES) - 1;

	(void)state;
	for (unsigned polls = 0; polls < 2; polls++) {
		const uint32_t always = polls ? 0 : RING_NO_POLLS;

		config.polls = polls;
		assert_int_equal(calls_closed(&config, 0), always);
		assert_int_equal(calls_closed(&config, 2), always | 3);
		assert_int_equal(calls_closed(&config, NR_LEVELS), always | all);
	}
	config.policy = TRACE_POLICY_ALL;
	assert_int_equal(calls_closed(&config, 2), 0);
	assert_int_equal(calls_closed(&config, NR_LEVELS), all);
}

/* A call has the highest level of the moments that it touches. */
static void test_moments(void **state)
{
	const uint64_t moment = (uint64_t)1 << RING_MOMENT_SHIFT;

	(void)state;
	for (uint64_t first = 1; first < 70; first++)
		for (uint64_t last = first; last < 70; last++) {
			unsigned most = 0;

			for (uint64_t i = first; i <= last; i++)
				if ((unsigned)__builtin_ctzll(i) > most)
					most = (unsigned)__builtin_ctzll(i);
			assert_int_equal(ring_moment_level(first * moment, last * moment + 5),
			                 most);
		}
	assert_true(ring_moment_level(0, 5) < NR_LEVELS);
	assert_true(ring_moment_level(UINT64_MAX, UINT64_MAX) < NR_LEVELS);
}

static unsigned strip(enum trace_policy policy, enum call_part_type kind, struct call_part *part)
{
	*part = (struct call_part){.type = (uint8_t)kind, .peer = 3, .bytes = 8, .request = 5};
	return calls_strip(policy, part, 1);
}

static void test_messages_belong_to_one_call(void **state)
{
	static const enum call_part_type halves[] = {CALL_RECEIVE_POSTED, CALL_SEND_DONE,
	                                             CALL_TEST_FAILED, CALL_CANCELLED};
	struct call_part part;

	(void)state;
	for (unsigned kind = 0; kind < NR_CALL_PARTS; kind++) {
		assert_int_equal(strip(TRACE_POLICY_ALL, kind, &part), 1);
		assert_int_equal(part.type, kind);
		assert_int_equal(strip(TRACE_POLICY_ITERATIONS, kind, &part), 1);
		assert_int_equal(part.type, kind);
		assert_int_equal(part.request, 5);
	}
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(strip(TRACE_POLICY_DURATION, halves[i], &part), 0);
		assert_int_equal(strip(TRACE_POLICY_DEPTH, halves[i], &part), 0);
		assert_int_equal(strip(TRACE_POLICY_CLASS, halves[i], &part), 1);
	}
	assert_int_equal(strip(TRACE_POLICY_DURATION, CALL_SEND_POSTED, &part), 1);
	assert_int_equal(part.type, CALL_SEND);
	assert_int_equal(part.request, 0);
	assert_int_equal(part.peer, 3);
	assert_int_equal(strip(TRACE_POLICY_DEPTH, CALL_RECEIVE_DONE, &part), 1);
	assert_int_equal(part.type, CALL_RECEIVE);
	/* The completion of a collective is of another class than the collective. */
	assert_int_equal(strip(TRACE_POLICY_CLASS, CALL_COLLECTIVE_POSTED, &part), 1);
	assert_int_equal(part.type, CALL_COLLECTIVE);
	assert_int_equal(strip(TRACE_POLICY_CLASS, CALL_COLLECTIVE_DONE, &part), 0);
}

/* What ends a transfer is a call of another class, and of another depth. */
static void test_transfers_belong_to_one_call(void **state)
{
	static const enum trace_policy policies[] = {TRACE_POLICY_CLASS, TRACE_POLICY_DEPTH,
	                                             TRACE_POLICY_DURATION};
	struct call_part part;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		part = (struct call_part){
			.type = CALL_READ_POSTED, .comm = 2, .bytes_in = 40, .request = 5};
		assert_int_equal(calls_strip(policies[i], &part, 1), 1);
		assert_int_equal(part.type, CALL_FILE_READ);
		assert_int_equal(part.comm, 2);
		assert_int_equal(part.bytes, 40);
		assert_int_equal(part.bytes_in, 40);
		assert_int_equal(part.request, 0);
		assert_int_equal(strip(policies[i], CALL_WRITE_POSTED, &part), 1);
		assert_int_equal(part.type, CALL_FILE_WRITE);
		assert_int_equal(strip(policies[i], CALL_READ_DONE, &part), 0);
		assert_int_equal(strip(policies[i], CALL_WRITE_DONE, &part), 0);
	}
}

/* A counter of 3 GHz, and time that is slewed now and then. */
static void test_clock(void **state)
{
	static struct calls_clock clock;
	uint64_t ticks = 1000000, ns = 5000, last = 0;
	double rate = 1 / 3.0;

	(void)state;
	clock = (struct calls_clock){.source = RING_CLOCK_COUNTER, .distance = 100000000};
	calls_clock_note(&clock, ticks, ns);
	for (unsigned i = 0; i < 300000; i++) {
		uint64_t middle = ticks + 15000000, at;

		if (i % 5000 == 0)
			rate *= i % 10000 ? 1 + 2e-4 : 1 - 2e-4;
		ticks += 30000000;
		ns += (uint64_t)(30000000 * rate);
		calls_clock_note(&clock, ticks, ns);
		at = calls_clock_ns(&clock, middle);
		assert_true(at > last);
		assert_true(at + (uint64_t)(15000000 * rate) + 100000 > ns);
		assert_in_range(calls_clock_ns(&clock, ticks), ns, ns);
		last = at;
	}
	assert_true(clock.nr < CALLS_CLOCK_POINTS);
	/* Of long ago the clock still knows, and never backwards. */
	last = 0;
	for (uint64_t t = 1000000; t < ticks; t += ticks / 10000) {
		uint64_t at = calls_clock_ns(&clock, t);

		assert_true(at >= last);
		assert_true(at > (double)t / 3 * 0.999 - 1e6 && at < (double)t / 3 * 1.001 + 1e6);
		last = at;
	}
	/* Nonsense of a target stays inside. */
	assert_int_equal(calls_clock_ns(&clock, 0), 5000);
	assert_int_equal(calls_clock_ns(&clock, UINT64_MAX), ns);
}

static void test_clock_here(void **state)
{
	static struct calls_clock clock;

	(void)state;
	calls_clock_init(&clock);
	for (unsigned i = 0; i < 100; i++) {
		uint64_t before = ring_ticks(RING_CLOCK_MONOTONIC),
			 ticks = ring_ticks(clock.source), after = ring_ticks(RING_CLOCK_MONOTONIC);

		calls_clock_read(&clock);
		assert_in_range(calls_clock_ns(&clock, ticks), before - clock.error,
		                after + clock.error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_closed_classes),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_messages_belong_to_one_call),
		cmocka_unit_test(test_transfers_belong_to_one_call),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_clock_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
