#include "output/profile/cut_stacks.h"
#include "output/profile/counter_columns.h"
#include "output/report/info.h"
#include "output/report/info_calls.h"
#include "output/report/share_tables.h"
#include "output/views/run_properties.h"
#include "trace/trace_calls.h"

#include <string.h>

static void put_string(struct json_writer *json, const char *key, const struct trace *trace,
                       uint32_t string)
{
	json_text(json, key, trace_string(trace, string));
}

static void put_command(struct json_writer *json, const char *command)
{
	size_t size;

	json_begin_list(json, "command");
	do {
		size = strcspn(command, "\x1f");
		json_text_part(json, NULL, command, size);
		command += size + 1;
	} while (command[-1]);
	json_end_list(json);
}

static void put_event(struct json_writer *json, const struct trace *trace, uint32_t number)
{
	const struct trace_event *event = trace_event(trace, number);
	const struct trace_run *run = trace_run(trace);

	json_begin(json, NULL);
	put_string(json, "name", trace, event->name);
	json_text(json, "unit", trace_unit_name(event->unit));
	json_number(json, "base_period", event->base_period);
	json_number(json, "initial_period", trace_period(event, event->initial_shift));
	json_number(json, "final_period", trace_period(event, trace_shift(event)));
	json_number(json, "taken", event->taken);
	json_known(json, "exact", event->exact, event->exact);
	json_number(json, "stored", event->stored);
	json_number(json, "sampled_ns", trace_sampled_time(trace, number, run->start, run->end));
	json_end(json);
}

static void put_events(struct json_writer *json, const struct trace *trace)
{
	json_begin_list(json, "events");
	for (uint32_t i = 0; i < trace_nr_events(trace); i++)
		put_event(json, trace, i);
	json_end_list(json);
}

static void put_counter(struct json_writer *json, const struct trace *trace,
                        const struct trace_counter *counter, uint64_t counted)
{
	static const char *const states[] = {"counted", "scaled", "never"};
	const struct trace_event *event = trace_event(trace, counter->event);
	bool known = counter->flags & TRACE_COUNTER_TOTAL;
	enum counter_state state = trace_counter_state(counter);

	json_begin(json, NULL);
	put_string(json, "name", trace, counter->name);
	put_string(json, "event", trace, event->name);
	json_text(json, "unit", trace_unit_name(counter->unit));
	json_text(json, "state", states[state]);
	json_known(json, "total", known && state != COUNTER_NEVER, counter->total);
	json_known(json, "with_samples", state != COUNTER_NEVER, counted);
	json_real(json, "scale", trace_counter_scale(counter));
	json_known(json, "enabled_ns", known, counter->enabled);
	json_known(json, "running_ns", known, counter->running);
	json_end(json);
}

static void put_counters(struct json_writer *json, const struct trace *trace,
                         const struct shares *shares)
{
	const struct trace_counter *counter;

	json_begin_list(json, "counters");
	for (uint32_t i = 0; (counter = trace_counter(trace, i)); i++)
		put_counter(json, trace, counter, shares->counted[1 + i]);
	json_end_list(json);
}

/*
 * The number of records is added up at the end of a recording, so it is unknown if the recorder did
 * not reach its end.
 */
static void put_memory(struct json_writer *json, const struct trace_run *run)
{
	bool ended = !(run->flags & TRACE_RUN_NOT_ENDED);

	json_begin(json, "memory");
	json_number(json, "budget", run->budget);
	json_number(json, "used", run->used);
	json_number(json, "contexts", run->contexts);
	json_known(json, "records", ended, run->records);
	json_number(json, "peak_rss", run->peak_rss);
	json_end(json);
}

/* Puts the numbers of cut stacks by reason, or null where they are unknown. */
static void put_cut_stacks(struct json_writer *json, const struct trace_run *run)
{
	if (!run->built_stacks) {
		json_null(json, "cut_stacks");
		return;
	}
	json_begin(json, "cut_stacks");
	for (enum stack_cut reason = 0; reason < NR_STACK_CUTS; reason++)
		json_number(json, cut_stack_name(reason), run->cut_stacks[reason]);
	json_end(json);
}

