#include "hmb/hmb.h"
#include "output/profile/cut_stacks.h"
#include "output/profile/counter_columns.h"
#include "output/report/info.h"
#include "output/report/info_calls.h"
#include "output/report/share_tables.h"
#include "output/profile/profile.h"
#include "output/profile/warnings.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_ROWS     10 /* of threads and of commands */
#define MAX_ACTIONS  20
#define COMMAND_SIZE 2000
#define LABEL        "  %-15s"

static void put_string(FILE *to, const char *label, const struct trace *trace, uint32_t string)
{
	if (!string)
		return;
	fprintf(to, LABEL, label);
	text_put(to, trace_string(trace, string), 0);
	fputc('\n', to);
}

static void put_time(FILE *to, const char *label, uint64_t ns)
{
	char text[TEXT_SIZE];

	text_quantity(text, (double)ns, TRACE_NS);
	fprintf(to, LABEL "%s\n", label, text);
}

/* --- what was measured ------------------------------------------------------------------------ */

static void put_exit(FILE *to, const struct trace_run *run)
{
	fprintf(to, LABEL, "exit");
	if (run->exit_status < 0)
		fputs("unknown\n", to);
	else if (trace_exit_signal(run))
		fprintf(to, "killed by signal %d\n", trace_exit_signal(run));
	else
		fprintf(to, "status %d\n", run->exit_status);
}

static void put_start(FILE *to, const struct trace_run *run)
{
	time_t seconds = (time_t)(run->real_start / 1000000000);
	char date[TEXT_SIZE];
	struct tm tm;

	if (run->real_start && localtime_r(&seconds, &tm) &&
	    strftime(date, sizeof(date), "%F %T %z", &tm))
		fprintf(to, LABEL "%s\n", "started", date);
}

static void put_delay(FILE *to, const struct trace_run *run)
{
	char text[TEXT_SIZE];

	if (!run->delay)
		return;
	text_quantity(text, (double)run->delay, TRACE_NS);
	fprintf(to, LABEL "%s (--delay): what ran before was not sampled\n", "delay", text);
}

static void put_paused(FILE *to, const struct trace *trace)
{
	const struct trace_run *run = trace_run(trace);

	const uint64_t paused = trace_paused_time(trace, run->start, run->end);

	if (paused)
		put_time(to, "of it sampled", trace_wall(run) - paused);
}

static void put_steering_time(FILE *to, const struct trace *trace, uint64_t at)
{
	const struct trace_run *run = trace_run(trace);
	char time[TEXT_SIZE] = "before"; /* a reset, or while sampling had not begun */

	if (at >= run->start)
		text_quantity(time, (double)trace_since_start(run, at), TRACE_NS);
	fprintf(to, "  %9s  ", time);
}

static void put_action(FILE *to, const struct trace *trace, const struct trace_action *action)
{
	put_steering_time(to, trace, action->time);
	text_put(to, trace_string(trace, action->action), 0);
	if (action->text) {
		fputs(": ", to);
		text_put(to, trace_string(trace, action->text), 0);
	}
	fprintf(to, "%s, by process %d of user %u\n", action->result ? ", refused" : "",
	        action->pid, action->uid);
}

/* Conditions have a list of their own. */
static bool is_condition(const struct trace *trace, const struct trace_action *action)
{
	return !strcmp(trace_string(trace, action->action), TRACE_CONDITION);
}

/* The first ones; --json has all. */
static void put_actions(FILE *to, const struct trace *trace)
{
	const struct trace_action *action;
	uint32_t nr = 0;

	for (uint32_t i = 0; (action = trace_action(trace, i)); i++) {
		if (is_condition(trace, action))
			continue;
		if (!nr++)
			fputs("\nhow it was steered\n", to);
		if (nr <= MAX_ACTIONS)
			put_action(to, trace, action);
	}
	if (nr > MAX_ACTIONS)
		fprintf(to, "  and %u more actions and marks\n", nr - MAX_ACTIONS);
	if (trace_run(trace)->dropped_actions)
		fprintf(to, "  %llu actions and marks found no room in the trace\n",
		        (unsigned long long)trace_run(trace)->dropped_actions);
}

