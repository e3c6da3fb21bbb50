/*
 * adaptrace dump: every stored sample, one a line.
 */
#include "cli/commands.h"
#include "cli/reading.h"
#include "output/dump.h"

#include <argp.h>

struct dump_command {
	const char *path;
	bool json;
};

static const struct argp_option options_known[] = {
	{"json", 'j', NULL, 0, "as JSON, one object a line", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct dump_command *command = state->input;

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

int cmd_dump(int argc, char **argv)
{
	char name[] = "adaptrace dump";
	const struct argp argp = {
		options_known,
		parse_option,
		"[FILE]",
		"Prints every stored sample, one a line, oldest first.\vFILE is adaptrace.atr if "
		"not given.",
		NULL,
		NULL,
		NULL,
	};
	struct dump_command command = {0};
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
	status = reading_done(command.path,
	                      command.json ? dump_json(stdout, trace) : dump_text(stdout, trace));
	trace_close(trace);
	return status;
}
