/* Iterations that targets told of, as entries of the trace. */
#include "tables_folder.h"

#include <unistd.h>

#include "hmb/lambda.h"
#include "record/calls/calls_iterations.h"
#include "preload/call_ring.h"
#include "trace/trace_iterations.h"

enum { THREAD = 0, NR = 200, NS = 1234567 };

struct world {
	char folder[64];
	struct tables *tables;
	struct calls_iterations iterations;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->tables = tables_in_folder(w->folder, 128 << 10);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	calls_iterations_fini(&w->iterations);
	tables_free(w->tables);
	rmdir(w->folder);
	free(w);
	return 0;
}

static void add(struct world *w, uint32_t ordinal, unsigned flags, unsigned level)
{
	const struct calls_iteration iteration = {
		.begin = (uint64_t)ordinal * NS,
		.end = (ordinal + UINT64_C(1)) * NS,
		.begin_ticks = ordinal,
		.end_ticks = ordinal + 1,
		.calls = 12,
		.phase = 1,
		.ordinal = ordinal,
		.flags = (uint8_t)flags,
		.has_point = true,
		.collectives = 3 * ordinal,
		.balance = ordinal + 7,
	};

	calls_iterations_add(&w->iterations, w->tables, THREAD, &iteration, level);
}

static uint32_t nr_entries(const struct world *w)
{
	return tables_section(w->tables, TRACE_ITERATIONS).nr;
}

/* Level of an iteration, by the entries; its calls must be those that were stored. */
static unsigned level_of(const struct world *w, uint32_t ordinal, bool *stored)
{
	for (uint32_t i = 0; i < nr_entries(w); i++) {
		const struct trace_iterations *entry = tables_iterations(w->tables, i);

		if (ordinal - entry->ordinal < entry->nr) {
			unsigned at = ordinal - entry->ordinal;

			*stored = trace_iteration_pattern(entry, at) & TRACE_ITERATION_STORED;
			return trace_iteration_level(entry, at);
		}
	}
	fail();
	return 0;
}

/* Levels that follow from ordinals take no room, nor do those of iterations without calls. */
static void test_usual_levels(void **state)
{
	struct world *w = *state;
	bool stored;

	for (uint32_t i = 1; i <= NR; i++)
		add(w, i, i <= NR / 2 ? RING_ITERATION_STORED : RING_ITERATION_DROPPED,
		    i <= NR / 2 ? lambda_random(i) : 40);
	assert_int_equal(nr_entries(w), (NR + TRACE_ITERATIONS_NR - 1) / TRACE_ITERATIONS_NR);
	for (uint32_t i = 1; i <= NR; i++) {
		assert_int_equal(level_of(w, i, &stored), lambda_random(i));
		assert_int_equal(stored, i <= NR / 2);
	}
}

/* Stored calls go on at the begin of an entry, which is known exactly, and says where that is. */
static void test_stored_behind_dropped(void **state)
{
	struct world *w = *state;

	w->iterations.few = true;
	for (uint32_t i = 1; i <= NR; i++)
		add(w, i, i % 10 < 2 ? RING_ITERATION_STORED : RING_ITERATION_DROPPED,
		    lambda_random(i));
	assert_int_equal(nr_entries(w), NR / 10 + 1);
	for (uint32_t i = 1; i < NR / 10; i++) {
		const struct trace_iterations *entry = tables_iterations(w->tables, i);

		assert_int_equal(entry->ordinal, 10 * i);
		assert_int_equal(entry->begin, (uint64_t)entry->ordinal * NS);
		assert_int_equal(entry->collectives, 3 * entry->ordinal);
		assert_int_equal(entry->balance, entry->ordinal + 7);
	}
}

/*
 * Durations that are rounded do not add up to an error, and no begin is late: a stored call behind
 * dropped iterations is not taken for one of them. Those with stored calls are exact.
 */
static void test_begins(void **state)
{
	struct world *w = *state;
	const struct trace_iterations *entry;
	uint64_t begin;

	w->iterations.few = true;
	for (uint32_t i = 1; i <= NR; i++)
		add(w, i, i % 64 < 3 ? RING_ITERATION_STORED : RING_ITERATION_DROPPED,
		    lambda_random(i));
	for (uint32_t i = 0; i < nr_entries(w); i++) {
		entry = tables_iterations(w->tables, i);
		begin = entry->begin;
		for (unsigned at = 0; at < entry->nr; at++) {
			uint64_t right = (uint64_t)(entry->ordinal + at) * NS;
			bool exact = !trace_iterations_are_rough(entry);

			assert_true(begin <= right && right - begin <= (exact ? 0 : NS >> 10));
			assert_true(exact ||
			            !(trace_iteration_pattern(entry, at) & TRACE_ITERATION_STORED));
			begin += trace_iteration_ns(entry, at);
		}
	}
	/* In 64 iterations an exact entry, and two long ones. */
	assert_in_range(nr_entries(w), 3 * (NR / 64), 3 * (NR / 64) + 3);
}

/* Every one has another level: an entry holds few of them, and none is lost. */
static void test_other_levels(void **state)
{
	struct world *w = *state;
	bool stored;

	for (uint32_t i = 1; i <= NR; i++)
		add(w, i, RING_ITERATION_STORED, lambda_random(i) + 1 + i % 7);
	assert_int_equal(nr_entries(w),
	                 (NR + TRACE_ITERATIONS_LEVELS - 1) / TRACE_ITERATIONS_LEVELS);
	for (uint32_t i = 1; i <= NR; i++) {
		assert_int_equal(level_of(w, i, &stored), lambda_random(i) + 1 + i % 7);
		assert_true(stored);
	}
	/* A begin is still known: no time is lost between entries. */
	for (uint32_t i = 0; i < nr_entries(w); i++) {
		const struct trace_iterations *entry = tables_iterations(w->tables, i);

		assert_int_equal(entry->begin, (uint64_t)entry->ordinal * NS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_usual_levels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stored_behind_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_begins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_levels, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
