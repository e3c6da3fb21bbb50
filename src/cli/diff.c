/*
 * adaptrace diff: what became of each function from one run to another.
 */
#include "cli/bounds.h"
#include "cli/commands.h"
#include "cli/foreign_options.h"
#include "cli/pager.h"
#include "cli/plain_text.h"
#include "cli/open_trace.h"
#include "cli/row_options.h"
#include "cli/say.h"
#include "cli/trace_list.h"
#include "output/report/report_diff.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_SHARES = OPT_OTHERS };

static const struct argp_option options_known[] = {
	{"event", 'e', "NAME", 0, "only this event, of those that were sampled", 0},
	{"sort", 's', "KEYS", 0,
         "rows and columns: symbol, module, file, line, comm, cpu; with record --data mem, op, "
         "tlb, snoop, latency",
         0},
	{"shares", OPT_SHARES, NULL, 0, "compare shares of each run instead of what was spent", 0},
	{"limit", OPT_LIMIT, "N", 0, "rows to show (40)", 0},
	{"all", OPT_ALL, NULL, 0, "show all rows, including changes within their error", 0},
	{"json", 'j', NULL, 0, "one JSON object, weights in the event's unit", 0},
	{"no-inline", OPT_NO_INLINE, NULL, 0,
         "attribute inlined functions to those that contain them", 0},
	{"no-header", OPT_NO_HEADER, NULL, 0, "leave out the lines above the table", 0},
	{"quiet", 'q', NULL, 0, "only the rows", 0},
	{WIDTH_OPTION, 0},
	{NO_PAGER_OPTION, 0},
	{0},
};

struct diff_command {
	const char *paths[DIFF_SIDES];
	char *old; /* a path that was made up */
	struct trace_list lists[DIFF_SIDES];
	struct trace **traces; /* of one side behind those of the other */
	unsigned nr_traces;
	bool shares;
	struct row_options rows;
};

static void take_path(struct diff_command *command, const char *path)
{
	unsigned side = command->paths[DIFF_BEFORE] ? DIFF_AFTER : DIFF_BEFORE;

	if (command->paths[side])
		say_usage("two traces, or folders of them; '%s' is the third", path);
	command->paths[side] = path;
}

static void check_keys(const struct report_options *options)
{
	if (options->query.by_total)
		say_usage("what functions spent themselves is compared: no --sort total");
	for (unsigned k = 0; k < options->query.nr_keys; k++)
		if (options->query.keys[k] & (PROFILE_BY_THREAD | PROFILE_BY_PROCESS))
			say_usage("the threads and processes of two runs are never the "
			          "same; --sort comm tells them apart by name");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct diff_command *command = state->input;

	switch (key) {
	case OPT_SHARES:
		command->shares = true;
		return 0;
	case ARGP_KEY_ARG:
		take_path(command, arg);
		return 0;
	case ARGP_KEY_END:
		check_keys(&command->rows.report);
		row_options_check(&command->rows, false);
		return 0;
	default:
		return row_options_parse(&command->rows, key, arg);
	}
}

/* The last recording, and what it was before. */
static int complete_paths(struct diff_command *command)
{
	const char **paths = command->paths;

	if (paths[DIFF_AFTER])
		return 0;
	paths[DIFF_AFTER] = paths[DIFF_BEFORE] ? paths[DIFF_BEFORE] : DEFAULT_TRACE;
	if (asprintf(&command->old, "%s.old", paths[DIFF_AFTER]) < 0)
		return -ENOMEM;
	paths[DIFF_BEFORE] = command->old;
	return 0;
}

/* After a first recording there is none. What is wrong was told. */
static bool has_before(const struct diff_command *command)
{
	const char *before = command->old, *after = command->paths[DIFF_AFTER];

	if (!before || !access(before, F_OK))
		return true;
	if (access(after, F_OK)) /* it is the one that was named */
		trace_close(open_trace_bounded(after));
	else
		say("no '%s', the run before '%s'; record once more, or name both: "
		    "adaptrace diff BEFORE AFTER",
		    before, after);
	return false;
}

static bool rows_fit(const struct diff_command *command, const struct diff_report *report)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (unsigned run = 0; run < report->sides[side].nr; run++)
			if (!row_options_fit(&command->rows, report->sides[side].traces[run],
			                     report->sides[side].names[run]))
				return false;
	return true;
}

