/* Iterations of a trace: their order, their phases, and the calls that belong to them. */
#include "cases.h"
#include "trace_world.h"
#include "hmb/lambda.h"
#include "trace/trace_iterations.h"

enum { THREAD = 2, ANCHOR = 5, OTHER = 6, STEP = 1000000 };

static struct trace_iterations entry_of(uint32_t phase, uint64_t begin, uint32_t ordinal)
{
	return (struct trace_iterations){
		.begin = begin, .thread = THREAD, .phase = phase, .ordinal = ordinal};
}

static void add(struct trace_iterations *entry, uint64_t duration, unsigned flags)
{
	trace_iteration_set(entry, entry->nr++, duration, flags);
	entry->calls += 3;
}

/* Puts the second entry first. Returns the trace, which must be closed before the world. */
static struct trace *opened(struct world *w, const struct trace_iterations *entries, unsigned nr)
{
	char why[TRACE_WHY_SIZE];
	struct trace *trace;

	world_open(w, 1 << 20);
	for (unsigned i = nr; i-- > 0;)
		assert_int_not_equal(tables_add_iterations(w->tables, &entries[i]), UINT32_MAX);
	trace = trace_open_tables(w->tables, NULL, why);
	assert_non_null(trace);
	return trace;
}

static void they_come_in_order(void **state)
{
	struct trace_iterations entries[] = {entry_of(1, 1000, 7), entry_of(1, 90000, 20)};
	struct iteration_cursor cursor;
	struct trace_iteration got;
	struct iteration_index index;
	struct trace *trace;
	struct world w;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		add(&entries[0], 2000, TRACE_ITERATION_STORED | i);
	add(&entries[1], 2000, TRACE_ITERATION_SLOW);
	trace = opened(&w, entries, 2);
	assert_int_equal(iteration_index_init(&index, trace), 0);
	iteration_cursor_init(&cursor, &index, THREAD - 1);
	assert_false(iteration_cursor_next(&cursor, &got));
	iteration_cursor_init(&cursor, &index, THREAD);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(iteration_cursor_next(&cursor, &got));
		assert_int_equal(got.begin, 1000 + 2000 * i);
		assert_int_equal(got.end, got.begin + 2000);
		assert_int_equal(got.ordinal, 7 + i);
		assert_int_equal(got.pattern, i);
		assert_int_equal(got.calls, 3);
		assert_true(got.stored && !got.slow);
	}
	assert_true(iteration_cursor_next(&cursor, &got));
	assert_true(got.begin == 90000 && got.ordinal == 20 && got.slow && !got.stored);
	assert_false(iteration_cursor_next(&cursor, &got));
	iteration_index_fini(&index);
	trace_close(trace);
	world_close(&w);
}

/* The level of an ordinary one follows from its ordinal. */
static void those_below_the_floor_are_not_stored(void **state)
{
	struct trace_iterations entries[] = {entry_of(1, 1000, 1)};
	struct iteration_cursor cursor;
	struct trace_iteration got;
	struct iteration_index index;
	struct trace *trace;
	struct world w;

	(void)state;
	for (unsigned i = 0; i < TRACE_ITERATIONS_NR; i++)
		add(&entries[0], 2000, TRACE_ITERATION_STORED);
	for (unsigned i = 0; i < TRACE_ITERATIONS_LEVELS; i++)
		entries[0].levels[i].at = TRACE_ITERATIONS_NONE;
	entries[0].levels[1].at = 4;
	entries[0].levels[1].level = 9;
	trace = opened(&w, entries, 1);
	assert_int_equal(iteration_index_init(&index, trace), 0);
	assert_int_equal(index.floor, trace_calls_floor(trace));
	for (index.floor = 0; index.floor < 12; index.floor++) {
		iteration_cursor_init(&cursor, &index, THREAD);
		for (unsigned i = 0; i < TRACE_ITERATIONS_NR; i++) {
			assert_true(iteration_cursor_next(&cursor, &got));
			assert_int_equal(got.stored,
			                 (i == 4 ? 9 : lambda_random(i + 1)) >= index.floor);
		}
	}
	iteration_index_fini(&index);
	trace_close(trace);
	world_close(&w);
}

static void loose_ones_belong_to_the_next_phase(void **state)
{
	struct trace_iterations entries[] = {entry_of(1, 1000, 1), entry_of(1, 10000, 1),
	                                     entry_of(2, 20000, 2)};
	struct iteration_cursor cursor;
	struct iteration_index index;
	struct iteration_span span;
	struct trace *trace;
	struct world w;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		add(&entries[i], 2000, 0);
	entries[1].level = TRACE_ITERATIONS_LOOSE;
	trace = opened(&w, entries, 3);
	assert_int_equal(iteration_index_init(&index, trace), 0);
	iteration_cursor_init(&cursor, &index, THREAD);
	assert_true(iteration_cursor_next_span(&cursor, &span));
	assert_true(span.first.phase == 1 && span.nr == 1);
	/* The loose one and the next have one phase and follow each other. */
	assert_true(iteration_cursor_next_span(&cursor, &span));
	assert_true(span.first.phase == 2 && span.nr == 2 && span.end == 22000);
	assert_false(iteration_cursor_next_span(&cursor, &span));
	iteration_index_fini(&index);
	trace_close(trace);
	world_close(&w);
}

static struct call call_at(uint32_t region, uint64_t enter)
{
	return (struct call){.region = region, .enter = enter, .leave = enter + 50};
}

/* Durations are rounded down, by more than calls are apart: the anchor tells where one ends. */
static void calls_belong_to_one(void **state)
{
	struct trace_iterations entries[] = {entry_of(1, STEP, 1)};
	struct iteration_follower follower;
	struct iteration_index index;
	struct trace *trace;
	struct world w;

	(void)state;
	add(&entries[0], STEP + 900, TRACE_ITERATION_STORED);
	add(&entries[0], STEP, TRACE_ITERATION_STORED);
	trace = opened(&w, entries, 1);
	assert_int_equal(iteration_index_init(&index, trace), 0);
	iteration_follower_init(&follower, &index, THREAD);
	for (unsigned i = 0; i < 2; i++) {
		struct call anchor = call_at(ANCHOR, STEP + i * (STEP + 900UL));
		struct call late = call_at(OTHER, anchor.enter + STEP + 600);
		unsigned passed = 0;

		for (; iteration_is_due(&follower, &anchor); passed++)
			iteration_pass(&follower, &anchor);
		assert_int_equal(passed, i ? 2 : 1);
		assert_true(follower.open && follower.iteration.ordinal == i + 1);
		assert_true(i || !iteration_is_due(&follower, &late));
	}
	iteration_index_fini(&index);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_come_in_order),
		cmocka_unit_test(those_below_the_floor_are_not_stored),
		cmocka_unit_test(loose_ones_belong_to_the_next_phase),
		cmocka_unit_test(calls_belong_to_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