static void put_samples(struct json_writer *json, const struct trace *trace)
{
	const struct trace_run *run = trace_run(trace);
	const struct trace_losses losses = trace_losses(trace, TRACE_ALL_EVENTS);
	uint64_t taken = 0, stored = 0;
	const struct trace_event *event;

	json_begin(json, "samples");
	for (uint32_t i = 0; (event = trace_event(trace, i)); i++) {
		taken += event->taken;
		stored += event->stored;
	}
	json_number(json, "taken", taken);
	json_number(json, "stored", stored);
	json_number(json, "reduced", taken - stored);
	json_number(json, "lost", losses.lost);
	json_number(json, "throttled", losses.throttled);
	json_number(json, "truncated_stacks", run->truncated_stacks);
	put_cut_stacks(json, run);
	json_number(json, "stitched_stacks", run->stitched_stacks);
	json_number(json, "folded_contexts", run->folded_contexts);
	json_number(json, "late", run->late);
	json_number(json, "malformed", run->malformed);
	json_number(json, "lost_records", run->lost_records);
	json_number(json, "unobserved", run->unobserved);
	json_end(json);
}

static void put_reductions(struct json_writer *json, const struct trace *trace)
{
	const struct trace_reduction *reduction;

	json_begin_list(json, "reductions");
	for (uint32_t i = 0; (reduction = trace_reduction(trace, i)); i++) {
		const struct trace_window *window = trace_window_of_kind(trace, reduction->event);
		const uint32_t number =
			window ? trace_window_event(trace, window) : reduction->event;
		const struct trace_event *event = trace_event(trace, number);
		const struct trace_event *kind = trace_kind(trace, number);

		json_begin(json, NULL);
		json_number(json, "time_ns", reduction->time);
		put_string(json, "event", trace, kind ? kind->name : 0);
		json_number(json, "window", window && trace_is_window(window) ? window->number : 0);
		json_flag(json, "history", window && !trace_is_window(window));
		json_text(json, "cause", reduction_cause(reduction->cause));
		json_number(json, "floor", reduction->floor);
		json_number(json, "period", event ? trace_period(event, reduction->floor) : 0);
		json_number(json, "bins", reduction->bins);
		json_end(json);
	}
	json_end_list(json);
}

static void put_actions(struct json_writer *json, const struct trace *trace)
{
	const struct trace_action *action;

	json_begin_list(json, "actions");
	for (uint32_t i = 0; (action = trace_action(trace, i)); i++) {
		json_begin(json, NULL);
		json_number(json, "time_ns", action->time);
		put_string(json, "action", trace, action->action);
		put_string(json, "text", trace, action->text);
		json_int(json, "pid", action->pid);
		json_number(json, "uid", action->uid);
		json_text(json, "result", action->result ? "refused" : "done");
		json_end(json);
	}
	json_end_list(json);
	json_number(json, "dropped_actions", trace_run(trace)->dropped_actions);
}

static void put_conditions(struct json_writer *json, const struct trace *trace)
{
	const struct trace_condition *condition;

	json_begin_list(json, "conditions");
	for (uint32_t i = 0; (condition = trace_condition(trace, i)); i++) {
		json_begin(json, NULL);
		put_string(json, "text", trace, condition->text);
		json_number(json, "time_ns", condition->time);
		json_real(json, "value", condition->value);
		json_text(json, "file",
		          condition->file ? trace_string(trace, condition->file) : NULL);
		json_int(json, "pid", condition->pid);
		json_end(json);
	}
	json_end_list(json);
}

static void put_gaps(struct json_writer *json, const struct trace *trace)
{
	const struct trace_event *event;
	const struct trace_gap *gap;

	json_begin_list(json, "gaps");
	for (uint32_t i = 0; (gap = trace_gap(trace, i)); i++) {
		event = trace_event(trace, gap->event);
		json_begin(json, NULL);
		put_string(json, "event", trace, event ? event->name : 0);
		json_number(json, "from_ns", gap->from);
		json_number(json, "to_ns", trace_gap_end(trace, gap));
		json_end(json);
	}
	json_end_list(json);
}