static void put_condition(FILE *to, const struct trace *trace,
                          const struct trace_condition *condition)
{
	const char *text = trace_string(trace, condition->text);
	char value[TEXT_SIZE];

	put_steering_time(to, trace, condition->time);
	text_put(to, text, 0);
	text_condition_value(value, text, condition->value);
	fprintf(to, " (%s)", value);
	if (condition->file) {
		fputs(" → ", to);
		text_put(to, trace_string(trace, condition->file), 0);
	}
	fputc('\n', to);
}

static void put_conditions(FILE *to, const struct trace *trace)
{
	const uint32_t nr = trace_nr(trace, TRACE_CONDITIONS);

	if (nr)
		fputs("\nconditions that came true, and the value then\n", to);
	for (uint32_t i = 0; i < nr && i < MAX_ACTIONS; i++)
		put_condition(to, trace, trace_condition(trace, i));
	if (nr > MAX_ACTIONS)
		fprintf(to, "  and %u more times\n", nr - MAX_ACTIONS);
}

static void put_window(FILE *to, const struct trace *trace, const struct trace_window *window)
{
	const struct trace_run *run = trace_run(trace);
	const struct trace_event *event = trace_event(trace, trace_window_event(trace, window));
	char from[TEXT_SIZE], until[TEXT_SIZE], period[TEXT_SIZE];

	text_quantity(from, (double)trace_since_start(run, window->from), TRACE_NS);
	text_quantity(until, (double)trace_since_start(run, trace_window_end(trace, window)),
	              TRACE_NS);
	text_period(period, event ? trace_period(event, trace_window_shift(window)) : 0,
	            event ? event->unit : TRACE_COUNT);
	if (window->number)
		fprintf(to, "  %9s  window %u until %s: ", from, window->number, until);
	else
		fprintf(to, "  %9s  history until %s: ", from, until);
	text_put(to, event ? trace_string(trace, event->name) : "?", 0);
	fprintf(to, " every %s, %llu samples taken, %llu of them stored%s\n", period,
	        (unsigned long long)window->taken, (unsigned long long)window->stored,
	        window->flags & TRACE_WINDOW_CUT ? "; it cost too much" : "");
}

/* Several are in the order of their kinds, which are used again. */
static void put_windows(FILE *to, const struct trace *trace)
{
	const struct trace_window *window, *next;
	uint32_t shown = 0;

	for (;;) {
		next = NULL;
		for (uint32_t i = 0; (window = trace_window(trace, i)); i++)
			if (trace_is_window(window) && window->number > shown &&
			    (!next || window->number < next->number))
				next = window;
		if (!next)
			return;
		put_window(to, trace, next);
		shown = next->number;
	}
}

static void put_call_history(FILE *to, const struct trace *trace, const struct trace_window *calls)
{
	const struct trace_run *run = trace_run(trace);
	char from[TEXT_SIZE], until[TEXT_SIZE];

	text_quantity(from, (double)trace_since_start(run, calls->from), TRACE_NS);
	text_quantity(until, (double)trace_since_start(run, trace_window_end(trace, calls)),
	              TRACE_NS);
	fprintf(to, "  %9s  history until %s: %llu calls, %llu of them stored\n", from, until,
	        (unsigned long long)calls->taken, (unsigned long long)calls->stored);
}

static void put_history(FILE *to, const struct trace *trace)
{
	struct trace_window history;

	if (trace_find_history(trace, &history))
		put_window(to, trace, &history);
	if (trace_find_call_history(trace, &history))
		put_call_history(to, trace, &history);
}

static void put_parts(FILE *to, const struct trace *trace)
{
	const struct trace_window *window;
	bool any = trace_has_history(trace);

	for (uint32_t i = 0; (window = trace_window(trace, i)) && !any; i++)
		any = trace_is_window(window);
	if (any)
		fputs("\nwhat was sampled more finely, or kept of the last seconds (--window)\n",
		      to);
	put_windows(to, trace);
	put_history(to, trace);
}

