#include "output/profile/cut_stacks.h"
#include "output/profile/counter_columns.h"
#include "output/report/info.h"
#include "output/report/info_calls.h"
#include "output/text/json_text.h"
#include "output/views/run_properties.h"
#include "output/profile/thread_shares.h"
#include "trace/trace_calls.h"

#include <string.h>

static void add_text(struct json_object *object, const char *key, const struct trace *trace,
                     uint32_t string)
{
	json_add_text(object, key, trace_string(trace, string));
}

static void add_exact(struct json_object *object, uint32_t flags, uint64_t exact)
{
	json_add(object, "exact", flags & TRACE_THREAD_EXACT ? json_number(exact) : NULL);
}

static struct json_object *command_line(const char *command)
{
	struct json_object *array = json_list();

	for (;;) {
		size_t size = strcspn(command, "\x1f");

		json_append(array, json_text_part(command, size));
		if (!command[size])
			return array;
		command += size + 1;
	}
}

static struct json_object *one_event(const struct trace *trace, const struct trace_event *event)
{
	struct json_object *object = json_new();

	add_text(object, "name", trace, event->name);
	json_add_text(object, "unit", trace_unit_name(event->unit));
	json_add_number(object, "base_period", event->base_period);
	json_add_number(object, "initial_period", trace_period(event, event->initial_shift));
	json_add_number(object, "final_period", trace_period(event, trace_shift(event)));
	json_add_number(object, "taken", event->taken);
	json_add(object, "exact", event->exact ? json_number(event->exact) : NULL);
	json_add_number(object, "stored", event->stored);
	return object;
}

static struct json_object *all_events(const struct trace *trace)
{
	struct json_object *array = json_list();
	const struct trace_event *event;

	for (uint32_t i = 0; (event = trace_event(trace, i)); i++)
		json_append(array, one_event(trace, event));
	return array;
}

static struct json_object *one_counter(const struct trace *trace,
                                       const struct trace_counter *counter, uint64_t counted)
{
	static const char *const states[] = {"counted", "scaled", "never"};
	const struct trace_event *event = trace_event(trace, counter->event);
	struct json_object *object = json_new();
	bool known = counter->flags & TRACE_COUNTER_TOTAL;
	enum counter_state state = trace_counter_state(counter);

	add_text(object, "name", trace, counter->name);
	add_text(object, "event", trace, event->name);
	json_add_text(object, "unit", trace_unit_name(counter->unit));
	json_add_text(object, "state", states[state]);
	json_add(object, "total",
	         known && state != COUNTER_NEVER ? json_number(counter->total) : NULL);
	json_add(object, "with_samples", state != COUNTER_NEVER ? json_number(counted) : NULL);
	json_add_real(object, "scale", trace_counter_scale(counter));
	json_add(object, "enabled_ns", known ? json_number(counter->enabled) : NULL);
	json_add(object, "running_ns", known ? json_number(counter->running) : NULL);
	return object;
}

static struct json_object *all_counters(const struct trace *trace, const struct shares *shares)
{
	struct json_object *array = json_list();
	const struct trace_counter *counter;

	for (uint32_t i = 0; (counter = trace_counter(trace, i)); i++)
		json_append(array, one_counter(trace, counter, shares->counted[1 + i]));
	return array;
}

/*
 * The number of records is added up at the end of a recording, so it is unknown if the recorder did
 * not reach its end.
 */
static struct json_object *memory(const struct trace_run *run)
{
	bool ended = !(run->flags & (TRACE_RUN_RECOVERED | TRACE_RUN_SNAPSHOT));
	struct json_object *object = json_new();

	json_add_number(object, "budget", run->budget);
	json_add_number(object, "used", run->used);
	json_add_number(object, "contexts", run->contexts);
	json_add(object, "records", ended ? json_number(run->records) : NULL);
	json_add_number(object, "peak_rss", run->peak_rss);
	return object;
}

/* By reason; null where that is not known. */
static struct json_object *cut_stacks(const struct trace_run *run)
{
	struct json_object *object = run->built_stacks ? json_new() : NULL;

	for (enum stack_cut reason = 0; object && reason < NR_STACK_CUTS; reason++)
		json_add_number(object, cut_stack_name(reason), run->cut_stacks[reason]);
	return object;
}