static int put_diff(struct diff_command *command, struct diff_report *report)
{
	const char *const *paths = command->paths;
	struct row_options *rows = &command->rows;
	FILE *to;
	int err;

	if (!rows_fit(command, report))
		return 1;
	if (rows->event && open_trace_find_event(report->sides[DIFF_BEFORE].traces[0],
	                                         report->sides[DIFF_BEFORE].names[0], rows->event,
	                                         &rows->report.query.event))
		return 1;
	if (!report_diff_any(report)) {
		say("no event was sampled in both '%s' and '%s'; adaptrace info shows those that "
		    "were, and record -e chooses",
		    paths[DIFF_BEFORE], paths[DIFF_AFTER]);
		return 1;
	}
	err = rows->json ? 0 : plain_text_start();
	if (err)
		return open_trace_status(paths[DIFF_AFTER], err);
	to = rows->json ? stdout : pager_open(!rows->no_pager);
	err = rows->json ? report_diff_json(to, report) : report_diff_text(to, report);
	pager_close(to);
	return open_trace_status(paths[DIFF_AFTER], err);
}

/* A trace, or all of a folder. What is wrong was told. */
static bool list_traces(struct trace_list *list, const char *path)
{
	int err = trace_list_add(list, path, NULL);

	if (err)
		say("cannot read '%s': %s", path, strerror(-err));
	else if (!list->nr)
		say("no trace in '%s': no file there ends in .atr", path);
	return !err && list->nr;
}

static void set_bounds(const struct diff_command *command)
{
	uint64_t size = 0;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		size += bounds_traces_size(command->lists[side].paths, command->lists[side].nr);
	bounds_memory(size, 0);
	bounds_standard_output(size);
}

static bool open_traces(struct diff_command *command)
{
	const struct trace_list *lists = command->lists;
	size_t nr = lists[DIFF_BEFORE].nr + lists[DIFF_AFTER].nr;

	command->traces = calloc(nr, sizeof(struct trace *));
	if (!command->traces) {
		open_trace_status(command->paths[DIFF_AFTER], -ENOMEM);
		return false;
	}
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		for (size_t i = 0; i < lists[side].nr; i++) {
			struct trace *trace = open_trace_bounded(lists[side].paths[i]);

			if (!trace)
				return false;
			command->traces[command->nr_traces++] = trace;
		}
	}
	return true;
}

static struct diff_traces side_of(const struct diff_command *command, unsigned side)
{
	return (struct diff_traces){
		.traces = command->traces +
	                  (side == DIFF_BEFORE ? 0 : command->lists[DIFF_BEFORE].nr),
		.names = command->lists[side].paths,
		.nr = (unsigned)command->lists[side].nr,
	};
}

static int diff(struct diff_command *command)
{
	struct diff_report report = {
		.options = &command->rows.report,
		.shares = command->shares,
	};

	if (!has_before(command))
		return 1;
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		if (!list_traces(&command->lists[side], command->paths[side]))
			return 1;
	set_bounds(command);
	if (!open_traces(command))
		return 1;
	if (trace_tell_modules_apart(command->traces, command->nr_traces))
		return open_trace_status(command->paths[DIFF_AFTER], -ENOMEM);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		report.sides[side] = side_of(command, side);
	return put_diff(command, &report);
}

static void fini(struct diff_command *command)
{
	while (command->nr_traces)
		trace_close(command->traces[--command->nr_traces]);
	free(command->traces);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		trace_list_fini(&command->lists[side]);
	free(command->old);
}

int cmd_diff(int argc, char **argv)
{
	const struct argp argp = {
		options_known,
		parse_option,
		"[[BEFORE] AFTER]",
		"Compares what each function spent in itself in two runs, and shows how certain "
		"the changes are.\v"
		"AFTER is adaptrace.atr if not given, and BEFORE its predecessor, AFTER.old. A "
		"folder stands for the traces in it, of several runs, which show how much runs "
		"differ.\n\n"
		"  adaptrace diff\n"
		"  adaptrace diff monday.atr tuesday.atr --shares\n"
		"  adaptrace diff gcc/ clang/",
	};
	struct diff_command command = {0};
	int status = 2;

	row_options_init(&command.rows);
	if (!foreign_options_parse(&argp, argc, argv, 2, 0, &command)) {
		row_options_complete(&command.rows);
		status = complete_paths(&command) ? open_trace_status(DEFAULT_TRACE, -ENOMEM)
		                                  : diff(&command);
	}
	fini(&command);
	return status;
}
