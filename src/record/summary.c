#include "record/summary.h"
#include "record/exact_totals.h"
#include "record/idle_time.h"
#include "record/in_step.h"
#include "base/clock.h"
#include "base/text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#define COMM_SIZE 32
#define TICKS_OF_LOST                                                                            \
	10               /* from one reading of lost samples to the next: it takes a system call \
	                  * for each event and CPU */
#define TICKS_OF_IDLE 10 /* from one look at the time of idle CPUs to the next: a second */

/* Reads the name of a process. It is empty if the process has ended. */
static void read_comm(pid_t pid, char comm[COMM_SIZE])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (text_file_read(path, comm, COMM_SIZE))
		*comm = '\0';
}

/* A kernel's thread was started by no command. */
static uint32_t kernel_thread_string(struct session *s)
{
	char comm[COMM_SIZE], text[COMM_SIZE + 8] = "";

	read_comm(s->config->attach[0], comm);
	if (*comm)
		snprintf(text, sizeof(text), "[%s]", comm);
	return tables_string(s->tables, text);
}

/* "[2 processes: 12 nginx, 15 nginx]", as far as there is room. */
static uint32_t processes_string(struct session *s)
{
	const struct record_config *config = s->config;
	char text[4096], comm[COMM_SIZE];
	size_t used = (size_t)snprintf(text, sizeof(text), "[%u processes:", config->nr_attach);
	unsigned i = 0;

	for (; i < config->nr_attach && used < sizeof(text) - 64; i++) {
		read_comm(config->attach[i], comm);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %d%s%s",
		                         i ? "," : "", (int)config->attach[i], *comm ? " " : "",
		                         comm);
	}
	snprintf(text + used, sizeof(text) - used, "%s]", i < config->nr_attach ? ", ..." : "");
	return tables_string(s->tables, text);
}

/* How the process was started, as far as it still says so. */
static uint32_t attached_string(struct session *s)
{
	char path[64], text[4096];
	size_t size = 0;
	FILE *f;

	if (s->config->nr_attach > 1)
		return processes_string(s);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)s->config->attach[0]);
	f = fopen(path, "re");
	if (f) {
		size = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	while (size && !text[size - 1])
		size--;
	for (size_t i = 0; i < size; i++)
		text[i] = text[i] ? text[i] : '\x1f';
	text[size] = '\0';
	if (!size)
		return kernel_thread_string(s);
	return tables_string(s->tables, text);
}

/* The arguments of a command, behind what is sampled instead of it. */
static uint32_t command_string(struct session *s, const char *instead)
{
	static char *none[] = {NULL};
	char **argv = s->config->command ? s->config->command : none, *joined, *at;
	size_t size = 1 + strlen(instead);
	uint32_t string;

	for (char **a = argv; *a; a++)
		size += strlen(*a) + 1;
	at = joined = malloc(size);
	if (!joined)
		return 0;
	at += sprintf(at, "%s", instead);
	for (char **a = argv; *a; a++)
		at += sprintf(at, "%s%s", at == joined ? "" : "\x1f", *a);
	string = tables_string(s->tables, joined);
	free(joined);
	return string;
}

/* "[all CPUs]", "[some CPUs]" or "[cgroup NAME]", and the command meanwhile. */
static uint32_t wide_string(struct session *s)
{
	const struct record_config *config = s->config;
	char text[PATH_MAX + 16];

	if (!config->cgroup)
		return command_string(s, config->some_cpus ? "[some CPUs]" : "[all CPUs]");
	snprintf(text, sizeof(text), "[cgroup %s]", config->cgroup);
	return command_string(s, text);
}

static uint32_t cpu_model(struct session *s)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256], model[200] = "";

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "model name : %199[^\n]", model) == 1)
			break;
	if (f)
		fclose(f);
	return tables_string(s->tables, model);
}

static void describe_machine(struct session *s, struct trace_run *run)
{
	char directory[4096];
	struct utsname name;

	if (!uname(&name)) {
		run->host = tables_string(s->tables, name.nodename);
		run->kernel = tables_string(s->tables, name.release);
	}
	if (getcwd(directory, sizeof(directory)))
		run->directory = tables_string(s->tables, directory);
	run->cpu_model = cpu_model(s);
	run->version = tables_string(s->tables, ADAPTRACE_VERSION);
	run->nr_cpus = sampler_nr_cpus(s->sampler);
}