static void put_run(FILE *to, const struct trace *trace)
{
	const struct trace_run *run = trace_run(trace);

	fprintf(to, "what was measured\n" LABEL, "command");
	text_put_command(to, trace_string(trace, run->command), COMMAND_SIZE,
	                 trace_names_scope(run));
	fputc('\n', to);
	put_string(to, "directory", trace, run->directory);
	if (run->flags & TRACE_RUN_ATTACHED && run->pid)
		fprintf(to, LABEL "process %d, which was running already\n", "attached to",
		        run->pid);
	else if (run->flags & TRACE_RUN_ATTACHED)
		fprintf(to, LABEL "processes that were running already\n", "attached to");
	put_exit(to, run);
	put_start(to, run);
	put_delay(to, run);
	put_time(to, "wall time", trace_wall(run));
	put_paused(to, trace);
	put_string(to, "host", trace, run->host);
	put_string(to, "kernel", trace, run->kernel);
	put_string(to, "processor", trace, run->cpu_model);
	fprintf(to, LABEL "%u\n", "CPUs", run->nr_cpus);
}

/* --- how -------------------------------------------------------------------------------------- */

static void put_period(FILE *to, const struct trace_event *event, uint32_t shift)
{
	uint64_t period = trace_period(event, shift);
	char text[TEXT_SIZE];

	text_period(text, period, event->unit);
	fprintf(to, "every %s", text);
	if (event->unit != TRACE_NS)
		return;
	text_rate(text, period, event->unit);
	fprintf(to, " (%s)", text);
}

/* Tells of an event that was not sampled all the time that others were. */
static void put_sampled(FILE *to, const struct trace *trace, uint32_t number)
{
	const struct trace_run *run = trace_run(trace);
	const uint64_t sampled = trace_sampled_time(trace, number, run->start, run->end);
	const uint64_t paused = trace_paused_time(trace, run->start, run->end);
	char text[TEXT_SIZE];

	if (sampled + paused >= trace_wall(run))
		return;
	text_quantity(text, (double)sampled, TRACE_NS);
	fprintf(to, LABEL "sampled in %s of the time\n", "", text);
}

static void put_event(FILE *to, const struct trace *trace, uint32_t number)
{
	const struct trace_event *event = trace_event(trace, number);
	char exact[TEXT_SIZE];

	fprintf(to, LABEL, "event");
	text_put(to, trace_string(trace, event->name), 0);
	fputs(": one sample ", to);
	put_period(to, event, event->initial_shift);
	if (trace_shift(event) != event->initial_shift) {
		fputs(" at first, ", to);
		put_period(to, event, trace_shift(event));
		fputs(" in the end", to);
	}
	fprintf(to, "\n" LABEL "%llu sample%s taken, %llu of them stored", "",
	        (unsigned long long)event->taken, plural(event->taken),
	        (unsigned long long)event->stored);
	if (event->exact)
		text_quantity(exact, (double)event->exact, event->unit);
	fprintf(to, "%s%s\n", event->exact ? "; the kernel counted " : "",
	        event->exact ? exact : "");
	put_sampled(to, trace, number);
}

static void put_counting(FILE *to, const struct trace *trace)
{
	uint32_t flags = trace_run(trace)->flags;

	fprintf(to, LABEL, "counting");
	if (flags & TRACE_RUN_WIDE)
		fputs("per CPU, whoever runs there: short tasks count in full\n", to);
	else if (flags & TRACE_RUN_CGROUP)
		fputs("per CPU, in the program's own cgroup: short tasks count in full\n", to);
	else
		fprintf(to,
		        "per thread, inherited: short tasks are seen less, and shown as %s where "
		        "their exact total is known\n",
		        profile_unsampled_in(trace));
}

static bool is_merged(const struct trace *trace)
{
	for (uint32_t i = 0; i < trace_nr(trace, TRACE_PROCESSES); i++)
		if (trace_process(trace, i)->offset_error)
			return true;
	return false;
}

