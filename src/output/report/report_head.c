#include "output/report/report_head.h"

#include "output/profile/clock_sides.h"
#include "trace/selection.h"
#include "output/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMMAND_SIZE 240 /* bytes that are shown; info shows more */

static void put_exit(FILE *to, const struct trace_run *run)
{
	if (trace_exit_signal(run))
		fprintf(to, " (killed by signal %d)", trace_exit_signal(run));
	else if (run->exit_status > 0)
		fprintf(to, " (exit status %d)", run->exit_status);
	else if (run->flags & TRACE_RUN_ATTACHED && run->pid)
		fprintf(to, " (attached to process %d)", run->pid);
}

static void put_date(FILE *to, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / 1000000000);
	char date[TEXT_SIZE];
	struct tm tm;

	if (real_ns && localtime_r(&seconds, &tm) && strftime(date, sizeof(date), "%F %T", &tm))
		fprintf(to, ", %s", date);
}

static unsigned count_marks(const struct trace *trace)
{
	const struct trace_action *action;
	unsigned nr = 0;

	for (uint32_t i = 0; (action = trace_action(trace, i)); i++)
		nr += !strcmp(trace_string(trace, action->action), TRACE_MARK);
	return nr;
}

/* ", 1 window and a history (--window)"; returns whether there are any. */
static bool put_windows(FILE *to, const struct trace *trace)
{
	const struct trace_window *window;
	const bool history = trace_has_history(trace);
	unsigned nr = 0;

	for (uint32_t i = 0; (window = trace_window(trace, i)); i++)
		nr += trace_is_window(window);
	if (nr)
		fprintf(to, ", %u window%s", nr, plural(nr));
	if (history)
		fprintf(to, "%s a history", nr ? " and" : ",");
	if (nr || history)
		fputs(" (--window)", to);
	return nr || history;
}

/* ", 2 s of it paused, with 3 marks," */
static void put_steering(FILE *to, const struct trace *trace)
{
	const struct trace_run *run = trace_run(trace);
	uint64_t paused = trace_paused_time(trace, run->start, run->end);
	const unsigned nr_marks = count_marks(trace), nr_fired = trace_nr(trace, TRACE_CONDITIONS);
	char text[TEXT_SIZE];

	text_quantity(text, (double)paused, TRACE_NS);
	if (paused)
		fprintf(to, ", %s of it paused", text);
	if (nr_marks)
		fprintf(to, ", with %u mark%s", nr_marks, plural(nr_marks));
	if (nr_fired)
		fprintf(to, ", a condition was met %u time%s", nr_fired, plural(nr_fired));
	if (put_windows(to, trace) || paused || nr_marks || nr_fired)
		fputc(',', to);
}

void report_head_run(FILE *to, const struct trace *trace, const char *name)
{
	const struct trace_run *run = trace_run(trace);
	char wall[TEXT_SIZE];

	text_put(to, name, 0);
	fputs(": ", to);
	text_put_command(to, trace_string(trace, run->command), COMMAND_SIZE,
	                 trace_names_scope(run));
	put_exit(to, run);
	text_quantity(wall, (double)trace_wall(run), TRACE_NS);
	fprintf(to, "\n%s", wall);
	put_steering(to, trace);
	fputs(" on ", to);
	text_put(to, trace_string(trace, run->host), 0);
	fprintf(to, ", %u CPU%s", run->nr_cpus, plural(run->nr_cpus));
	put_date(to, run->real_start);
	fputc('\n', to);
}

/* --- how much it was -------------------------------------------------------------------------- */

/* "14 % of one CPU", "1.86 of 2 CPUs" */
static void put_cpus(FILE *to, uint64_t time, uint64_t wall, uint32_t nr_cpus)
{
	double used = (double)time / (double)wall;

	if (nr_cpus > 1 && used >= 0.995)
		fprintf(to, "%.2f of %u CPUs", used, nr_cpus);
	else
		fprintf(to, used && used < 0.0995 ? "%.1f %% of one CPU" : "%.0f %% of one CPU",
		        100 * used);
}

/* Whole CPUs were sampled, and the time that they were idle is a row, but it is not known. */
static bool lacks_idle(const struct trace *trace, uint32_t event)
{
	const struct trace_run *run = trace_run(trace);
	const char *command = trace_string(trace, run->command);

	return run->flags & TRACE_RUN_WIDE && !trace_tells_idle(trace) &&
	       clock_sides(trace, trace_event(trace, event)) == CLOCK_BOTH &&
	       (!strncmp(command, "[all CPUs]", strlen("[all CPUs]")) ||
	        !strncmp(command, "[some CPUs]", strlen("[some CPUs]")));
}

static const char *rest_text(const struct event_amount *amount)
{
	if (amount->idle)
		return "";
	return lacks_idle(amount->trace, amount->event) ? "; how long CPUs were idle is not known"
	                                                : "; waiting is not sampled";
}

