/* Levels at which the recorder stores calls, by the policy and by what the target says. */
#include "tables_folder.h"

#include <unistd.h>

#include "hmb/lambda.h"
#include "preload/mpi_calls.h"
#include "record/calls/calls_process.h"
#include "record/calls/calls_put.h"
#include "trace/trace_iterations.h"

enum { KIND = 1, BUDGET = 256 << 10 };
#define MOMENT (UINT64_C(1) << RING_MOMENT_SHIFT)

struct world {
	char folder[64];
	struct tables *tables;
	struct hmb *hmb;
	struct module_table *modules;
	struct tasks tasks;
	struct calls_names names;
	struct calls_clock clock;
	struct calls_process *process;
	struct calls_put put;
};

static void open_buffer(struct world *w)
{
	const struct hmb_config config = {
		.memory = tables_arena(w->tables),
		.size = BUDGET,
		.reserve = tables_reserve_arena,
		.reserve_arg = w->tables,
		.ledger = tables_ledger(w->tables),
		.nr_kinds = 2,
		.kinds[KIND] = {.content = HMB_CALLS, .share = BUDGET / 2, .by_level = true},
		.max_path = 16,
	};

	w->hmb = hmb_new(&config);
	assert_non_null(w->hmb);
}

static struct world *world_new(enum trace_policy policy)
{
	struct world *w = calloc(1, sizeof(*w));
	struct calls_config config = {.kind = KIND, .policy = policy, .share = BUDGET / 2};
	int fd = -1;

	assert_non_null(w);
	w->tables = tables_in_folder(w->folder, BUDGET);
	tables_add_event(w->tables);
	tables_add_event(w->tables)->unit = TRACE_CALLS;
	open_buffer(w);
	w->modules = module_table_new();
	tasks_init(&w->tasks, w->tables, w->modules, 0, NULL, NULL);
	calls_names_init(&w->names, w->tables);
	/* Ticks are ns. */
	w->clock.source = RING_CLOCK_COUNTER;
	calls_clock_note(&w->clock, MOMENT, MOMENT);
	calls_clock_note(&w->clock, 100 * MOMENT, 100 * MOMENT);
	w->process = calls_process_new(getpid(), &w->names, &w->clock, &fd);
	assert_non_null(w->process);
	close(fd);
	w->process->shared->pid = (uint32_t)getpid();
	w->process->shared->threads[0].tid = (uint32_t)getpid();
	w->process->shared->threads[0].state = RING_USED;
	config.hmb = w->hmb;
	config.tables = w->tables;
	config.tasks = &w->tasks;
	calls_put_begin(&w->put, &config);
	return w;
}

static void world_free(struct world *w)
{
	calls_iterations_fini(&w->put.iterations);
	calls_process_free(w->process);
	calls_names_fini(&w->names);
	tasks_fini(&w->tasks);
	module_table_free(w->modules);
	hmb_free(w->hmb);
	tables_free(w->tables);
	rmdir(w->folder);
	free(w);
}

static void produce(struct world *w, const uint64_t *words, size_t nr)
{
	struct ring_ends *ring = &w->process->shared->threads[0];
	char *base = (char *)w->process->shared + ring_offset(0);

	memcpy(base + ring->head * sizeof(*words), words, nr * sizeof(*words));
	ring->head += nr;
}

static void produce_calls(struct world *w, uint64_t from, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		produce(w,
		        (uint64_t[3]){ring_head(RING_CALL, 3, 0, 0, CALL_Send), from + i * 10,
		                      from + i * 10 + 5},
		        3);
}

/* level: + 1, of the calls that follow. */
static void produce_iteration(struct world *w, uint32_t ordinal, uint64_t begin, uint64_t end,
                              unsigned level)
{
	produce(w,
	        (uint64_t[7]){ring_head(RING_ITERATION, 7, 0, RING_ITERATION_STORED, 1) |
	                              (uint64_t)level << RING_SLOT_SHIFT,
	                      begin, end, 1 | (uint64_t)ordinal << 32, end, 0, 0},
	        7);
}

static void consume(struct world *w)
{
	calls_process_look(w->process);
	calls_process_read(w->process, 1000 * MOMENT, &w->put.sink);
	assert_int_equal(w->process->malformed, 0);
}

/* Closes levels from the lowest on. Returns how many calls each of them had. */
static void count_levels(const struct world *w, uint64_t nr[NR_LEVELS])
{
	memset(nr, 0, NR_LEVELS * sizeof(*nr));
	while (hmb_floor(w->hmb, KIND) < NR_LEVELS) {
		uint64_t before = hmb_stored(w->hmb, KIND);

		hmb_close_lowest(w->hmb, KIND, 1, HMB_CAUSE_MEMORY);
		nr[hmb_floor(w->hmb, KIND) - 1] += before - hmb_stored(w->hmb, KIND);
	}
}

static unsigned stored_level(const struct world *w, unsigned number)
{
	for (uint32_t i = 0; i < tables_section(w->tables, TRACE_ITERATIONS).nr; i++) {
		const struct trace_iterations *entry = tables_iterations(w->tables, i);

		if (number < entry->nr)
			return trace_iteration_level(entry, number);
		number -= entry->nr;
	}
	fail();
	return 0;
}

/* One moment has level 3, the next one 0. */
static void run(struct world *w)
{
	const uint64_t at = 8 * MOMENT + 10000;

	produce_calls(w, at, 1);
	produce_iteration(w, 1, at, at + 100, 21);
	produce_calls(w, at + 100, 4);
	produce_iteration(w, 2, at + 100, at + 200, 0);
	produce_calls(w, at + 200, 16);
	produce_iteration(w, 3, at + 200, at + MOMENT, 11);
	produce_calls(w, at + MOMENT, 64);
	produce_iteration(w, 4, at + MOMENT, at + MOMENT + 1000, 0);
	produce_calls(w, at + MOMENT + 1000, 256);
	consume(w);
}

static void test_iterations(void **state)
{
	struct world *w = world_new(TRACE_POLICY_ITERATIONS);
	uint64_t nr[NR_LEVELS];

	(void)state;
	run(w);
	/* An iteration that lies in several moments may lose calls as soon as one is dropped. */
	assert_int_equal(stored_level(w, 0), 3);
	assert_int_equal(stored_level(w, 1), 20);
	assert_int_equal(stored_level(w, 2), 0);
	assert_int_equal(stored_level(w, 3), 10);
	count_levels(w, nr);
	assert_int_equal(nr[3], 1 + 16);
	assert_int_equal(nr[20], 4);
	assert_int_equal(nr[10], 64);
	assert_int_equal(nr[0], 256);
	world_free(w);
}

/* A target that says levels which nobody asked for. */
static void test_time(void **state)
{
	struct world *w = world_new(TRACE_POLICY_TIME);
	uint64_t nr[NR_LEVELS];

	(void)state;
	run(w);
	assert_int_equal(stored_level(w, 1), 3);
	assert_int_equal(stored_level(w, 3), 0);
	count_levels(w, nr);
	assert_int_equal(nr[3], 1 + 4 + 16);
	assert_int_equal(nr[0], 64 + 256);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_iterations),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