static struct json_object *samples(const struct trace *trace)
{
	const struct trace_run *run = trace_run(trace);
	const struct trace_losses losses = trace_losses(trace, TRACE_ALL_EVENTS);
	struct json_object *object = json_new();
	uint64_t taken = 0, stored = 0;
	const struct trace_event *event;

	for (uint32_t i = 0; (event = trace_event(trace, i)); i++) {
		taken += event->taken;
		stored += event->stored;
	}
	json_add_number(object, "taken", taken);
	json_add_number(object, "stored", stored);
	json_add_number(object, "reduced", taken - stored);
	json_add_number(object, "lost", losses.lost);
	json_add_number(object, "throttled", losses.throttled);
	json_add_number(object, "truncated_stacks", run->truncated_stacks);
	json_add(object, "cut_stacks", cut_stacks(run));
	json_add_number(object, "stitched_stacks", run->stitched_stacks);
	json_add_number(object, "folded_contexts", run->folded_contexts);
	json_add_number(object, "late", run->late);
	json_add_number(object, "malformed", run->malformed);
	json_add_number(object, "lost_records", run->lost_records);
	json_add_number(object, "unobserved", run->unobserved);
	return object;
}

static struct json_object *reductions(const struct trace *trace)
{
	struct json_object *array = json_list();
	const struct trace_reduction *reduction;

	for (uint32_t i = 0; (reduction = trace_reduction(trace, i)); i++) {
		struct json_object *object = json_new();
		const struct trace_event *event = trace_event(trace, reduction->event);
		const struct trace_event *kind = trace_kind(trace, reduction->event);

		json_add_number(object, "time_ns", reduction->time);
		add_text(object, "event", trace, kind ? kind->name : 0);
		json_add_text(object, "cause", reduction_cause(reduction->cause));
		json_add_number(object, "floor", reduction->floor);
		json_add_number(object, "period",
		                event ? trace_period(event, reduction->floor) : 0);
		json_add_number(object, "bins", reduction->bins);
		json_append(array, object);
	}
	return array;
}

static struct json_object *threads(const struct trace *trace, const struct shares *shares)
{
	struct json_object *array = json_list();

	for (uint32_t i = 0; i < shares->nr_threads; i++) {
		const struct trace_thread *thread = trace_thread(trace, i);
		struct json_object *object;

		if (thread_unused(thread))
			continue;
		object = json_new();
		json_add_int(object, "pid", thread->pid);
		json_add_int(object, "tid", thread->tid);
		add_text(object, "comm", trace, thread->comm);
		json_add_number(object, "stored", shares->threads[i].stored);
		json_add_number(object, "weight", shares->threads[i].weight);
		add_exact(object, thread->flags, thread->exact);
		json_add_number(object, "start_ns", thread->start);
		json_add(object, "end_ns", thread->end ? json_number(thread->end) : NULL);
		json_append(array, object);
	}
	return array;
}

static struct json_object *commands(const struct trace *trace, const struct shares *shares)
{
	struct json_object *array = json_list();

	for (uint32_t i = 0; i < shares->nr_commands; i++) {
		const struct trace_command *command = trace_command(trace, i);
		struct json_object *object;

		if (command_unused(shares, trace, i))
			continue;
		object = json_new();
		add_text(object, "comm", trace, command->comm);
		json_add_number(object, "tasks", command->tasks);
		json_add_number(object, "stored", shares->commands[i].stored);
		json_add_number(object, "weight", shares->commands[i].weight);
		add_exact(object, command->flags, command->exact);
		json_append(array, object);
	}
	return array;
}

static const char *stacks_text(uint32_t stacks)
{
	static const char *const texts[] = {
		[TRACE_STACKS_NONE] = "none",
		[TRACE_STACKS_FP] = "fp",
		[TRACE_STACKS_DWARF] = "dwarf",
		[TRACE_STACKS_LBR] = "lbr",
	};

	return stacks < sizeof(texts) / sizeof(*texts) ? texts[stacks] : "unknown";
}

