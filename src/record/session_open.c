#include "record/in_step.h"
#include "record/period.h"
#include "record/memory_room.h"
#include "record/summary.h"
#include "record/session.h"
#include "perf/sampler/cost.h"
#include "perf/machine/permission.h"
#include "symbolize/unwind/arch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define FILE_PATIENCE_MS 1000 /* samples wait meanwhile; the rings hold about as much */

#define RING_TOTAL ((size_t)128 << 20)
#define RING_MOST  ((size_t)4 << 20)
#define RING_LEAST ((size_t)256 << 10)

static uint64_t sample_price(const struct record_config *config)
{
	struct cost_question question = {
		.exclude_kernel = config->events[0].attr.exclude_kernel,
		.callchain = config->stack.mode == TRACE_STACKS_FP,
	};
	uint64_t price;
	int err;

	if (config->stack.mode == TRACE_STACKS_DWARF) {
		question.stack_size = config->stack.size;
		question.regs = unwind_regs_mask();
	}
	err = cost_measure(&question, &price);
	return err ? 0 : price;
}

size_t session_ring_size(unsigned nr_cpus)
{
	size_t size = RING_MOST;

	while (size > RING_LEAST && size * nr_cpus > RING_TOTAL)
		size /= 2;
	return size;
}

/* A whole stack, or the one caller that frame pointers do not lead to. */
static bool session_unwinds(const struct record_config *config)
{
	return config->stack.mode == TRACE_STACKS_DWARF ||
	       (ARCH_HIDDEN_CALLER && config->stack.mode == TRACE_STACKS_FP);
}

/* Or whether frame pointers led to the root. */
static bool session_knows_rules(const struct record_config *config)
{
	return config->stack.mode == TRACE_STACKS_DWARF || config->stack.mode == TRACE_STACKS_FP;
}

static void configure_stacks(const struct session *s, struct sampler_config *wanted)
{
	const struct record_config *config = s->config;
	bool kernel = false;

	for (unsigned e = 0; e < config->nr_events; e++)
		kernel |= !config->events[e].attr.exclude_kernel;
	wanted->kernel_code = kernel;
	if (config->stack.mode == TRACE_STACKS_NONE)
		return;
	wanted->max_stack = config->stack.mode == TRACE_STACKS_FP ? config->stack.max : 0;
	wanted->kernel_chain = kernel;
	wanted->branches = config->stack.mode == TRACE_STACKS_LBR;
	wanted->user_chain = config->stack.mode == TRACE_STACKS_FP || wanted->branches;
	if (session_unwinds(config))
		wanted->regs = unwind_regs_mask();
	if (config->stack.mode != TRACE_STACKS_DWARF)
		return;
	wanted->stack_size = config->stack.size;
	wanted->copy_size = stack_copy_size;
	wanted->copy_arg = s;
}

/*
 * A launcher binds a rank to where it is to run, and its recorder with it. Who else binds a
 * recorder may do so to keep it from the target.
 */
static struct cpu_list likely_cpus(const struct record_config *config)
{
	struct cpu_list likely = config->cpus;

	if (config->command && !config->wide && config->rank >= 0)
		cpu_list_allowed(&likely);
	else if (!config->some_cpus)
		cpu_list_online(&likely);
	return likely;
}

/* Where larger ones are not permitted, the usual size is no shortage that would be told. */
static size_t ring_size(const struct session *s, unsigned nr_cpus)
{
	size_t usual = session_ring_size(nr_cpus), size = usual;
	struct permission permission;

	if (usual == RING_MOST && nr_cpus)
		size = stack_copy_ring(s, usual, RING_TOTAL / nr_cpus);
	if (size == usual)
		return usual;
	permission_read(&permission);
	return permission_has(&permission, PERMISSION_RINGS, nr_cpus * size * 2) ? size : usual;
}