static void put_in_step(FILE *to, const struct trace *trace)
{
	const struct trace_run *run = trace_run(trace);
	char grid[TEXT_SIZE], median[TEXT_SIZE], p90[TEXT_SIZE];

	if (!run->grid)
		return;
	text_quantity(grid, (double)run->grid, TRACE_NS);
	text_quantity(median, (double)run->median_off, TRACE_NS);
	text_quantity(p90, (double)run->p90_off, TRACE_NS);
	fprintf(to,
	        LABEL "all CPUs at multiples of %s, half of the samples within %s, nine tenths "
	              "within %s\n" LABEL "%llu restart%s of timers",
	        "in step", grid, median, p90, "", (unsigned long long)run->restarts,
	        plural(run->restarts));
	if (run->unsteered_cpus)
		fprintf(to, "; %llu CPU%s mostly out of step",
		        (unsigned long long)run->unsteered_cpus, plural(run->unsteered_cpus));
	if (is_merged(trace))
		fputs(", added up over all recordings", to);
	fputc('\n', to);
}

static int put_method(FILE *to, const struct trace *trace)
{
	static const char *const stacks[] = {
		[TRACE_STACKS_NONE] = "none",
		[TRACE_STACKS_FP] = "by frame pointers",
		[TRACE_STACKS_DWARF] = "by call frame information",
		[TRACE_STACKS_LBR] = "by the processor's branch records",
	};
	const struct trace_run *run = trace_run(trace);
	int err;

	fputs("\nhow\n", to);
	for (uint32_t i = 0; i < trace_nr_events(trace); i++)
		put_event(to, trace, i);
	err = info_calls_text(to, trace);
	put_counting(to, trace);
	put_in_step(to, trace);
	fprintf(to, LABEL "%s\n", "stacks",
	        run->stacks <= TRACE_STACKS_LBR ? stacks[run->stacks] : "unknown");
	put_string(to, "adaptrace", trace, run->version);
	fprintf(to, LABEL "%llu\n", "seed", (unsigned long long)run->seed);
	return err;
}

/* They stop with the event that they are counted with, or, by older kernels, do not. */
static void put_counter(FILE *to, const struct trace *trace, const struct trace_counter *counter,
                        uint64_t counted)
{
	bool throttled = trace_losses(trace, 0).throttled;
	char total[TEXT_SIZE], part[TEXT_SIZE];
	double scale;

	text_put(to, trace_string(trace, counter->name), 0);
	if (trace_counter_state(counter) == COUNTER_NEVER) {
		fputs(": not counted\n", to);
		return;
	}
	if (!(counter->flags & TRACE_COUNTER_TOTAL)) {
		text_quantity(total, (double)counted, counter->unit);
		fprintf(to, ": %s with stored samples\n", total);
		return;
	}
	scale = trace_counter_scale(counter);
	text_quantity(total, scale * (double)counter->total, counter->unit);
	fprintf(to, ": %s%s in all, %s of them up to a stored sample\n",
	        scale > 1   ? "about "
	        : throttled ? "at least "
	                    : "",
	        total, text_share(part, counted, counter->total));
}

static void put_counters(FILE *to, const struct trace *trace, const struct shares *shares)
{
	const struct trace_counter *counter;

	for (uint32_t i = 0; (counter = trace_counter(trace, i)); i++) {
		fprintf(to, LABEL, i ? "" : "counters");
		put_counter(to, trace, counter, shares->counted[1 + i]);
	}
}

/* Before the start they are one step: to what a sample on this machine costs. */
static void put_step(FILE *to, const struct trace *trace, const struct trace_event *event,
                     const struct trace_reduction *r)
{
	static const char *const causes[] = {
		[HMB_CAUSE_MEMORY] = "the buffer was full",
		[HMB_CAUSE_OVERHEAD] = "sampling cost too much",
		[HMB_CAUSE_SHARE] = "events had more than their share",
	};
	bool at_start = event && r->floor == event->initial_shift;
	char when[TEXT_SIZE] = "at start", period[TEXT_SIZE];

	if (!at_start)
		text_cell(when, (double)trace_since_start(trace_run(trace), r->time), TRACE_NS);
	text_period(period, event ? trace_period(event, r->floor) : 0,
	            event ? event->unit : TRACE_COUNT);
	fprintf(to, "%*s  ", text_field(when, 9), when);
	text_put(to, event ? trace_string(trace, event->name) : "?", 0);
	fprintf(to, " to every %s: %s\n", period,
	        at_start ? "more often would cost too much or be throttled"
	        : r->cause < sizeof(causes) / sizeof(*causes) ? causes[r->cause]
	                                                      : "unknown");
}