static void add_run(struct json_object *object, const struct trace *trace)
{
	const struct trace_run *run = trace_run(trace);

	json_add_number(object, "format_version", TRACE_VERSION);
	add_text(object, "version", trace, run->version);
	json_add(object, "command", command_line(trace_string(trace, run->command)));
	json_add(object, "exit_status", run->exit_status < 0 ? NULL : json_int(run->exit_status));
	json_add_int(object, "pid", run->pid);
	add_text(object, "directory", trace, run->directory);
	add_text(object, "host", trace, run->host);
	add_text(object, "kernel", trace, run->kernel);
	add_text(object, "cpu_model", trace, run->cpu_model);
	json_add_number(object, "nr_cpus", run->nr_cpus);
	json_add_number(object, "start_time_ns", run->real_start);
	json_add_number(object, "start_ns", run->start);
	json_add_number(object, "delay_ns", run->delay);
	json_add_number(object, "wall_ns", trace_wall(run));
}

static const char *counting_text(const struct trace_run *run)
{
	return run->flags & TRACE_RUN_WIDE     ? "cpu"
	       : run->flags & TRACE_RUN_CGROUP ? "cgroup"
	                                       : "inherit";
}

static void add_method(struct json_object *object, const struct trace_run *run)
{
	json_add_text(object, "stacks", stacks_text(run->stacks));
	json_add_text(object, "counting", counting_text(run));
	json_add_real(object, "max_overhead", run->max_overhead / 10.0);
	json_add_number(object, "sample_price_ns", run->sample_price);
	json_add_number(object, "recorder_cpu_ns", run->recorder_cpu);
	json_add_number(object, "drain_latency_ns", run->drain_latency);
	json_add_number(object, "seed", run->seed);
	json_add_flag(object, "attached", run->flags & TRACE_RUN_ATTACHED);
	json_add_flag(object, "data", run->flags & TRACE_RUN_DATA);
	json_add_flag(object, "recovered", run->flags & TRACE_RUN_RECOVERED);
	json_add_flag(object, "snapshot", run->flags & TRACE_RUN_SNAPSHOT);
	json_add_flag(object, "kernel_hidden", run->flags & TRACE_RUN_KERNEL_HIDDEN);
	json_add_flag(object, "split_missing", run->flags & TRACE_RUN_SPLIT_MISSING);
	json_add_flag(object, "lines_packed", run->flags & TRACE_RUN_LINES_PACKED);
	json_add_flag(object, "lines_refused", run->flags & TRACE_RUN_LINES_REFUSED);
	json_add_flag(object, "user_only", run->flags & TRACE_RUN_USER_ONLY);
	json_add_flag(object, "one_kind", run->flags & TRACE_RUN_ONE_KIND);
	json_add_flag(object, "left_cgroup", run->flags & TRACE_RUN_LEFT_CGROUP);
	json_add_flag(object, "missed_cpu", run->flags & TRACE_RUN_MISSED_CPU);
	json_add_flag(object, "killed", run->flags & TRACE_RUN_KILLED);
	json_add_number(object, "refused_modules", run->refused_modules);
	json_add_number(object, "unanswered_files", run->unanswered_files);
	json_add_number(object, "refused_mappings", run->refused_mappings);
	json_add_number(object, "folded_threads", run->folded_threads);
	json_add_number(object, "refused_strings", run->refused_strings);
}

int info_json(FILE *to, const struct trace *trace)
{
	struct json_out out = {.to = to};
	struct json_object *object;
	struct shares shares;
	int err = shares_init(&shares, trace);

	if (err)
		return err;
	object = json_new();
	add_run(object, trace);
	add_method(object, trace_run(trace));
	json_add(object, "events", all_events(trace));
	json_add(object, "counters", all_counters(trace, &shares));
	if (trace_has_calls(trace))
		json_add(object, "calls", info_calls_object(trace));
	if (trace_process(trace, 0))
		json_add(object, "processes", info_processes_object(trace));
	json_add(object, "memory", memory(trace_run(trace)));
	json_add(object, "samples", samples(trace));
	json_add(object, "reductions", reductions(trace));
	json_add(object, "threads", threads(trace, &shares));
	json_add(object, "commands", commands(trace, &shares));
	json_put(&out, object);
	fputc('\n', to);
	shares_fini(&shares);
	return out.err;
}