void summary_event(struct session *s, unsigned e)
{
	struct trace_event *event = tables_add_event(s->tables);
	uint32_t scale = s->config->events[e].scale;

	if (!event)
		return;
	event->name = tables_string(s->tables, s->config->events[e].name);
	event->unit = s->config->events[e].unit == EVENT_NS ? TRACE_NS : TRACE_COUNT;
	event->base_period = sampler_base_period(s->sampler, e, 0) * scale;
	event->initial_shift = s->sampling.shift[e];
	for (unsigned c = 0; c < sampler_nr_cpus(s->sampler); c++) {
		struct trace_stream *stream = tables_add_stream(s->tables);

		if (!stream)
			return;
		stream->event = s->events[e].kind;
		stream->cpu = sampler_cpu(s->sampler, c);
		stream->base_period = sampler_base_period(s->sampler, e, c) * scale;
	}
}

static void describe_counter(struct session *s, const struct event *counter)
{
	struct trace_counter *entry = tables_add_counter(s->tables);

	if (!entry)
		return;
	entry->name = tables_string(s->tables, counter->name);
	entry->unit = counter->unit == EVENT_NS ? TRACE_NS : TRACE_COUNT;
	if (counter->attr.type == PERF_TYPE_SOFTWARE || counter->attr.type == PERF_TYPE_TRACEPOINT)
		entry->flags |= TRACE_COUNTER_KERNEL;
}

/* Calls are an event of their own in the trace, behind those that are sampled. */
static void describe_calls(struct session *s)
{
	struct trace_event *event = s->calls ? tables_add_event(s->tables) : NULL;

	if (!event)
		return;
	event->name = tables_string(s->tables, "calls");
	event->unit = TRACE_CALLS;
}

/* Stores the MPI rank of the target, which merge needs where no recorded call reports it. */
static void describe_rank(struct session *s, int32_t pid)
{
	const struct trace_process process = {
		.pid = pid, .rank = s->config->rank, .flags = TRACE_PROCESS_ALL};

	if (process.rank >= 0)
		tables_add_process(s->tables, &process);
}

static const struct cpu_list *sampled_cpus(const struct session *s)
{
	return s->config->some_cpus ? &s->config->cpus : NULL;
}

/* Idle CPUs are in the kernel. */
static bool counts_idle(const struct record_config *config)
{
	const struct event *event = &config->events[0];

	return config->wide && !config->cgroup && event->unit == EVENT_NS &&
	       !event->attr.exclude_kernel;
}

void summary_begin(struct session *s)
{
	struct trace_run *run = tables_run(s->tables);

	s->idle_start = counts_idle(s->config) ? idle_time(sampled_cpus(s)) : 0;

	run->real_start = clock_ns(CLOCK_REALTIME);
	run->start = run->end = sampler_now();
}

/*
 * The segments of a file that could not be opened are unknown, so its addresses cannot be
 * converted. A lookup by build-id would find wrong functions.
 */
static bool is_unseen(const struct module *module)
{
	return module->type == MODULE_FILE && !module->nr_segments;
}

static void note_module(struct session *s, uint16_t id)
{
	const struct module *module = module_table_get(s->modules, id);
	struct trace_module *entry = tables_module(s->tables, id);

	if (!module || !entry)
		return;
	entry->path = tables_string(s->tables, module->path);
	if (is_unseen(module)) {
		entry->flags =
			TRACE_MODULE_UNSEEN | (module_is_no_elf(module) ? TRACE_MODULE_NO_ELF : 0);
	} else {
		entry->build_id_size = module->build_id.size;
		memcpy(entry->build_id, module->build_id.bytes, sizeof(entry->build_id));
	}
	entry->pid = module->type == MODULE_ANON ? module->pid : 0;
	entry->area = module->area;
	entry->type = (uint8_t)module->type;
}

static uint32_t first_flags(const struct session *s)
{
	const struct record_config *config = s->config;

	return (s->sampling.way == SAMPLER_CGROUP ? TRACE_RUN_CGROUP : 0U) |
	       (config->data ? TRACE_RUN_DATA : 0U) | (config->wide ? TRACE_RUN_WIDE : 0U) |
	       (config->wide || config->command ? 0U : TRACE_RUN_ATTACHED) |
	       (config->in_step ? TRACE_RUN_IN_STEP : 0U) |
	       (config->user_only ? TRACE_RUN_USER_ONLY : 0U) |
	       (s->sampling.one_core_type ? TRACE_RUN_ONE_CORE_TYPE : 0U);
}