void session_configure_sampler(const struct session *s, struct sampler_config *wanted)
{
	const struct record_config *config = s->config;

	*wanted = (struct sampler_config){
		.way = s->sampling.way,
		.cgroup = s->cgroup.fd,
		.in_cgroup = s->sampling.own.nr > 0,
		.data = config->data,
		.cpus = config->some_cpus ? &config->cpus : NULL,
		.on_exec = config->command && !config->delay,
		.totals = s->sampling.way == SAMPLER_LADDER && config->command
	                          ? sampler_possible_totals(&config->events[0])
	                          : SAMPLER_NO_TOTALS,
		.events = config->events,
		.nr_events = config->nr_events,
		.counters = config->counters,
		.nr_counters = s->sampling.nr_counters,
		.in_step = config->in_step && (s->sampling.way == SAMPLER_CGROUP ||
	                                       !config->command || adoption_wanted(config)),
		.tolerance = in_step_tolerance(s->guard.price),
		.spread = !config->period,
		.exclude_idle = config->wide && !config->cgroup,
	};
	configure_stacks(s, wanted);
	for (unsigned e = 0; e < config->nr_events; e++) {
		wanted->base_period[e] =
			period_base(&config->events[e], config->frequency, config->period);
		wanted->shift[e] = s->sampling.shift[e];
		wanted->spare[e] = !s->events[e].on;
	}
}

int session_open_sampler(struct session *s, const pid_t *tasks, size_t nr_tasks)
{
	const struct cpu_list likely = likely_cpus(s->config);
	struct sampler_config wanted;
	char why[WHY_SIZE];

	session_configure_sampler(s, &wanted);
	wanted.tasks = tasks;
	wanted.nr_tasks = nr_tasks;
	wanted.likely = &likely;
	wanted.ring_size = ring_size(s, cpu_list_count(&likely));
	s->tasks.by_switches = wanted.totals == SAMPLER_TOTALS_BY_SWITCHES;
	s->sampler = sampler_open(&wanted, why);
	if (s->sampler)
		return 0;
	session_notice(s, (struct notice){NOTICE_SAMPLER, .text = why});
	return -errno;
}

/* Calls are behind the events. They last so long that units of 8 ns tell their times. */
static void configure_calls(struct session *s, struct hmb_config *buffer)
{
	const struct record_config *config = s->config;

	if (!config->calls.wanted)
		return;
	s->calls_kind = buffer->nr_kinds;
	buffer->kinds[buffer->nr_kinds++] = (struct hmb_kind_config){
		.content = HMB_CALLS,
		.time_shift = 3,
		.share = (size_t)((double)config->budget * config->calls.share),
		.by_level = config->calls.policy != TRACE_POLICY_ALL,
	};
}

/*
 * Calls come by the million a second, and a page that is touched the first time costs as much as a
 * hundred of them. Ranks that spin on all CPUs would wait for that, so it is done before they
 * start. Private memory is left alone; what fails, costs later.
 */
static void touch_share(const struct session *s, const struct hmb_config *buffer)
{
	if (s->config->calls.wanted && tables_recoverable(s->tables))
		madvise(buffer->memory, buffer->kinds[s->calls_kind].share, MADV_POPULATE_WRITE);
}

/* No sample may be in the module that calls come from. */
static void note_frame(void *arg, uint64_t frame)
{
	summary_modules(arg, &frame, 1);
}

static int begin_calls(struct session *s)
{
	const unsigned kind = s->calls_kind;
	const struct calls_config calls = {
		.hmb = s->hmb,
		.kind = kind,
		.tables = s->tables,
		.tasks = &s->tasks,
		.policy = s->config->calls.policy,
		.patience = s->config->calls.patience,
		.polls = s->config->calls.polls,
		.keep = s->config->calls.keep,
		.share = s->hmb->kinds[kind].config.share,
		.note_frame = note_frame,
		.arg = s,
	};

	if (s->calls)
		calls_want(s->calls, s->config->calls.classes);
	return s->calls ? calls_begin(s->calls, &calls) : 0;
}

/*
 * Two recorders that are to write one trace. The ranks of a launcher wait for each other before any
 * begins: all go on, and their traces get names beside each other.
 */
static bool is_second(const struct session *s)
{
	return tables_name_taken(s->tables) == -EBUSY && s->config->rank < 0;
}