static void put_reductions(FILE *to, const struct trace *trace)
{
	const struct trace_reduction *r;
	bool first = true;

	for (uint32_t i = 0; (r = trace_reduction(trace, i)); i++) {
		const struct trace_event *event = trace_event(trace, r->event);

		/* Kinds of calls and of windows are shown with these. */
		if (!event &&
		    (trace_kind(trace, r->event) || trace_window_of_kind(trace, r->event)))
			continue;
		if (event && r->floor < event->initial_shift)
			continue;
		fprintf(to, LABEL, first ? "reductions" : "");
		first = false;
		put_step(to, trace, event, r);
	}
}

static void put_memory(FILE *to, const struct trace_run *run)
{
	char used[TEXT_SIZE], budget[TEXT_SIZE], contexts[TEXT_SIZE];

	text_bytes(used, run->used);
	text_bytes(budget, run->budget);
	text_bytes(contexts, run->contexts);
	fprintf(to, LABEL "%s of %s, call paths %s of it\n", "buffer", used, budget, contexts);
	if (run->peak_rss) {
		text_bytes(used, run->peak_rss);
		fprintf(to, LABEL "%s of memory at most, including the used part of the buffer\n",
		        "recorder", used);
	}
}

/* --- how well --------------------------------------------------------------------------------- */

static void put_count(FILE *to, const char *label, uint64_t count, const char *what)
{
	if (count)
		fprintf(to, LABEL "%llu %s\n", label, (unsigned long long)count, what);
}

/* "1.3 %" of millionths */
static const char *millionths_text(char text[TEXT_SIZE], uint64_t millionths)
{
	return text_share(text, millionths, 1000000);
}

static void put_step_cost(FILE *to, const struct trace_run *run)
{
	char one[TEXT_SIZE], coupled[TEXT_SIZE];

	if (run->one_cpu_cost)
		fprintf(to, LABEL "%s of each CPU's time; %s if its CPUs wait for each other\n",
		        "program lost", millionths_text(one, run->one_cpu_cost),
		        millionths_text(coupled, run->coupled_cost));
}

static void put_cost(FILE *to, const struct trace_run *run)
{
	char price[TEXT_SIZE], part[TEXT_SIZE];
	uint64_t wall = trace_wall(run);

	if (run->sample_price) {
		text_quantity(price, (double)run->sample_price, TRACE_NS);
		fprintf(to, LABEL "%s of the program's time each", "samples cost", price);
		if (run->max_overhead)
			fprintf(to, "; at most %.1f %% were allowed", run->max_overhead / 10.0);
		fputc('\n', to);
	}
	put_step_cost(to, run);
	if (run->recorder_cpu && wall) {
		text_quantity(price, (double)run->recorder_cpu, TRACE_NS);
		fprintf(to, LABEL "%s of CPU time (%s of one CPU)\n", "recorder used", price,
		        text_share(part, run->recorder_cpu, wall));
	}
	if (run->drain_latency) {
		text_quantity(price, (double)run->drain_latency, TRACE_NS);
		fprintf(to, LABEL "%s until the recorder read a sample\n", "longest delay", price);
	}
}

static void put_warning(void *arg, const char *text)
{
	fprintf(arg, LABEL, "warning");
	text_put(arg, text, 0);
	fputc('\n', arg);
}

static void put_quality(FILE *to, const struct trace *trace)
{
	const struct trace_run *run = trace_run(trace);
	const struct trace_losses losses = trace_losses(trace, TRACE_ALL_EVENTS);

	fputs("\nhow well\n", to);
	fprintf(to, LABEL "%llu sample%s, %llu other record%s; throttled %llu time%s\n", "lost",
	        (unsigned long long)losses.lost, plural(losses.lost),
	        (unsigned long long)run->lost_records, plural(run->lost_records),
	        (unsigned long long)losses.throttled, plural(losses.throttled));
	put_count(to, "stacks", run->truncated_stacks, "without their root");
	for (enum stack_cut reason = 0; reason < NR_STACK_CUTS; reason++)
		put_count(to, "", run->cut_stacks[reason], cut_stack_text(reason));
	put_count(to, "", run->stitched_stacks, "completed from an earlier stack");
	put_count(to, "", run->folded_contexts, "without room for the whole path");
	put_count(to, "late records", run->late, "out of order");
	put_count(to, "names", run->refused_strings, "without room");
	put_count(to, "modules", run->refused_modules, "without room");
	put_count(to, "mappings", run->refused_mappings, "of code missing; it is [unknown]");
	put_count(to, "files", run->unanswered_files,
	          "without names: their file systems did not answer");
	put_count(to, "threads", run->folded_threads, "in a line with others of the same command");
	put_cost(to, run);
	warnings_of_run(trace, NULL, put_warning, to);
}