static void put_use(FILE *to, const struct event_amount *amount, uint64_t time)
{
	const struct trace_run *run = trace_run(amount->trace);
	uint64_t from = selection_start(run, amount->selection),
		 until = selection_end(run, amount->selection);

	from = until - trace_sampled_time(amount->trace, amount->event, from, until);
	if (until <= from)
		return;
	fputs(" (", to);
	put_cpus(to, time, until - from, run->nr_cpus);
	fprintf(to, "%s)", rest_text(amount));
}

static const char *side_text(const struct event_amount *amount)
{
	switch (clock_sides(amount->trace, trace_event(amount->trace, amount->event))) {
	case CLOCK_USER:
		return amount->by_exact ? "" : ", in user mode alone";
	case CLOCK_KERNEL:
		return ", in the kernel alone";
	default:
		return "";
	}
}

static void put_time(FILE *to, const struct event_amount *amount)
{
	uint64_t time = amount->total - amount->idle;
	char text[TEXT_SIZE];

	text_quantity(text, (double)time, TRACE_NS);
	fprintf(to, "%s of CPU time%s", text, side_text(amount));
	put_use(to, amount, time);
	if (!amount->idle)
		return;
	text_quantity(text, (double)amount->idle, TRACE_NS);
	fprintf(to, ", and %s %s", text, trace_idle_name(amount->trace));
}

static void put_amount(FILE *to, const struct event_amount *amount)
{
	enum trace_unit unit = trace_event(amount->trace, amount->event)->unit;
	char text[TEXT_SIZE];

	if (!amount->total)
		return;
	if (amount->unsampled) {
		text_quantity(text, (double)amount->unsampled, unit);
		fprintf(to, " and %s not sampled", text);
	}
	fputs(" = ", to);
	if (unit == TRACE_NS) {
		put_time(to, amount);
		return;
	}
	text_quantity(text, (double)amount->total, unit);
	fprintf(to, "%s occurrence%s", text, plural(amount->total));
}

/* ", sampled for 2.1 s", of an event that was not sampled all the time that others were. */
static void put_sampled(FILE *to, const struct event_amount *amount)
{
	const struct trace_run *run = trace_run(amount->trace);
	const uint64_t from = selection_start(run, amount->selection);
	const uint64_t until = selection_end(run, amount->selection);
	const uint64_t sampled = trace_sampled_time(amount->trace, amount->event, from, until);
	char text[TEXT_SIZE];

	if (until <= from ||
	    sampled + trace_paused_time(amount->trace, from, until) >= until - from)
		return;
	text_quantity(text, (double)sampled, TRACE_NS);
	fprintf(to, ", in %s in which it was sampled", text);
}

static void put_rate(FILE *to, const struct trace_event *event)
{
	uint64_t initial = trace_period(event, event->initial_shift);
	uint64_t final = trace_period(event, trace_shift(event));
	char first[TEXT_SIZE], last[TEXT_SIZE], rate[TEXT_SIZE];

	text_period(first, initial, event->unit);
	text_period(last, final, event->unit);
	text_rate(rate, final, event->unit);
	fprintf(to, "one every %s", last);
	if (event->unit == TRACE_NS)
		fprintf(to, " (%s)", rate);
	if (final != initial)
		fprintf(to, ", at first every %s", first);
	fputc('\n', to);
}

struct event_amount event_amount_of(const struct profile *profile)
{
	struct event_amount amount = {
		.trace = profile->trace,
		.event = profile->config.event,
		.selection = profile->config.selection,
		.samples = profile->samples,
		.total = profile->total,
		.idle = profile->idle,
		.by_exact = profile->nr_unsampled || profile->nr_scaled,
	};

	for (uint32_t i = 0; i < profile->nr_unsampled; i++)
		if (profile->unsampled[i].why != PROFILE_IDLE)
			amount.unsampled += profile->rows[profile->unsampled[i].row].self;
	return amount;
}

void report_head_event(FILE *to, const struct event_amount *amount)
{
	const struct trace_event *event = trace_event(amount->trace, amount->event);

	text_put(to, trace_string(amount->trace, event->name), 0);
	fprintf(to, ": %llu sample%s", (unsigned long long)amount->samples,
	        plural(amount->samples));
	put_amount(to, amount);
	put_sampled(to, amount);
	fputc('\n', to);
	put_rate(to, event);
}

/* Returns whether anything is left out, or -ENOMEM; the line is not ended. */
static int put_selection(FILE *to, const struct trace *trace, const struct selection *selection)
{
	char *text = selection_text(trace, selection);
	int some;

	if (!text)
		return -ENOMEM;
	some = *text != 0;
	if (some) {
		fputs("shown: ", to);
		text_put(to, text, 0);
	}
	free(text);
	return some;
}

int report_head_part(FILE *to, const struct event_amount *amount)
{
	uint64_t all = trace_event(amount->trace, amount->event)->stored;
	int some = put_selection(to, amount->trace, amount->selection);

	if (some > 0)
		fprintf(to, ", %llu of %llu sample%s\n", (unsigned long long)amount->samples,
		        (unsigned long long)all, plural(all));
	return some < 0 ? some : 0;
}

int report_head_calls_part(FILE *to, const struct trace *trace, const struct selection *selection)
{
	int some = put_selection(to, trace, selection);

	if (some > 0)
		fputc('\n', to);
	return some < 0 ? some : 0;
}