/* Stores what is sampled: a command, processes or CPUs. */
static void describe_target(struct session *s, struct trace_run *run)
{
	const struct record_config *config = s->config;

	run->command = config->wide      ? wide_string(s)
	               : config->command ? command_string(s, "")
	                                 : attached_string(s);
	run->pid = config->command ? s->launch.pid : config->nr_attach == 1 ? config->attach[0] : 0;
	run->exit_status = -1;
}

void summary_start(struct session *s)
{
	const struct record_config *config = s->config;
	struct trace_run *run = tables_run(s->tables);

	run->flags |= first_flags(s);
	run->stacks = config->stack.mode;
	describe_target(s, run);
	note_module(s, 0);
	run->bin_shift = s->hmb->arena.bin_shift;
	run->sub_shift = s->hmb->arena.sub_shift;
	run->max_overhead = (uint32_t)(config->max_overhead * 1000 + 0.5);
	summary_begin(s);
	run->budget = config->budget;
	run->sample_price = s->guard.price;
	run->seed = config->seed;
	run->delay = config->delay;
	describe_machine(s, run);
	for (unsigned e = 0; e < config->nr_events; e++)
		if (session_has_kind(s, e))
			summary_event(s, e);
	describe_calls(s);
	if (!s->calls)
		describe_rank(s, run->pid);
	for (unsigned i = 0; i < s->sampling.nr_counters; i++)
		describe_counter(s, &config->counters[i]);
}

void summary_modules(struct session *s, const uint64_t *frames, unsigned nr)
{
	uint16_t before = 0;

	for (unsigned i = 0; i < nr; i++) {
		uint16_t id = frame_module(frames[i]);

		if (id != before && !s->noted_modules[id]) {
			s->noted_modules[id] = true;
			note_module(s, id);
		}
		before = id;
	}
}

uint64_t summary_idle_unpaused(const struct session *s)
{
	const bool paused = s->started && s->pause.flags & RECORDING_PAUSED;
	const uint64_t idle = paused ? s->pause.idle : summary_idle(s);

	return idle > s->idle_start ? idle - s->idle_start : 0;
}

/* Returns the time that CPUs were idle while an event was on, ns; idle: since the start. */
static uint64_t idle_while_on(const struct session *s, unsigned event, uint64_t idle)
{
	const struct session_event *state = &s->events[event];
	const uint64_t off = state->idle_off + (state->on ? 0 : idle - state->idle_at);

	return idle > off ? idle - off : 0;
}

/*
 * Idle CPUs are not sampled. The kernel says how long they were idle, and the time is that of the
 * command that they are called. Returns it in ns.
 */
static uint64_t note_idle(struct session *s)
{
	uint64_t idle = s->idle_start ? summary_idle_unpaused(s) : 0;
	struct trace_command *command;

	if (!idle)
		return 0;
	command = tables_command(s->tables, tables_string(s->tables, TRACE_IDLE));
	command->exact = idle_while_on(s, 0, idle);
	command->flags |= TRACE_THREAD_EXACT;
	return idle;
}

uint64_t summary_idle(const struct session *s)
{
	return s->idle_start ? idle_time(sampled_cpus(s)) : 0;
}

/* Snapshots and killed recordings have these as they were at the last reading. Returns all that was
 * lost. */
static uint64_t total_streams(struct session *s)
{
	unsigned nr_cpus = sampler_nr_cpus(s->sampler);
	struct trace_stream *stream;
	uint64_t lost = 0;

	for (uint32_t i = 0; (stream = tables_stream(s->tables, i)); i++) {
		const int e = session_event_of(s, stream->event);

		if (e < 0)
			continue;
		stream->lost = sampler_lost(s->sampler, (unsigned)e, i % nr_cpus);
		stream->throttled = s->cpu_events[(unsigned)e * nr_cpus + i % nr_cpus].throttled;
		lost += stream->lost;
	}
	return lost;
}

static void note_state(struct session *s)
{
	struct recording_state *state = tables_state(s->tables);
	uint64_t stored = 0;

	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (session_has_kind(s, e))
			stored += hmb_stored(s->hmb, s->events[e].kind);
	state->stored = stored;
	if (s->ticks % TICKS_OF_LOST == 0 || s->over)
		state->lost = total_streams(s);
}

