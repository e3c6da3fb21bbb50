/*
 * adaptrace recover: a trace from the buffer that a killed recorder left.
 */
#include "cli/commands.h"
#include "cli/image_trace.h"
#include "cli/reading.h"
#include "cli/say.h"
#include "output/text.h"
#include "perf/cgroup.h"

#include <argp.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

struct recover_command {
	const char *path, *output;
};

static void say_why_not(const char *path, int error)
{
	switch (error) {
	case ENOENT:
		say("there is nothing to recover for '%s'; name the file that a killed recorder of "
		    "yours would have written",
		    path);
		break;
	case EBUSY:
		say("cannot recover '%s': its recorder is still at work and will write it; "
		    "adaptrace snapshot makes a trace of what it has so far",
		    path);
		break;
	case EBADMSG:
		say("cannot recover '%s': what its recorder left makes no sense; was it another "
		    "version of adaptrace?",
		    path);
		break;
	case EACCES:
		say("cannot recover '%s': what its recorder left is not yours alone; remove "
		    "/dev/shm/adaptrace-%u-*",
		    path, geteuid());
		break;
	default:
		say("cannot recover '%s': %s", path, strerror(error));
	}
}

static int write_recovered(const struct recover_command *command, struct tables *tables)
{
	uint64_t bytes;
	char size[TEXT_SIZE];

	tables_run(tables)->flags |= TRACE_RUN_RECOVERED;
	if (!image_trace_write(command->output, tables, false, &bytes))
		return 1;
	text_bytes(size, bytes);
	say("recovered %s → %s", size, command->output);
	tables_recovered(tables);
	return 0;
}

static int recover(const struct recover_command *command)
{
	size_t budget;
	struct tables *tables = tables_recover(command->path, &budget);
	int status;

	if (!tables) {
		say_why_not(command->path, errno);
		return 1;
	}
	if (image_trace_has_begun(tables)) {
		status = write_recovered(command, tables);
	} else {
		say("the recorder of '%s' was killed before it took any sample: nothing is lost",
		    command->path);
		tables_recovered(tables);
		status = 1;
	}
	tables_free(tables);
	return status;
}

static const struct argp_option options_known[] = {
	{"output", 'o', "OUT", 0, "write the trace here (FILE)", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct recover_command *command = state->input;

	switch (key) {
	case 'o':
		command->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		reading_take(state, &command->path, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_recover(int argc, char **argv)
{
	char name[] = "adaptrace recover";
	const struct argp argp = {
		options_known,
		parse_option,
		"[FILE]",
		"Makes a trace of what a killed recorder had taken in, and gives its memory "
		"back.\v"
		"FILE is the name that the recorder would have written: adaptrace.atr if not "
		"given.",
		NULL,
		NULL,
		NULL,
	};
	struct recover_command command = {0};

	argv[0] = name; /* what argp calls the program */
	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &command))
		return 2;
	if (!command.path)
		command.path = DEFAULT_TRACE;
	if (!command.output)
		command.output = command.path;
	cgroup_sweep();
	return recover(&command);
}
