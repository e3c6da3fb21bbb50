#include "cli/row_options.h"

#include "cli/open_trace.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "output/views/report_keys.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_LIMIT 40

static void set_default_keys(struct report_options *options)
{
	options->query.keys[0] = PROFILE_BY_SYMBOL;
	options->query.keys[1] = PROFILE_BY_MODULE;
	options->query.nr_keys = 2;
}

/* All of them: of an earlier option nothing is left. */
static void parse_keys(char *text, struct report_options *options)
{
	unsigned seen = 0, nr = 0;
	char *name;

	options->query.by_total = false;
	set_default_keys(options);
	while ((name = strsep(&text, ","))) {
		enum profile_keys key = report_key_named(name);

		if (!strcmp(name, "total")) {
			options->query.by_total = true;
			continue;
		}
		if (!key)
			say_usage("cannot sort by '%s'; keys are symbol, module, file, line, "
			          "thread, process, comm, cpu, total, and of memory accesses "
			          "mem, op, tlb, snoop and latency, separated by commas",
			          name);
		if (seen & key)
			say_usage("key '%s' is there twice", name);
		seen |= key;
		options->query.keys[nr++] = key;
	}
	if (nr)
		options->query.nr_keys = nr;
}

uint32_t row_options_limit(const char *what, const char *text)
{
	char *end;
	unsigned long limit;

	errno = 0;
	limit = strtoul(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || !limit || limit >= UINT32_MAX)
		say_usage("cannot limit %s to '%s'; give a number from 1 on", what, text);
	return (uint32_t)limit;
}

static void know_terminal(struct report_options *options)
{
	const char *no_color = getenv("NO_COLOR");

	if (!isatty(STDOUT_FILENO))
		return;
	if (!options->style.width)
		options->style.width = terminal_size(STDOUT_FILENO).ws_col;
	options->style.color = !(no_color && *no_color) && terminal_obeys(STDOUT_FILENO);
}

void row_options_init(struct row_options *rows)
{
	*rows = (struct row_options){.report.query.event = TRACE_ALL_EVENTS};
	set_default_keys(&rows->report);
}

int row_options_parse(struct row_options *rows, int key, char *arg)
{
	switch (key) {
	case 'e':
		open_trace_take_event(&rows->event, arg);
		return 0;
	case 's':
		parse_keys(arg, &rows->report);
		rows->sorted = true;
		return 0;
	case 'q':
		rows->report.style.quiet = true;
		return 0;
	case OPT_ALL:
		rows->report.query.all = true;
		return 0;
	case 'j':
		rows->json = true;
		return 0;
	case OPT_LIMIT:
		rows->report.query.limit = row_options_limit("rows", arg);
		return 0;
	case OPT_WIDTH:
		rows->report.style.width = row_options_limit("columns", arg);
		return 0;
	case OPT_NO_PAGER:
		rows->no_pager = true;
		return 0;
	case OPT_NO_HEADER:
		rows->report.style.no_header = true;
		return 0;
	case OPT_NO_INLINE:
		rows->report.query.no_inline = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void row_options_check(const struct row_options *rows, bool all_is_more)
{
	if (rows->report.query.all && rows->report.query.limit && !all_is_more)
		say_usage("--all and --limit exclude each other");
}

void row_options_complete(struct row_options *rows)
{
	struct report_options *report = &rows->report;

	if (!report->query.limit)
		report->query.limit = rows->json || report->query.all ? UINT32_MAX : DEFAULT_LIMIT;
	report->query.fold = !rows->json && !report->query.all;
	know_terminal(report);
}

bool row_options_fit(const struct row_options *rows, const struct trace *trace, const char *path)
{
	unsigned keys = 0;

	for (unsigned k = 0; k < rows->report.query.nr_keys; k++)
		keys |= rows->report.query.keys[k];
	if (!(keys & PROFILE_MEMORY_KEYS) || trace_run(trace)->flags & TRACE_RUN_DATA)
		return true;
	say("'%s' has no memory accesses; record them with adaptrace record --data", path);
	return false;
}
