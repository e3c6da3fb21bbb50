#include "output/report_head.h"

#include "output/part.h"
#include "output/text.h"

#include <errno.h>
#include <stdlib.h>
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
	fprintf(to, "\n%s on ", wall);
	text_put(to, trace_string(trace, run->host), 0);
	fprintf(to, ", %u CPU%s", run->nr_cpus, plural(run->nr_cpus));
	put_date(to, run->real_start);
	fputc('\n', to);
}

void report_head_event(FILE *to, const struct trace *trace, uint32_t index)
{
	const struct trace_event *event = trace_event(trace, index);
	uint64_t initial = trace_period(event, event->initial_shift);
	uint64_t final = trace_period(event, trace_shift(event));
	char first[TEXT_SIZE], last[TEXT_SIZE], rate[TEXT_SIZE];

	text_period(first, initial, event->unit);
	text_period(last, final, event->unit);
	text_rate(rate, final, event->unit);
	text_put(to, trace_string(trace, event->name), 0);
	fprintf(to, ": %llu sample%s, one every %s", (unsigned long long)event->stored,
	        plural(event->stored), last);
	if (event->unit == TRACE_NS)
		fprintf(to, " (%s)", rate);
	if (final != initial)
		fprintf(to, ", at first every %s", first);
	fputc('\n', to);
}

int report_head_part(FILE *to, const struct trace *trace, const struct report_options *options,
                     uint64_t samples)
{
	char *text = part_text(trace, options->part);

	if (!text)
		return -ENOMEM;
	if (*text) {
		fputs("shown: ", to);
		text_put(to, text, 0);
		fprintf(to, ", %llu sample%s\n", (unsigned long long)samples, plural(samples));
	}
	free(text);
	return 0;
}
