/*
 * adaptrace diff: what became of each function from one run to another.
 */
#include "cli/commands.h"
#include "cli/reading.h"
#include "cli/row_options.h"
#include "cli/say.h"
#include "output/report_diff.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPT_SHARES = OPT_OTHERS };

static const struct argp_option options_known[] = {
	{"event", 'e', "NAME", 0, "this event alone, of those that were sampled", 0},
	{"sort", 's', "KEYS", 0,
         "rows and columns: symbol, module, file, line, comm, cpu; of record --data mem, op, tlb, "
         "snoop, latency",
         0},
	{"shares", OPT_SHARES, NULL, 0, "compare shares of each run, not what was spent", 0},
	{"limit", OPT_LIMIT, "N", 0, "rows to show (40)", 0},
	{"all", OPT_ALL, NULL, 0, "show all rows, those whose change is within its error, too", 0},
	{"json", OPT_JSON, NULL, 0, "one JSON object, weights in the event's unit", 0},
	{"no-inline", OPT_NO_INLINE, NULL, 0, "count inlined functions to those around them", 0},
	{"no-header", OPT_NO_HEADER, NULL, 0, "leave out the lines above the table", 0},
	{"quiet", 'q', NULL, 0, "rows alone", 0},
	{0},
};

struct diff_command {
	const char *paths[DIFF_SIDES];
	char *old; /* a path that was made up */
	bool shares;
	struct row_options rows;
};

static void take_path(struct argp_state *state, struct diff_command *command, const char *path)
{
	unsigned side = command->paths[DIFF_BEFORE] ? DIFF_AFTER : DIFF_BEFORE;

	if (command->paths[side])
		argp_error(state, "two traces; '%s' is the third", path);
	command->paths[side] = path;
}

static void check_keys(struct argp_state *state, const struct report_options *options)
{
	for (unsigned k = 0; k < options->nr_keys; k++)
		if (options->keys[k] & (PROFILE_BY_THREAD | PROFILE_BY_PROCESS))
			argp_error(state, "the threads and processes of two runs are never the "
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
		take_path(state, command, arg);
		return 0;
	case ARGP_KEY_END:
		check_keys(state, &command->rows.report);
		row_options_check(&command->rows, state, false);
		return 0;
	default:
		return row_options_parse(&command->rows, key, arg, state);
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

static int put_diff(struct diff_command *command, struct diff_report *report)
{
	struct row_options *rows = &command->rows;
	int err;

	if (rows->event &&
	    reading_find_event(report->traces[DIFF_BEFORE], report->names[DIFF_BEFORE], rows->event,
	                       &rows->report.event))
		return 1;
	if (!report_diff_any(report)) {
		say("no event was sampled in both '%s' and '%s'; adaptrace info shows those that "
		    "were, and record -e chooses",
		    report->names[DIFF_BEFORE], report->names[DIFF_AFTER]);
		return 1;
	}
	err = rows->json ? report_diff_json(stdout, report) : report_diff_text(stdout, report);
	return reading_done(report->names[DIFF_AFTER], err);
}

static int diff(struct diff_command *command)
{
	struct trace *before = reading_open(command->paths[DIFF_BEFORE]);
	struct trace *after = before ? reading_open(command->paths[DIFF_AFTER]) : NULL;
	struct diff_report report = {
		.traces = {before, after},
		.names = {command->paths[DIFF_BEFORE], command->paths[DIFF_AFTER]},
		.options = &command->rows.report,
		.shares = command->shares,
	};
	int status = 1;

	if (after && trace_tell_modules_apart((struct trace *[]){before, after}, DIFF_SIDES))
		reading_done(command->paths[DIFF_AFTER], -ENOMEM);
	else if (after)
		status = put_diff(command, &report);

	trace_close(before);
	trace_close(after);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	static char name[] = "adaptrace diff";
	const struct argp argp = {
		options_known,
		parse_option,
		"[[BEFORE] AFTER]",
		"Shows what became of each function from one run to another: what it spent itself, "
		"and how sure the samples are of that.\v"
		"AFTER is adaptrace.atr if not given, and BEFORE what AFTER was before it was "
		"recorded again: AFTER.old.\n\n"
		"  adaptrace diff\n"
		"  adaptrace diff monday.atr tuesday.atr --shares",
		NULL,
		NULL,
		NULL,
	};
	struct diff_command command = {0};
	int status = 2;

	row_options_init(&command.rows);
	argv[0] = name; /* what argp calls the program */
	argp_err_exit_status = 2;
	if (!argp_parse(&argp, argc, argv, 0, NULL, &command)) {
		row_options_complete(&command.rows);
		status = complete_paths(&command) ? reading_done(DEFAULT_TRACE, -ENOMEM)
		                                  : diff(&command);
	}
	free(command.old);
	return status;
}
