/*
 * Fuzzing of the recorder's side of the memory that targets write their calls into: the input is
 * what a target writes, record by record, each with a byte that says in which ring it is, or that
 * it is rows of sums, and one of how many words follow. What is recorded makes a trace that can be
 * read.
 */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/calls/calls_process.h"
#include "record/calls/calls_put.h"
#include "trace/trace_calls.h"
#include "trace/write/trace_write.h"

enum { HEAD = 2, NR_RINGS = 4, RAW = 0x80, ROUND = 0x40, ENDED = 0x20, SUMS = 0x10 };

#define BUDGET ((size_t)128 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	struct tables *tables;
	struct hmb *hmb;
	struct module_table *modules;
	struct tasks tasks;
	struct calls_names names;
	struct calls_clock clock;
	struct calls_process *process;
	struct calls_put put;
	char path[64];
};

static void open_buffer(struct world *w, bool by_level)
{
	const struct hmb_config config = {
		.memory = tables_arena(w->tables),
		.size = BUDGET,
		.reserve = tables_reserve_arena,
		.reserve_arg = w->tables,
		.ledger = tables_ledger(w->tables),
		.nr_kinds = 2,
		.kinds[1] = {.content = HMB_CALLS, .share = BUDGET / 2, .by_level = by_level},
		.max_path = 16,
	};

	w->hmb = hmb_new(&config);
	assert(w->hmb);
}

static void open_tables(struct world *w)
{
	w->tables = tables_new(BUDGET, w->path);
	assert(w->tables);
	*tables_add_event(w->tables) = (struct trace_event){
		.name = tables_string(w->tables, "cpu-clock"), .base_period = 97081};
	*tables_add_event(w->tables) = (struct trace_event){.unit = TRACE_CALLS};
	tables_add_stream(w->tables)->base_period = 97081;
	tables_run(w->tables)->start = 1;
	tables_run(w->tables)->nr_cpus = 1;
}

static struct world *world_new(enum trace_policy policy)
{
	struct world *w = calloc(1, sizeof(*w));
	struct calls_config config = {.kind = 1, .policy = policy, .share = BUDGET / 2};
	int fd;

	snprintf(w->path, sizeof(w->path), "/dev/shm/fuzz_calls.%d.atr", getpid());
	open_tables(w);
	open_buffer(w, policy != TRACE_POLICY_ALL);
	w->modules = module_table_new();
	tasks_init(&w->tasks, w->tables, w->modules, 0, NULL, NULL);
	calls_names_init(&w->names, w->tables);
	w->clock.source = RING_CLOCK_COUNTER;
	for (uint64_t i = 0; i < 4; i++)
		calls_clock_note(&w->clock, 1000 + i * 4000, 5000 + i * 1000);
	w->process = calls_process_new(getpid(), &w->names, &w->clock, &fd);
	assert(w->process);
	close(fd);
	config.hmb = w->hmb;
	config.tables = w->tables;
	config.tasks = &w->tasks;
	calls_put_begin(&w->put, &config);
	return w;
}

static void world_free(struct world *w)
{
	calls_process_free(w->process);
	calls_names_fini(&w->names);
	tasks_fini(&w->tasks);
	module_table_free(w->modules);
	hmb_free(w->hmb);
	tables_free(w->tables);
	unlink(w->path);
	free(w);
}

static void put_sums(struct ring_process *shared, unsigned thread, const uint8_t *data, size_t size)
{
	char *rows = (char *)shared + ring_sums_offset(thread);

	memcpy(rows, data, size);
	shared->threads[thread].state = RING_USED;
	shared->threads[thread].nr_sums = size ? data[0] : UINT32_MAX;
}

/* The first ring is that of definitions. Sizes are mostly right. */
static size_t put_record(struct world *w, const uint8_t *data, size_t left)
{
	struct ring_process *shared = w->process->shared;
	unsigned thread = data[0] % NR_RINGS;
	struct ring_ends *ends = thread ? &shared->threads[thread - 1] : &shared->definitions;
	size_t offset = thread ? ring_offset(thread - 1) : RING_DEFINITIONS_OFFSET;
	size_t words = thread ? ring_words(thread - 1) : RING_DEFINITION_WORDS;
	uint64_t *ring = (uint64_t *)(void *)((char *)shared + offset), first = 0;
	size_t size = data[1] * sizeof(uint64_t);

	if (size > left - HEAD)
		size = left - HEAD;
	if (data[0] & SUMS && thread) {
		put_sums(shared, thread - 1, data + HEAD, size);
		return HEAD + size;
	}
	memcpy(&ring[ends->head % words], data + HEAD, size);
	memcpy(&first, data + HEAD, size < sizeof(first) ? size : sizeof(first));
	if (!(data[0] & RAW))
		ring[ends->head % words] = (first & ~0xfffULL) | (size + 7) / 8;
	ends->state = data[0] & ENDED ? RING_ENDED : RING_USED;
	ends->tid = data[0] & 4 ? thread : (uint32_t)getpid();
	ends->nr_open = data[1];
	shared->open[thread][0] = (struct ring_open){first >> 16, first >> 32};
	ends->head += (size + 7) / 8;
	return HEAD + size;
}

static void consume(struct world *w)
{
	calls_put_forget(&w->put);
	calls_process_look(w->process);
	calls_process_read(w->process, 20000, &w->put.sink);
	calls_process_sum(w->process, 20000, &w->put.sink);
}

static void read_trace(const struct world *w)
{
	char why[TRACE_WHY_SIZE];
	struct trace_call call;
	struct call_walk *walk;
	struct trace *trace;
	int end;

	assert(!trace_write(w->path, w->tables, NULL, NULL, NULL));
	trace = trace_open(w->path, why);
	assert(trace);
	walk = call_walk_new(trace);
	assert(walk);
	while ((end = call_walk_next(walk, &call)) == 1)
		assert(call.call.enter <= call.call.leave);
	assert(!end);
	call_walk_free(walk);
	trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w;

	if (!size || size > RING_SMALL_WORDS * sizeof(uint64_t))
		return 0;
	w = world_new(*data % NR_TRACE_POLICIES);
	data++;
	size--;
	while (size > HEAD) {
		size_t taken = put_record(w, data, size);

		if (*data & ROUND)
			consume(w);
		data += taken;
		size -= taken;
	}
	consume(w);
	calls_process_end(w->process, 20000, &w->put.sink);
	tasks_end(&w->tasks);
	read_trace(w);
	world_free(w);
	return 0;
}