/* A window, or the history. */
static int put_samples_of(struct json_writer *json, const struct trace *trace,
                          const struct trace_window *window)
{
	const struct trace_event *event = trace_event(trace, trace_window_event(trace, window));
	uint64_t nr, weight;
	int err = trace_window_weight(trace, window, &nr, &weight);

	put_string(json, "event", trace, event ? event->name : 0);
	json_number(json, "from_ns", window->from);
	json_number(json, "to_ns", trace_window_end(trace, window));
	json_number(json, "period", event ? trace_period(event, trace_window_shift(window)) : 0);
	json_number(json, "taken", window->taken);
	json_number(json, "stored", nr);
	json_number(json, "weight", weight);
	json_flag(json, "cut", window->flags & TRACE_WINDOW_CUT);
	return err;
}

static int put_window(struct json_writer *json, const struct trace *trace,
                      const struct trace_window *window)
{
	int err;

	json_begin(json, NULL);
	json_number(json, "number", window->number);
	err = put_samples_of(json, trace, window);
	json_end(json);
	return err;
}

static void put_call_history(struct json_writer *json, const struct trace *trace)
{
	struct trace_window calls;

	if (!trace_find_call_history(trace, &calls)) {
		json_null(json, "calls");
		return;
	}
	json_begin(json, "calls");
	json_number(json, "from_ns", calls.from);
	json_number(json, "to_ns", trace_window_end(trace, &calls));
	json_number(json, "taken", calls.taken);
	json_number(json, "stored", calls.stored);
	json_end(json);
}

static int put_history(struct json_writer *json, const struct trace *trace)
{
	struct trace_window history;
	int err;

	if (!trace_find_history(trace, &history)) {
		json_null(json, "history");
		return 0;
	}
	json_begin(json, "history");
	json_number(json, "wanted_ns", history.span);
	json_flag(json, "full", trace_history_is_full(trace));
	err = put_samples_of(json, trace, &history);
	put_call_history(json, trace);
	json_end(json);
	return err;
}

static int put_windows(struct json_writer *json, const struct trace *trace)
{
	const struct trace_window *window;
	int err = 0;

	json_begin_list(json, "windows");
	for (uint32_t i = 0; !err && (window = trace_window(trace, i)); i++)
		if (trace_is_window(window))
			err = put_window(json, trace, window);
	json_end_list(json);
	return err;
}