static int open_tables(struct session *s)
{
	const struct record_config *config = s->config;

	session_advise(s, memory_room_in_cgroup(config->budget));
	s->tables = tables_new(config->budget, config->output);
	if (!s->tables)
		return -errno;
	if (is_second(s)) {
		session_notice(s, (struct notice){NOTICE_OTHER_RECORDER});
		return -EEXIST;
	}
	if (tables_kept_leftover(s->tables))
		session_notice(s, (struct notice){NOTICE_LEFTOVER});
	session_notice(s, (struct notice){NOTICE_TABLES});
	if (tables_recoverable(s->tables))
		return 0;
	session_notice(s, (struct notice){tables_name_taken(s->tables) ? NOTICE_NAME_TAKEN
	                                                               : NOTICE_UNRECOVERABLE,
	                                  .advice = memory_room_in_shm(config->budget)});
	return 0;
}

/* The low bits of a time are the timer's jitter: about 1/512 of the first period is enough. */
static unsigned time_shift(const struct session *s, unsigned number)
{
	const struct record_config *config = s->config;
	const struct event *event = &config->events[number];
	uint64_t period = event->unit == EVENT_COUNT
	                          ? 100000
	                          : period_base(event, config->frequency, config->period)
	                                    << s->sampling.shift[number];
	unsigned shift = 0;

	while (shift < 20 && (uint64_t)724 << shift <= period)
		shift++;
	return shift;
}

struct hmb_kind_config session_kind(const struct session *s, unsigned event)
{
	return (struct hmb_kind_config){
		.time_shift = time_shift(s, event),
		.stream_owner =
			s->sampling.way == SAMPLER_CGROUP ? STREAM_OF_CPU : STREAM_OF_THREAD,
		.nr_counters = !event && s->sampling.nr_counters ? 1 + s->sampling.nr_counters : 0,
	};
}

static void configure_events(const struct session *s, struct hmb_config *buffer)
{
	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (session_has_kind(s, e))
			buffer->kinds[buffer->nr_kinds++] = session_kind(s, e);
}

static int open_buffer(struct session *s)
{
	struct hmb_config buffer = {
		.size = s->config->budget,
		.memory = tables_arena(s->tables),
		.reserve = tables_reserve_arena,
		.release = tables_release_arena,
		.restore = tables_restore_arena,
		.reserve_arg = s->tables,
		.ledger = tables_ledger(s->tables),
		.max_path = SESSION_MAX_STACK,
		.truncated_frame = FRAME_TRUNCATED,
	};

	configure_events(s, &buffer);
	configure_calls(s, &buffer);
	touch_share(s, &buffer);
	s->hmb = hmb_new(&buffer);
	if (!s->hmb)
		return -errno;
	s->buffer_size = hmb_size(s->hmb);
	return 0;
}

static void forget_task(void *arg, pid_t tid)
{
	struct session *s = arg;

	if (s->stack.unwinder)
		unwinder_forget(s->stack.unwinder, tid);
}

static int open_names(struct session *s)
{
	s->modules = module_table_new();
	if (!s->modules || module_table_read_aside(s->modules, FILE_PATIENCE_MS))
		return -ENOMEM;
	tasks_init(&s->tasks, s->tables, s->modules,
	           s->sampling.way == SAMPLER_LADDER ? s->config->nr_events : 0, forget_task, s);
	s->tasks.scale = s->config->events[0].scale;
	s->tasks.user_only = s->tasks.inherited && s->config->events[0].unit == EVENT_NS &&
	                     s->config->events[0].attr.exclude_kernel;
	s->stack.config = s->config;
	s->stack.modules = s->modules;
	if (!session_knows_rules(s->config))
		return 0;
	s->stack.unwinder = unwinder_new(s->modules, s->config->stack.engine);
	return s->stack.unwinder ? 0 : -errno;
}

int session_open_cpu_events(struct session *s)
{
	size_t nr = (size_t)s->config->nr_events * sampler_nr_cpus(s->sampler);

	s->cpu_events = calloc(nr, sizeof(*s->cpu_events));
	if (!s->cpu_events)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		s->cpu_events[i].stream =
			stream_start(s->config->seed, s->nr_streams++,
		                     s->sampling.shift[i / sampler_nr_cpus(s->sampler)]);
	return 0;
}

int session_open(struct session *s)
{
	int err;

	overhead_guard_init(&s->guard, s->config->max_overhead, sample_price(s->config));
	session_choose_shifts(s);
	err = open_tables(s);
	if (!err)
		err = open_buffer(s);
	if (!err)
		err = open_names(s);
	return err ? err : begin_calls(s);
}
