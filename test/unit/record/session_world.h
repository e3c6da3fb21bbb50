/* A session without a kernel: what becomes of samples that a test makes up. */
#ifndef TEST_RECORD_SESSION_WORLD_H
#define TEST_RECORD_SESSION_WORLD_H

#include "cases.h"
#include "session_tables.h"
#include "task_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/session.h"
#include "trace/trace.h"
#include "trace/write/trace_write.h"

enum { NR_CPUS = 2, FAULTS = 1, NR_EVENTS = 2, PERIOD = 1000, PID = 4000001 };

#define BUDGET ((size_t)256 << 10)
#define CODE   0x10000u /* where the target's code is, and how much of it */
#define SIZE   0x10000u

struct world {
	struct record_config config;
	struct session session;
	struct sampler sampler;
	int cpus[NR_CPUS];
	uint64_t periods[NR_EVENTS][NR_CPUS], lost[NR_EVENTS][NR_CPUS];
	struct cpu_event cpu_events[NR_EVENTS * NR_CPUS];
	char folder[64], path[96];
	uint16_t code; /* the module of what is mapped */
};

static inline void open_sampler(struct world *w)
{
	struct sampler *s = &w->sampler;

	*s = (struct sampler){
		.way = SAMPLER_LADDER,
		.nr_cpus = NR_CPUS,
		.cpus = w->cpus,
		.nr_events = NR_EVENTS,
		.exact_fd = -1,
		.max_chain = 127,
	};
	for (unsigned e = 0; e < NR_EVENTS; e++) {
		s->events[e] = (struct sampler_event){.base_period = w->periods[e],
		                                      .lost = w->lost[e],
		                                      .is_clock = !e,
		                                      .nr_rungs = 4,
		                                      .nr_steps = 1};
		for (unsigned c = 0; c < NR_CPUS; c++)
			w->periods[e][c] = e ? 1 : PERIOD;
	}
}

static inline void open_tables(struct world *w)
{
	struct session *s = &w->session;

	s->tables = tables_new(BUDGET, w->path);
	assert_non_null(s->tables);
	session_tables_fill(s->tables, &w->sampler);
}

static inline void open_buffer(struct world *w, unsigned nr_counters)
{
	struct session *s = &w->session;
	struct hmb_config config = {
		.memory = tables_arena(s->tables),
		.size = BUDGET,
		.ledger = tables_ledger(s->tables),
		.nr_kinds = NR_EVENTS,
		.max_path = SESSION_MAX_STACK,
		.truncated_frame = FRAME_TRUNCATED,
		.kinds[0].nr_counters = nr_counters,
		.kinds[0].stream_owner = STREAM_OF_THREAD,
	};

	hmb_free(s->hmb);
	s->hmb = hmb_new(&config);
	assert_non_null(s->hmb);
}

static inline void map_code(struct world *w)
{
	struct session *s = &w->session;
	struct task *task = tasks_of_sample(&s->tasks, PID, PID);
	struct module *module = module_table_anon(s->modules, PID, CODE);
	struct mapping mapping = {.start = CODE, .end = CODE + SIZE, .module = module};

	w->code = module->id;
	assert_int_equal(space_map(task->process->space, &mapping), 0);
}

static inline int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct session *s = &w->session;

	assert_non_null(w);
	strcpy(w->folder, "/tmp/adaptrace-test-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	snprintf(w->path, sizeof(w->path), "%s/x.atr", w->folder);
	w->cpus[0] = 3; /* numbers are not indices */
	w->cpus[1] = 5;
	open_sampler(w);
	open_tables(w);
	open_buffer(w, 0);
	w->config = (struct record_config){
		.nr_events = NR_EVENTS,
		.events = {{.unit = EVENT_NS, .scale = 1}, {.unit = EVENT_COUNT, .scale = 1}},
		.stack = {.mode = TRACE_STACKS_FP, .max = SESSION_MAX_STACK},
		.seed = 1,
	};
	s->config = &w->config;
	session_init_events(s, NR_EVENTS);
	s->sampler = &w->sampler;
	s->sampling.way = SAMPLER_LADDER;
	s->cpu_events = w->cpu_events;
	s->modules = module_table_new();
	assert_non_null(s->modules);
	s->stack.config = s->config;
	s->stack.modules = s->modules;
	tasks_init(&s->tasks, s->tables, s->modules, NR_EVENTS, NULL, NULL);
	assert_int_equal(tasks_add_forked(&s->tasks, PID), 0);
	say_comm(&w->session.tasks, PID, PID, "app", true, 10);
	map_code(w);
	*state = w;
	return 0;
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	tasks_fini(&w->session.tasks);
	unwinder_free(w->session.stack.unwinder);
	module_table_free(w->session.modules);
	hmb_free(w->session.hmb);
	tables_free(w->session.tables);
	unlink(w->path);
	rmdir(w->folder);
	free(w);
	return 0;
}

/* --- samples ---------------------------------------------------------------------------------- */

static inline struct record sample_at(uint64_t time, pid_t tid)
{
	return (struct record){
		.type = RECORD_SAMPLE,
		.time = time,
		.pid = PID,
		.tid = (uint32_t)tid,
		.sample.ip = CODE + 0x10,
	};
}

static inline void take(struct world *w, int event, struct record record)
{
	struct sampler_origin origin = {.event = event, .cpu = 1};

	session_sample(&w->session, &record, &origin);
}

static inline uint64_t taken(const struct world *w, unsigned event)
{
	return tables_ledger(w->session.tables)->taken[event];
}

static inline struct task *task_of(struct world *w, pid_t tid)
{
	return tasks_of_sample(&w->session.tasks, PID, tid);
}

/* All that is stored, as a reader of the trace has it. */
static inline struct trace *written(struct world *w)
{
	char why[TRACE_WHY_SIZE];
	struct trace *trace;

	assert_int_equal(trace_write(w->path, w->session.tables, NULL, NULL, NULL), 0);
	trace = trace_open(w->path, why);
	if (!trace)
		fail_msg("%s", why);
	return trace;
}

#endif