void summary_progress(struct session *s)
{
	struct trace_run *run = tables_run(s->tables);
	struct rusage usage;

	if (s->started)
		run->end = sampler_now();
	/* Not at every tick: /proc/stat grows with the numbers of CPUs and of interrupts. */
	if (s->started && !s->pause.flags && s->ticks % TICKS_OF_IDLE == 0)
		note_idle(s);
	note_state(s);
	run->used = hmb_used(s->hmb);
	run->contexts = hmb_context_bytes(s->hmb);
	run->recorder_cpu = overhead_guard_cpu_time() - s->cpu_start;
	run->late = sampler_late(s->sampler);
	run->malformed = sampler_malformed(s->sampler);
	if (s->calls) {
		calls_progress(s->calls);
		run->malformed += calls_malformed(s->calls);
	}
	run->truncated_stacks = s->stack.truncated;
	run->built_stacks = s->stack.built;
	memcpy(run->cut_stacks, s->stack.cut, sizeof(s->stack.cut));
	run->max_stack = s->config->stack.max;
	if (s->config->stack.mode == TRACE_STACKS_FP)
		run->max_stack = stack_longest_chain(s->config, s->sampler);
	run->stitched_stacks = s->stack.stitched;
	run->folded_contexts = s->hmb->truncated;
	run->drain_latency = sampler_latency(s->sampler);
	run->unobserved = s->tasks.unobserved;
	in_step_note(s);
	if (!getrusage(RUSAGE_SELF, &usage))
		run->peak_rss = (uint64_t)usage.ru_maxrss * 1024;
	tables_tell(s->tables);
}

/* Returns the recorder's CPU time while an event was off, ns. */
static uint64_t own_ns_off(const struct session *s, const struct session_event *event)
{
	const uint64_t until = s->cpu_start + s->sampling.own_ns;

	return event->own_off + (event->on || event->own_at > until ? 0 : until - event->own_at);
}

/*
 * Events count what the target's process does before it executes the command, too, and what the
 * recorder does in the target's cgroup.
 */
static uint64_t targets_total(const struct session *s, unsigned event)
{
	uint64_t total = sampler_total(s->sampler, event);
	const struct session_event *state = &s->events[event];
	const uint64_t own = s->sampling.own_ns, off = own_ns_off(s, state);
	uint64_t others =
		s->before_exec[event] + (own > off ? own - off : 0) + s->sampling.forked_ns;

	/* How often the recorder caused other events than clocks is not known. */
	if (s->sampling.own.nr && s->config->events[event].unit != EVENT_NS)
		return 0;
	return total > others ? total - others : 0;
}

static uint64_t busy_total(const struct session *s, unsigned event, uint64_t idle)
{
	uint64_t total = targets_total(s, event);

	if (s->config->events[event].unit != EVENT_NS)
		return total;
	idle = idle_while_on(s, event, idle);
	return total > idle ? total - idle : 0;
}

static void total_events(struct session *s)
{
	uint64_t idle = note_idle(s); /* that events count with the rest */
	struct trace_event *event;
	int number;

	for (uint32_t e = 0; (event = tables_event(s->tables, e)); e++) {
		event->floor = hmb_floor(s->hmb, e);
		event->taken = tables_ledger(s->tables)->taken[e];
		event->stored = hmb_stored(s->hmb, e);
		number = session_event_of(s, e);
		if (number >= 0)
			event->exact = busy_total(s, (unsigned)number, idle) *
			               s->config->events[number].scale;
	}
}

static void total_counters(struct session *s)
{
	struct sampler_reading totals;
	struct trace_counter *counter;

	sampler_counter_totals(s->sampler, &totals);
	for (uint32_t i = 0; (counter = tables_counter(s->tables, i)) && i + 1 < totals.nr; i++) {
		counter->total = totals.values[i + 1] * s->config->counters[i].scale;
		counter->enabled = totals.enabled;
		counter->running = totals.running;
		counter->flags |= TRACE_COUNTER_TOTAL;
	}
}

void summary_totals(struct session *s)
{
	struct trace_run *run = tables_run(s->tables);

	summary_progress(s);
	if (s->calls && !tables_process(s->tables, 0))
		describe_rank(s, run->pid);
	run->lost_records = sampler_lost_records(s->sampler);
	run->refused_modules = module_table_refused(s->modules);
	run->records = hmb_record_bytes(s->hmb);
	exact_total(s);
	tasks_end(&s->tasks);
	run->unobserved = s->tasks.unobserved;
	total_streams(s);
	total_events(s);
	total_counters(s);
}
