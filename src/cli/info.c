/*
 * adaptrace info: what was measured, how, and how well.
 */
#include "cli/commands.h"
#include "cli/reading.h"
#include "output/info.h"

#include <argp.h>

struct info_command {
	const char *path;
	bool json;
};

static const struct argp_option options_known[] = {
	{"json", 'j', NULL, 0, "as one JSON object", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct info_command *command = state->input;

	switch (key) {
	case 'j':
		command->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (command->path)
			argp_error(state, "one trace at a time; '%s' is the second", arg);
		command->path = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_info(int argc, char **argv)
{
	char name[] = "adaptrace info";
	const struct argp argp = {
		options_known,
		parse_option,
		"[FILE]",
		"Shows what a trace holds: what was measured, how, and how well.\vFILE is "
		"adaptrace.atr if not given.",
		NULL,
		NULL,
		NULL,
	};
	struct info_command command = {0};
	struct trace *trace;
	int status;

	argv[0] = name; /* what argp calls the program */
	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &command))
		return 2;
	if (!command.path)
		command.path = DEFAULT_TRACE;
	trace = reading_open(command.path);
	if (!trace)
		return 1;
	status = reading_done(command.path, command.json ? info_json(stdout, trace)
	                                                 : info_text(stdout, trace, command.path));
	trace_close(trace);
	return status;
}