/* --- who -------------------------------------------------------------------------------------- */

static int compare_shares(const void *a, const void *b, void *arg)
{
	const struct share *x = (const struct share *)arg + *(const uint32_t *)a;
	const struct share *y = (const struct share *)arg + *(const uint32_t *)b;

	return ORDER(y->weight, x->weight) ?: ORDER(y->stored, x->stored) ?: ORDER(x, y);
}

static uint32_t *in_order(struct share *shares, uint32_t nr)
{
	uint32_t *order = calloc(nr + 1UL, sizeof(*order));

	for (uint32_t i = 0; order && i < nr; i++)
		order[i] = i;
	if (order)
		ARRAY_SORT_WITH(order, nr, compare_shares, shares);
	return order;
}

/* Per CPU the kernel counts nobody's total, and nobody has a column for it. */
static bool has_exact(const struct trace *trace)
{
	const struct trace_thread *thread;

	for (uint32_t i = 0; (thread = trace_thread(trace, i)); i++)
		if (thread->flags & TRACE_THREAD_EXACT)
			return true;
	return shares_exact_known(trace);
}

static struct table share_table(FILE *to, const struct trace *trace, const struct column *columns)
{
	return (struct table){
		.columns = columns,
		.unit = trace_event(trace, 0)->unit,
		.to = to,
		.hidden = has_exact(trace) ? NULL : "exact",
	};
}

static void put_titles(struct table *table)
{
	fputs("\n  ", table->to);
	table_titles(table);
	fputc('\n', table->to);
}

static int put_shares(FILE *to, const struct trace *trace, const struct shares *shares,
                      const struct share_rows *rows, struct share *of, uint32_t nr)
{
	uint32_t *order = in_order(of, nr), used = 0;
	struct table table = share_table(to, trace, rows->columns);

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		if (rows->unused(shares, trace, order[i]) || used++ >= MAX_ROWS)
			continue;
		if (used == 1)
			put_titles(&table);
		fputs("  ", to);
		rows->put(&table, trace, shares, order[i]);
	}
	if (used > MAX_ROWS)
		fprintf(to, "  and %u more; --json has them all\n", used - MAX_ROWS);
	free(order);
	return 0;
}

static void put_who_of_what(FILE *to, const struct trace *trace)
{
	fputs("\nwho\n", to);
	if (!trace_event(trace, 1))
		return;
	fprintf(to, "  samples: those of all events; sampled%s: of the first, ",
	        has_exact(trace) ? " and exact" : "");
	text_put(to, trace_string(trace, trace_event(trace, 0)->name), 0);
	fputc('\n', to);
}

int info_text(FILE *to, const struct trace *trace, const char *name)
{
	struct shares shares;
	int err = shares_init(&shares, trace);

	if (err)
		return err;
	text_put(to, name, 0);
	fputs("\n\n", to);
	put_run(to, trace);
	err = put_method(to, trace);
	put_counters(to, trace, &shares);
	put_memory(to, trace_run(trace));
	put_reductions(to, trace);
	put_actions(to, trace);
	put_conditions(to, trace);
	put_parts(to, trace);
	put_quality(to, trace);
	put_who_of_what(to, trace);
	if (!err)
		err = put_shares(to, trace, &shares, &command_rows, shares.commands,
		                 shares.nr_commands);
	if (!err)
		err = put_shares(to, trace, &shares, &thread_rows, shares.threads,
		                 shares.nr_threads);
	if (!err)
		err = info_processes_text(to, trace);
	shares_fini(&shares);
	return err;
}
