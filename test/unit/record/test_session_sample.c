/* What becomes of a sample: its task, stream and level, its stack, and what it says of the rest. */
#include "session_world.h"

#include <errno.h>

#include "symbolize/unwind/arch.h"
#include "base/access_class.h"

#define KERNEL 0xffffffff81000000

static struct trace_thread *thread_of(struct world *w, pid_t tid)
{
	return tables_thread(w->session.tables, task_of(w, tid)->thread);
}

/* Takes one sample of the clock and looks at its stack in the trace. */
static void check_stack(struct world *w, struct record record, const uint64_t *expected, size_t nr)
{
	uint64_t frames[SESSION_MAX_STACK + 8];
	struct trace_sample sample = {0};
	struct trace_walk *walk;
	struct trace *trace;

	take(w, 0, record);
	trace = written(w);
	walk = trace_walk_new(trace, 0);
	for (uint64_t i = 0; i < taken(w, 0); i++)
		assert_int_equal(trace_walk_next(walk, &sample), 1);
	assert_int_equal(trace_walk_next(walk, &sample), 0);
	assert_int_equal(sample.time, record.time);
	assert_int_equal(sample.cpu, 5);
	assert_int_equal(trace_stack(trace, &sample, frames, SESSION_MAX_STACK + 8), nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(frames[i], expected[i]);
	trace_walk_free(walk);
	trace_close(trace);
}

static uint64_t in_code(const struct world *w, uint32_t offset)
{
	return frame_make(w->code, CODE + offset);
}

/* --- whose it is, and whether it counts ------------------------------------------------------- */

static void no_sample_of_ours_counts_nothing(void **state)
{
	struct world *w = *state;
	struct record record = sample_at(100, PID), idle = sample_at(100, 0);
	struct sampler_origin stale = {.event = 0, .stale = true};

	take(w, -1, record);
	session_sample(&w->session, &record, &stale);
	idle.pid = 0; /* of no interest unless everyone is */
	take(w, 0, idle);
	assert_int_equal(taken(w, 0), 0);
	assert_int_equal(w->session.guard.samples, 0);
	assert_false(task_of(w, PID)->streams_started);
	assert_int_equal(task_of(w, PID)->thread, NO_THREAD);
}

/* What the process did as ours is not the target's; it is told where all of it is known. */
static void before_the_exec_is_counted_apart(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;

	task_of(w, PID)->process->awaits_exec = true;
	take(w, 0, sample_at(100, PID));
	for (unsigned i = 0; i < 3; i++)
		take(w, FAULTS, sample_at(100 + i, PID));
	assert_int_equal(taken(w, 0) + taken(w, FAULTS), 0);
	assert_int_equal(s->before_exec[0], 0); /* a period of more than one */
	assert_int_equal(s->before_exec[FAULTS], 3);
	say_comm(&w->session.tasks, PID, PID, "target", true, 200);
	take(w, FAULTS, sample_at(300, PID));
	assert_int_equal(taken(w, FAULTS), 1);
	assert_int_equal(s->before_exec[FAULTS], 3);
	w->periods[FAULTS][1] = 2;
	task_of(w, PID)->process->awaits_exec = true;
	take(w, FAULTS, sample_at(400, PID));
	assert_int_equal(s->before_exec[FAULTS], 3);
}

/* Records of one thread may lie in several rings: its last samples may come behind its EXIT. */
static void the_last_sample_of_a_thread_is_its_own(void **state)
{
	struct world *w = *state;
	struct trace_thread *thread;
	struct task *task;

	say_fork(&w->session.tasks, PID, PID, PID + 1, 100);
	take(w, 0, sample_at(1000, PID + 1));
	task = task_of(w, PID + 1);
	thread = thread_of(w, PID + 1);
	say_exit(&w->session.tasks, PID, PID + 1, 2000);
	take(w, 0, sample_at(1900, PID + 1));
	assert_ptr_equal(task_of(w, PID + 1), task);
	assert_ptr_equal(thread_of(w, PID + 1), thread);
	assert_int_equal(taken(w, 0), 2);
	tasks_end(&w->session.tasks);
	assert_int_equal(thread->end, 2000);
	assert_int_equal(thread->start, 1000);
}

/* What comes behind an exec is of another program, whatever was sampled of the one before. */
static void an_exec_begins_a_thread_of_its_own(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;
	uint32_t first;

	take(w, 0, sample_at(1000, PID));
	take(w, 0, sample_at(2000, PID));
	first = task_of(w, PID)->thread;
	assert_int_equal(task_of(w, PID)->usage.sampled, 2 * PERIOD);
	say_comm(&w->session.tasks, PID, PID, "next", true, 3000);
	assert_int_equal(task_of(w, PID)->thread, NO_THREAD);
	take(w, 0, sample_at(4000, PID));
	assert_int_not_equal(task_of(w, PID)->thread, first);
	assert_int_equal(tables_thread(s->tables, first)->end, 3000);
	assert_int_equal(task_of(w, PID)->usage.sampled, PERIOD);
	assert_int_equal(task_of(w, PID)->usage.earlier, 2 * PERIOD);
	assert_string_equal(tables_string_at(s->tables, thread_of(w, PID)->comm), "next");
	/* Of the old program's code nothing is mapped any more. */
	assert_int_equal(s->stack.frames[0], FRAME_UNKNOWN);
}

static void a_thread_that_is_being_reaped_is_its_process(void **state)
{
	struct world *w = *state;

	take(w, 0, sample_at(1000, -1));
	assert_int_equal(taken(w, 0), 1);
	assert_int_equal(thread_of(w, PID)->tid, PID);
}

/* --- streams, levels, weights ----------------------------------------------------------------- */

/* Each thread has a stream of each event; what it begins with goes by the seed. */
static void each_thread_has_its_streams(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;
	struct stream first, second;

	say_fork(&w->session.tasks, PID, PID, PID + 1, 100);
	take(w, 0, sample_at(1000, PID));
	take(w, 0, sample_at(1000, PID + 1));
	assert_int_equal(s->nr_streams, 2 * NR_EVENTS);
	first = stream_start(1, 0, 0);
	second = stream_start(1, NR_EVENTS, 0);
	assert_int_equal(task_of(w, PID)->streams[0].n, first.n + 1);
	assert_int_equal(task_of(w, PID + 1)->streams[0].n, second.n + 1);
	assert_int_equal(task_of(w, PID)->streams[FAULTS].n, stream_start(1, 1, 0).n);
	take(w, 0, sample_at(2000, PID));
	assert_int_equal(s->nr_streams, 2 * NR_EVENTS);
	assert_int_equal(task_of(w, PID)->streams[0].n, first.n + 2);
}

static void events_of_cpus_have_streams_of_cpus(void **state)
{
	struct world *w = *state;
	struct sampler_origin origin = {.event = 1, .cpu = 0};
	struct record record = sample_at(1000, PID);

	w->session.sampling.way = SAMPLER_CGROUP;
	session_sample(&w->session, &record, &origin);
	take(w, 1, record);
	take(w, 0, record);
	assert_int_equal(w->cpu_events[0 * NR_CPUS + 0].stream.n, 0);
	assert_int_equal(w->cpu_events[0 * NR_CPUS + 1].stream.n, 1);
	assert_int_equal(w->cpu_events[1 * NR_CPUS + 0].stream.n, 1);
	assert_int_equal(w->cpu_events[1 * NR_CPUS + 1].stream.n, 1);
	assert_false(task_of(w, PID)->streams_started);
}

/* A sample of a slower period stands for more of them, and no stream becomes faster again. */
static void weights_follow_the_period_of_the_sample(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;
	struct sampler_origin origin = {.event = 0, .cpu = 1, .shift = 3};
	struct record record = sample_at(1000, PID), late = sample_at(900, PID);

	w->config.events[0].scale = 5;
	session_sample(s, &record, &origin);
	assert_int_equal(task_of(w, PID)->usage.sampled, 5 * (PERIOD << 3));
	assert_int_equal(s->guard.target_ns, PERIOD << 3);
	assert_int_equal(task_of(w, PID)->streams[0].shift, 3);
	take(w, 0, late);
	assert_int_equal(task_of(w, PID)->streams[0].shift, 3);
	assert_int_equal(task_of(w, PID)->usage.sampled, 5 * ((PERIOD << 3) + PERIOD));
	/* Other events are in other units. */
	take(w, FAULTS, record);
	assert_int_equal(task_of(w, PID)->usage.sampled, 5 * ((PERIOD << 3) + PERIOD));
}

/* Below the floor nothing is stored, nor looked up; and yet it counts as taken. */
static void what_is_below_the_floor_is_taken_alone(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;
	unsigned nr = 64, stored = 0, last = 0;

	for (unsigned i = 0; i < 3; i++)
		hmb_close_lowest(s->hmb, 0, 500, HMB_CAUSE_MEMORY);
	w->config.stack.max = 0; /* each stack that is built is cut */
	for (unsigned i = 0; i < nr; i++) {
		take(w, 0, sample_at(1000 + i, PID));
		if (hmb_stored(s->hmb, 0) == stored)
			continue;
		assert_true(!stored || i - last == 8);
		last = i;
		stored++;
	}
	assert_int_equal(taken(w, 0), nr);
	assert_int_equal(stored, nr / 8); /* every eighth, wherever the stream began */
	assert_int_equal(s->stack.truncated, stored);
	assert_int_equal(task_of(w, PID)->usage.sampled, nr * PERIOD);
	/* The kernel was asked to follow, as far as there are rungs for it: every second doubling.
	 */
	assert_int_equal(s->sampling.shift[0], 3);
	assert_int_equal(s->sampling.shift[FAULTS], 0);
	assert_int_equal(w->sampler.events[0].steps[w->sampler.events[0].nr_steps - 1].shift, 2);
	assert_int_equal(w->sampler.events[0].nr_steps, 2);
}

static void check_accounts(const struct world *w, unsigned event, uint64_t nr)
{
	const struct hmb_ledger *ledger = tables_ledger(w->session.tables);

	assert_int_equal(ledger->taken[event], nr);
	assert_int_equal(hmb_stored(w->session.hmb, event) + ledger->reduced[event], nr);
}

static void put_since_reset(struct world *w, unsigned nr)
{
	uint64_t start = w->session.start;

	for (unsigned i = 0; i < nr; i++) {
		take(w, 0, sample_at(start - 1 - i, PID)); /* on its way */
		take(w, 0, sample_at(start + i, PID));
		take(w, FAULTS, sample_at(start + i, PID));
	}
}

/* A recording after a reset is the same as one that began then. */
static void a_reset_starts_anew(void **state)
{
	enum { BEFORE = 100, SINCE = 40 };
	struct world *w = *state;
	struct session *s = &w->session;
	struct trace *trace;
	uint32_t thread;

	for (unsigned i = 0; i < BEFORE; i++) {
		if (i % 30 == 10)
			hmb_close_lowest(s->hmb, 0, i, HMB_CAUSE_MEMORY);
		take(w, 0, sample_at(1000 + i, i % 2 ? PID : PID + 1));
		take(w, FAULTS, sample_at(1000 + i, PID));
	}
	thread = task_of(w, PID + 1)->thread;
	tables_thread_ended(s->tables, thread, 2000);
	check_accounts(w, 0, BEFORE);
	assert_int_equal(session_reset(s), -EAGAIN);
	s->started = true;
	assert_int_equal(session_reset(s), 0);
	/* A snapshot at once is of a recording that has begun, with counts of its own. */
	assert_true(tables_run(s->tables)->end > tables_run(s->tables)->start);
	assert_int_equal(tables_run(s->tables)->built_stacks, 0);
	check_accounts(w, 0, 0);
	assert_int_equal(s->sampling.shift[0], 0);
	assert_int_equal(w->sampler.events[0].steps[w->sampler.events[0].nr_steps - 1].shift, 0);
	assert_int_equal(w->sampler.events[0].rung, 0);
	assert_int_equal(task_of(w, PID)->usage.sampled, 0);
	assert_int_equal(tables_thread(s->tables, thread)->tid, 0);
	assert_int_equal(thread_of(w, PID)->start, s->start);
	put_since_reset(w, SINCE);
	check_accounts(w, 0, SINCE);
	check_accounts(w, FAULTS, SINCE);
	assert_int_equal(hmb_stored(s->hmb, 0), SINCE);
	assert_int_equal(s->stack.built, 2 * SINCE);
	trace = written(w);
	assert_int_equal(trace_event(trace, 0)->floor, 0);
	assert_int_equal(trace_event(trace, 0)->stored, SINCE);
	assert_null(trace_reduction(trace, 0));
	assert_in_range(trace_run(trace)->start, s->start - 1000000000, s->start);
	trace_close(trace);
}

/* Resets may be repeated, with reductions between. */
static void resets_leave_no_trace(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;

	s->started = true;
	assert_int_equal(session_reset(s), 0);
	for (unsigned turn = 0; turn < 300; turn++) {
		for (unsigned i = 0; i < turn % 7; i++)
			hmb_close_lowest(s->hmb, 0, s->start, HMB_CAUSE_OVERHEAD);
		put_since_reset(w, 10 + turn % 20);
		check_accounts(w, 0, 10 + turn % 20);
		assert_int_equal(session_reset(s), 0);
		check_accounts(w, 0, 0);
	}
	assert_int_equal(w->sampler.events[0].nr_steps, 1);
}

/* What comes in turns is not thinned by turns. */
static void chance_chooses_among_counts(void **state)
{
	struct world *w = *state;
	struct hmb *hmb = w->session.hmb;
	unsigned nr[2] = {0};

	hmb_close_lowest(hmb, FAULTS, 500, HMB_CAUSE_MEMORY);
	for (unsigned i = 0; i < 64; i++) {
		uint64_t before = hmb_stored(hmb, FAULTS);

		take(w, FAULTS, sample_at(1000 + i, PID));
		nr[i % 2] += (unsigned)(hmb_stored(hmb, FAULTS) - before);
	}
	assert_int_equal(nr[0] + nr[1], 32);
	assert_in_range(nr[0], 8, 24);
}

/* A clock tells the guard of the target's time, once; counters, that their rate was not known. */
static void the_guard_hears_of_one_clock(void **state)
{
	struct world *w = *state;
	struct overhead_guard *guard = &w->session.guard;

	take(w, 0, sample_at(1000, PID));
	take(w, FAULTS, sample_at(1001, PID));
	assert_int_equal(guard->target_ns, PERIOD);
	assert_int_equal(guard->samples, 2);
	assert_int_equal(guard->unbounded, 1);
	w->config.events[FAULTS].unit = EVENT_NS;
	take(w, FAULTS, sample_at(1002, PID));
	assert_int_equal(guard->target_ns, PERIOD);
	assert_int_equal(guard->unbounded, 1);
	w->config.events[0].unit = EVENT_COUNT;
	take(w, FAULTS, sample_at(1003, PID));
	assert_int_equal(guard->target_ns, PERIOD + 1);
}

/* Times of counters are coded by the mean of what was between their samples. */
static void the_rate_of_counters_is_learnt(void **state)
{
	struct world *w = *state;
	struct cpu_event *rate = &w->cpu_events[FAULTS * NR_CPUS + 1];

	take(w, FAULTS, sample_at(100000, PID));
	assert_int_equal(rate->interval, 0); /* nothing is known from one */
	for (uint64_t i = 1; i <= 200; i++)
		take(w, FAULTS, sample_at(100000 + 800 * i, PID));
	assert_in_range(rate->interval, 750, 850);
	/* Late ones are no step back. */
	take(w, FAULTS, sample_at(100000, PID));
	assert_in_range(rate->interval, 750, 850);
	assert_int_equal(w->cpu_events[FAULTS * NR_CPUS + 0].last, 0);
	assert_int_equal(hmb_stored(w->session.hmb, FAULTS), 202);
}

/* --- stacks ----------------------------------------------------------------------------------- */

static struct record with_chain(uint64_t time, const uint64_t *chain, size_t size)
{
	struct record record = sample_at(time, PID);

	record.sample.chain = chain;
	record.sample.chain_size = size;
	return record;
}

static void follow_frame_pointers(struct world *w)
{
	w->config.stack.mode = TRACE_STACKS_FP;
	w->session.stack.unwinder = unwinder_new(w->session.modules, UNWIND_RULES);
	assert_non_null(w->session.stack.unwinder);
}

/* The first behind a mark is where it was; the others are where they called from. */
static void chains_are_of_calls(void **state)
{
	const uint64_t chain[] = {PERF_CONTEXT_KERNEL, KERNEL + 8,  KERNEL + 100,
	                          PERF_CONTEXT_USER,   CODE + 0x20, CODE + 0x80,
	                          CODE + SIZE + 1,     CODE + SIZE, 7};
	struct world *w = *state;
	uint16_t kernel = module_table_kernel(w->session.modules, KERNEL)->id;
	uint64_t expected[] = {
		frame_make(kernel, (uint32_t)(KERNEL + 8)),
		frame_make(kernel, (uint32_t)(KERNEL + 99)),
		in_code(w, 0x20),
		in_code(w, 0x7f),
		FRAME_UNKNOWN,        /* just behind */
		in_code(w, SIZE - 1), /* a call that is the last instruction */
		FRAME_TRUNCATED,      /* nobody says that it is a root */
		FRAME_TRUNCATED,
	};

	follow_frame_pointers(w);
	check_stack(w, with_chain(1000, chain, 8), expected, 7);
	assert_int_equal(w->session.stack.cut[STACK_CUT_FP], 1);
	/* What ends where no code is has been led astray. */
	expected[6] = FRAME_UNKNOWN;
	check_stack(w, with_chain(2000, chain, 9), expected, 8);
	assert_int_equal(w->session.stack.cut[STACK_CUT_FP], 2);
}

/* A program that has other things in the frame pointer names no places of the kernel. */
static void chains_of_programs_stay_there(void **state)
{
	const uint64_t chain[] = {PERF_CONTEXT_KERNEL, KERNEL + 8, PERF_CONTEXT_USER,
	                          CODE + 0x20,         KERNEL + 8, 0xe9b5dba5b5c0fbcf};
	struct world *w = *state;
	uint16_t kernel = module_table_kernel(w->session.modules, KERNEL)->id;
	const uint64_t expected[] = {frame_make(kernel, (uint32_t)(KERNEL + 8)), in_code(w, 0x20),
	                             FRAME_UNKNOWN, FRAME_UNKNOWN, FRAME_TRUNCATED};
	size_t nr = module_table_count(w->session.modules);

	follow_frame_pointers(w);
	check_stack(w, with_chain(1000, chain, 6), expected, 5);
	assert_int_equal(w->session.stack.truncated, 1);
	assert_int_equal(module_table_count(w->session.modules), nr);
}

static void without_a_chain_there_is_the_place(void **state)
{
	struct world *w = *state;
	const uint64_t user[] = {in_code(w, 0x10)}, unknown[] = {FRAME_UNKNOWN};
	struct record record = sample_at(2000, PID);

	check_stack(w, sample_at(1000, PID), user, 1);
	record.sample.ip = 12;
	check_stack(w, record, unknown, 1);
	record.time = 3000;
	record.sample.ip = KERNEL;
	record.sample.in_kernel = true;
	check_stack(w, record,
	            &(uint64_t){frame_make(module_table_kernel(w->session.modules, KERNEL)->id,
	                                   (uint32_t)KERNEL)},
	            1);
}

/* A chain as long as may be has been cut, by us or by the kernel: its callers are missing. */
static void long_chains_are_cut_and_say_so(void **state)
{
	struct world *w = *state;
	uint64_t chain[200], expected[200];
	const uint64_t regs[ARCH_REGS] = {0};
	struct record record = sample_at(4000, PID);

	for (unsigned i = 0; i < 200; i++) {
		chain[i] = CODE + 0x100 + i;
		expected[i] = in_code(w, 0x100 + i - (i > 0));
	}
	expected[126] = FRAME_TRUNCATED;
	check_stack(w, with_chain(1000, chain, 126), expected, 126);
	assert_int_equal(w->session.stack.truncated, 0);
	expected[126] = in_code(w, 0x100 + 125);
	expected[127] = FRAME_TRUNCATED;
	check_stack(w, with_chain(2000, chain, 127), expected, 128); /* the kernel's own limit */
	w->config.stack.max = 3;
	expected[3] = FRAME_TRUNCATED;
	check_stack(w, with_chain(3000, chain, 200), expected, 4);
	assert_int_equal(w->session.stack.truncated, 2);
	/* The kernel's part alone may leave no room for the program's. */
	w->config.stack.max = 1;
	w->config.stack.mode = TRACE_STACKS_DWARF;
	record.sample.regs = regs;
	record.sample.in_kernel = true;
	expected[0] = in_code(w, 0x10);
	expected[1] = FRAME_TRUNCATED;
	check_stack(w, record, expected, 2);
	assert_int_equal(w->session.stack.truncated, 3);
}

/* Registers of a 32-bit program cannot be followed: its callers are missing, and that is counted.
 */
static void narrow_programs_have_no_callers(void **state)
{
	struct world *w = *state;
	const uint64_t regs[ARCH_REGS] = {0};
	const uint64_t expected[] = {in_code(w, 0x10), FRAME_TRUNCATED};
	struct record record = sample_at(1000, PID);

	w->config.stack.mode = TRACE_STACKS_DWARF;
	record.sample.regs = regs;
	record.sample.regs_32 = true;
	check_stack(w, record, expected, 2);
	assert_int_equal(w->session.stack.cut[STACK_CUT_32_BIT], 1);
	assert_int_equal(w->session.stack.truncated, 1);
}

/* What a processor remembers of calls is a stack as others are. */
static void branches_are_a_stack(void **state)
{
	const struct perf_branch_entry branches[] = {{.from = CODE + 0x40}, {.from = CODE + 0x60}};
	const uint64_t chain[] = {PERF_CONTEXT_USER, CODE + 0x20, CODE + 0x999};
	struct world *w = *state;
	const uint64_t expected[] = {in_code(w, 0x20), in_code(w, 0x40), in_code(w, 0x60),
	                             FRAME_TRUNCATED};
	struct record record = with_chain(1000, chain, 3);

	w->config.stack.branches = 8;
	record.sample.branches = branches;
	record.sample.nr_branches = 2;
	check_stack(w, record, expected, 3);
	record.time = 2000;
	w->config.stack.branches = 2; /* all that it remembers: there may be more */
	check_stack(w, record, expected, 4);
	assert_int_equal(w->session.stack.truncated, 1);
}

/* --- what memory accesses met ----------------------------------------------------------------- */

static void check_place(struct world *w, uint64_t address, uint64_t sp, enum access_origin place)
{
	uint64_t regs[ARCH_REGS] = {0};
	struct record record = sample_at(1000 + taken(w, 0), PID);

	regs[arch_sample_index[ARCH_SP]] = sp;
	record.sample.regs = sp ? regs : NULL;
	record.sample.address = address;
	take(w, 0, record);
	assert_int_equal(w->session.stack.frames[0], in_code(w, 0x10));
	assert_int_equal(w->session.stack.frames[1],
	                 frame_of_access(access_class_make(0, 0, place)));
}

/* The class stands between the leaf and its callers. */
static void accesses_are_of_a_place(void **state)
{
	const uint64_t sp = (uint64_t)1 << 40, chain[] = {CODE + 0x20, CODE + 0x80};
	struct world *w = *state;
	struct record record = with_chain(10, chain, 2);

	w->config.data = true;
	check_place(w, 0, sp, ACCESS_UNKNOWN);
	check_place(w, KERNEL, sp, ACCESS_KERNEL);
	check_place(w, CODE + 0x30, sp, ACCESS_CODE);
	check_place(w, sp, sp, ACCESS_STACK);
	check_place(w, sp - 8, sp, ACCESS_STACK); /* what is being pushed */
	check_place(w, sp - 256, sp, ACCESS_STACK);
	check_place(w, sp - 257, sp, ACCESS_DATA);
	check_place(w, sp + 100000, sp, ACCESS_STACK);
	check_place(w, sp + ((uint64_t)1 << 30), sp, ACCESS_DATA);
	check_place(w, sp, 0, ACCESS_DATA); /* the stack is not known */
	take(w, 0, record);
	assert_int_equal(w->session.stack.frames[0], in_code(w, 0x20));
	assert_int_equal(w->session.stack.frames[2], in_code(w, 0x7f));
}

/* --- counters --------------------------------------------------------------------------------- */

static void take_counted(struct world *w, uint64_t time, uint64_t own, uint64_t other)
{
	const uint64_t counts[] = {own, other, other};
	struct record record = sample_at(time, PID);

	record.sample.counts = counts;
	record.sample.nr_counts = 3;
	record.sample.count_stride = 1;
	take(w, 0, record);
}

static void check_counts(const struct world *w, uint64_t own, uint64_t other)
{
	assert_int_equal(w->session.counts[0], own);
	assert_int_equal(w->session.counts[1], other);
	assert_int_equal(w->session.counts[2], 3 * other);
}

static void open_counters(struct world *w, uint32_t scale)
{
	w->config.nr_counters = w->session.sampling.nr_counters = 2;
	w->config.counters[0].scale = scale;
	w->config.counters[1].scale = 3 * scale;
	open_buffer(w, 3);
}

/* A thread's totals are its own, in units, and begin anew with another program. */
static void counters_are_of_threads(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;

	open_counters(w, 64);
	take_counted(w, 1000, 100, 7);
	check_counts(w, 100, 64 * 7);
	take_counted(w, 2000, 150, 9);
	check_counts(w, 150, 64 * 9);
	say_comm(&w->session.tasks, PID, PID, "next", true, 3000);
	take_counted(w, 4000, 160, 10);
	check_counts(w, 10, 64);
	take_counted(w, 5000, 170, 12);
	check_counts(w, 20, 64 * 3);
	/* Samples without counts, as of a kernel that has none, count nothing. */
	take(w, 0, sample_at(6000, PID));
	check_counts(w, 20, 64 * 3);
	/* Samples of other events have none at all. */
	s->counts[0] = 4711;
	take(w, FAULTS, sample_at(7000, PID));
	assert_int_equal(s->counts[0], 4711);
}

static void close_most_levels(struct world *w)
{
	while (hmb_floor(w->session.hmb, 0) < 40)
		hmb_close_lowest(w->session.hmb, 0, 1, HMB_CAUSE_MEMORY);
}

/* What one sample told of a program is not told of the next one once more. */
static void a_single_sample_before_an_exec_has_told_its_counts(void **state)
{
	struct world *w = *state;

	open_counters(w, 1);
	take_counted(w, 1000, 100, 7);
	say_comm(&w->session.tasks, PID, PID, "next", true, 3000);
	take_counted(w, 4000, 160, 10);
	check_counts(w, 60, 3);
	say_comm(&w->session.tasks, PID, PID, "last", true, 5000);
	take_counted(w, 6000, 180, 11);
	check_counts(w, 20, 1);
	/* Nor is it forgotten with each sample of the next one that is not stored. */
	close_most_levels(w);
	say_comm(&w->session.tasks, PID, PID, "unstored", true, 7000);
	take_counted(w, 8000, 200, 12);
	check_counts(w, 20, 1);
	take_counted(w, 9000, 230, 14);
	check_counts(w, 50, 3);
}

/* What no sample has told yet goes on to the next one, whatever program that is of. */
static void counts_below_the_floor_are_told_later(void **state)
{
	struct world *w = *state;

	open_counters(w, 1);
	close_most_levels(w);
	take_counted(w, 1000, 100, 7);
	take_counted(w, 2000, 150, 8);
	assert_int_equal(hmb_stored(w->session.hmb, 0), 0);
	say_comm(&w->session.tasks, PID, PID, "next", true, 3000);
	take_counted(w, 4000, 160, 10);
	check_counts(w, 160, 10);
}

static void counts_of_cpus_are_totals(void **state)
{
	struct world *w = *state;

	open_counters(w, 2);
	w->session.sampling.way = SAMPLER_CGROUP;
	take_counted(w, 1000, 100, 7);
	check_counts(w, 100, 14);
	take_counted(w, 2000, 90, 9);
	check_counts(w, 90, 18);
	assert_null(task_of(w, PID)->counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_sample_of_ours_counts_nothing),
		TEST(before_the_exec_is_counted_apart),
		TEST(the_last_sample_of_a_thread_is_its_own),
		TEST(an_exec_begins_a_thread_of_its_own),
		TEST(a_thread_that_is_being_reaped_is_its_process),
		TEST(each_thread_has_its_streams),
		TEST(events_of_cpus_have_streams_of_cpus),
		TEST(weights_follow_the_period_of_the_sample),
		TEST(what_is_below_the_floor_is_taken_alone),
		TEST(a_reset_starts_anew),
		TEST(resets_leave_no_trace),
		TEST(chance_chooses_among_counts),
		TEST(the_guard_hears_of_one_clock),
		TEST(the_rate_of_counters_is_learnt),
		TEST(chains_are_of_calls),
		TEST(chains_of_programs_stay_there),
		TEST(without_a_chain_there_is_the_place),
		TEST(long_chains_are_cut_and_say_so),
		TEST(narrow_programs_have_no_callers),
		TEST(branches_are_a_stack),
		TEST(accesses_are_of_a_place),
		TEST(counters_are_of_threads),
		TEST(a_single_sample_before_an_exec_has_told_its_counts),
		TEST(counts_below_the_floor_are_told_later),
		TEST(counts_of_cpus_are_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