static void put_shares(struct json_writer *json, const struct trace *trace,
                       const struct shares *shares, const struct share_rows *rows, uint32_t nr)
{
	struct table table = {.columns = rows->columns, .json = json};

	for (uint32_t i = 0; i < nr; i++)
		if (!rows->unused(shares, trace, i))
			rows->put(&table, trace, shares, i);
	json_end_list(json);
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

static void put_run(struct json_writer *json, const struct trace *trace)
{
	const struct trace_run *run = trace_run(trace);

	json_number(json, "format_version", TRACE_VERSION);
	put_string(json, "version", trace, run->version);
	put_command(json, trace_string(trace, run->command));
	json_known(json, "exit_status", run->exit_status >= 0, (uint64_t)run->exit_status);
	json_int(json, "pid", run->pid);
	put_string(json, "directory", trace, run->directory);
	put_string(json, "host", trace, run->host);
	put_string(json, "kernel", trace, run->kernel);
	put_string(json, "cpu_model", trace, run->cpu_model);
	json_number(json, "nr_cpus", run->nr_cpus);
	json_number(json, "start_time_ns", run->real_start);
	json_number(json, "start_ns", run->start);
	json_number(json, "delay_ns", run->delay);
	json_number(json, "wall_ns", trace_wall(run));
	json_number(json, "sampled_ns",
	            trace_wall(run) - trace_paused_time(trace, run->start, run->end));
}

static const char *counting_text(const struct trace_run *run)
{
	return run->flags & TRACE_RUN_WIDE     ? "cpu"
	       : run->flags & TRACE_RUN_CGROUP ? "cgroup"
	                                       : "inherit";
}

static void put_in_step(struct json_writer *json, const struct trace_run *run)
{
	json_begin(json, "in_step");
	json_flag(json, "asked", run->flags & TRACE_RUN_IN_STEP);
	json_number(json, "grid_ns", run->grid);
	json_number(json, "median_off_ns", run->median_off);
	json_number(json, "p90_off_ns", run->p90_off);
	json_number(json, "restarts", run->restarts);
	json_number(json, "unsteered_cpus", run->unsteered_cpus);
	json_end(json);
}

static void put_cost(struct json_writer *json, const struct trace_run *run)
{
	json_begin(json, "cost");
	json_number(json, "sample_ns", run->sample_price);
	json_number(json, "calls_ns", run->calls_cost);
	json_real(json, "one_cpu_pct", (double)run->one_cpu_cost / 1e4);
	json_real(json, "coupled_pct", (double)run->coupled_cost / 1e4);
	json_end(json);
}

static void put_method(struct json_writer *json, const struct trace_run *run)
{
	json_text(json, "stacks", stacks_text(run->stacks));
	json_text(json, "counting", counting_text(run));
	json_real(json, "max_overhead", run->max_overhead / 10.0);
	json_number(json, "sample_price_ns", run->sample_price);
	json_number(json, "recorder_cpu_ns", run->recorder_cpu);
	json_number(json, "drain_latency_ns", run->drain_latency);
	json_number(json, "seed", run->seed);
	put_in_step(json, run);
	put_cost(json, run);
	json_flag(json, "attached", run->flags & TRACE_RUN_ATTACHED);
	json_flag(json, "data", run->flags & TRACE_RUN_DATA);
	json_flag(json, "recovered", run->flags & TRACE_RUN_RECOVERED);
	json_flag(json, "snapshot", run->flags & TRACE_RUN_SNAPSHOT);
	json_flag(json, "kernel_hidden", run->flags & TRACE_RUN_KERNEL_HIDDEN);
	json_flag(json, "split_missing", run->flags & TRACE_RUN_SPLIT_MISSING);
	json_flag(json, "lines_packed", run->flags & TRACE_RUN_LINES_PACKED);
	json_flag(json, "lines_refused", run->flags & TRACE_RUN_LINES_REFUSED);
	json_flag(json, "user_only", run->flags & TRACE_RUN_USER_ONLY);
	json_flag(json, "one_kind", run->flags & TRACE_RUN_ONE_CORE_TYPE);
	json_flag(json, "left_cgroup", run->flags & TRACE_RUN_LEFT_CGROUP);
	json_flag(json, "missed_cpu", run->flags & TRACE_RUN_MISSED_CPU);
	json_flag(json, "killed", run->flags & TRACE_RUN_KILLED);
	json_number(json, "refused_modules", run->refused_modules);
	json_number(json, "unanswered_files", run->unanswered_files);
	json_number(json, "refused_mappings", run->refused_mappings);
	json_number(json, "folded_threads", run->folded_threads);
	json_number(json, "refused_strings", run->refused_strings);
}

int info_json(FILE *to, const struct trace *trace)
{
	struct json_writer json = {.to = to};
	struct shares shares;
	int err = shares_init(&shares, trace);

	if (err)
		return err;
	json_begin(&json, NULL);
	put_run(&json, trace);
	put_method(&json, trace_run(trace));
	put_events(&json, trace);
	put_counters(&json, trace, &shares);
	if (trace_has_calls(trace))
		err = info_calls_json(&json, trace);
	if (!err && trace_nr(trace, TRACE_ITERATIONS))
		err = info_iterations_json(&json, trace);
	if (!err && trace_process(trace, 0))
		err = info_processes_json(&json, trace);
	put_memory(&json, trace_run(trace));
	put_samples(&json, trace);
	put_reductions(&json, trace);
	put_actions(&json, trace);
	put_conditions(&json, trace);
	put_gaps(&json, trace);
	if (!err)
		err = put_windows(&json, trace);
	if (!err)
		err = put_history(&json, trace);
	json_begin_list(&json, "threads");
	put_shares(&json, trace, &shares, &thread_rows, shares.nr_threads);
	json_begin_list(&json, "commands");
	put_shares(&json, trace, &shares, &command_rows, shares.nr_commands);
	json_end(&json);
	fputc('\n', to);
	shares_fini(&shares);
	return err;
}
