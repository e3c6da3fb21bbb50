/*
 * adaptrace info: what was measured, how, and how well; and adaptrace dump: every stored sample,
 * one a line.
 */
#include "cli/commands.h"
#include "cli/foreign_options.h"
#include "cli/plain_text.h"
#include "cli/open_trace.h"
#include "cli/selection_options.h"
#include "output/report/dump.h"
#include "output/report/info.h"

#include <argp.h>

/* A way to show a whole trace. */
struct show {
	const char *json_help, *help;
	bool of_window; /* it can be of a window alone */
	int (*text)(FILE *to, const struct trace *trace, const char *path);
	int (*json)(FILE *to, const struct trace *trace);
};

struct show_command {
	const char *path;
	bool json;
	struct selection_options selection;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct show_command *command = state->input;

	switch (key) {
	case 'j':
		command->json = true;
		return 0;
	case ARGP_KEY_ARG:
		open_trace_take(&command->path, arg);
		return 0;
	default:
		return selection_options_parse(&command->selection, key, arg);
	}
}

static int show(const struct show *way, const struct show_command *command)
{
	const char *path = command->path ? command->path : DEFAULT_TRACE;
	struct trace *trace = open_trace(path);
	int err;

	if (!trace)
		return 1;
	err = selection_choose_window(&command->selection, trace, path);
	if (err) {
		trace_close(trace);
		return 1;
	}
	err = command->json ? 0 : plain_text_start();
	if (!err)
		err = command->json ? way->json(stdout, trace) : way->text(stdout, trace, path);
	trace_close(trace);
	return open_trace_status(path, err);
}

static int parse_and_show(const struct show *way, int argc, char **argv)
{
	const struct argp_option json = {"json", 'j', NULL, 0, way->json_help, 0};
	const struct argp_option of_window = {WINDOW_OPTION, 0};
	const struct argp_option options[] = {
		json, way->of_window ? of_window : (struct argp_option){0}, {0}};
	const struct argp argp = {options, parse_option, "[FILE]", way->help};
	struct show_command command = {0};

	if (foreign_options_parse(&argp, argc, argv, 2, 0, &command))
		return 2;
	return show(way, &command);
}

int cmd_info(int argc, char **argv)
{
	static const struct show way = {
		"as one JSON object",
		"Shows what a trace holds: what was measured, how, and how well.\vFILE is "
		"adaptrace.atr if not given.",
		false,
		info_text,
		info_json,
	};
	return parse_and_show(&way, argc, argv);
}

static int dump_samples(FILE *to, const struct trace *trace, const char *path)
{
	(void)path;
	return dump_text(to, trace);
}

int cmd_dump(int argc, char **argv)
{
	static const struct show way = {
		"as JSON, one object a line",
		"Prints every stored sample, one a line, oldest first.\vFILE is adaptrace.atr if "
		"not given.",
		true,
		dump_samples,
		dump_json,
	};
	return parse_and_show(&way, argc, argv);
}
