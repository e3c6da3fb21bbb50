/*
 * adaptrace recover: a trace from the buffer that a killed recorder left.
 */
#include "cli/commands.h"
#include "cli/image_trace.h"
#include "cli/say.h"
#include "perf/machine/cgroup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void say_why_not(const char *path, int errnum)
{
	switch (errnum) {
	case ENOENT:
		say("there is nothing to recover for '%s'; adaptrace doctor lists what killed "
		    "recorders of yours left",
		    path);
		break;
	case EBUSY:
		say("cannot recover '%s': its recorder is still at work and will write it; "
		    "adaptrace snapshot makes a trace of what it has so far",
		    path);
		break;
	case EALREADY:
		say("cannot recover '%s': another adaptrace recover is at work on it, and will "
		    "write it",
		    path);
		break;
	case EBADMSG:
		say("cannot recover '%s': what its recorder left makes no sense; was it another "
		    "version of adaptrace?",
		    path);
		break;
	case ENODATA:
		say("the recorder of '%s' found no room in /dev/shm, as it said at its start: "
		    "nothing is left to recover",
		    path);
		break;
	case EACCES:
		image_command_say_foreign(path);
		break;
	default:
		say("cannot recover '%s': %s", path, strerror(errnum));
	}
}

static int write_recovered(const struct image_command *command, struct tables *tables)
{
	tables_run(tables)->flags |= TRACE_RUN_RECOVERED;
	if (!image_trace_write(command->output, tables, false, "recovered"))
		return 1;
	tables_recovered(tables);
	return 0;
}

static int recover(const struct image_command *command)
{
	struct tables *tables = tables_recover(command->path);
	int status;

	if (!tables) {
		say_why_not(command->path, errno);
		return 1;
	}
	if (tables_have_events(tables)) {
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

int cmd_recover(int argc, char **argv)
{
	struct image_command command;
	char *chosen;
	int status;

	if (!image_command_parse(&command, argc, argv, "write the trace here (FILE)",
	                         "Makes a trace of what a killed recorder had taken in, and gives "
	                         "its memory back.\v"
	                         "FILE is the name that the recorder would have written. If none "
	                         "is given it is adaptrace.atr, or else the only one of yours that "
	                         "was left in any folder."))
		return 2;
	cgroup_sweep();
	if (!image_command_choose(&command, SHM_IMAGE_NOBODY, &chosen))
		return 1;
	if (!command.output)
		command.output = command.path;
	status = recover(&command);
	free(chosen);
	return status;
}
