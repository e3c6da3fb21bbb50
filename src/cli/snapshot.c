/*
 * adaptrace snapshot: a trace of what a recorder at work has so far.
 */
#include "cli/commands.h"
#include "cli/image_trace.h"
#include "cli/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SNAPSHOT "snapshot.atr"
#define MAX_SNAPSHOTS    100000

static void say_why_not(const char *path, int errnum)
{
	switch (errnum) {
	case ENOENT:
		say("no recorder of yours is at work on '%s', or it found no room in /dev/shm; "
		    "name the file that it will write",
		    path);
		break;
	case EBADMSG:
		say("cannot copy what the recorder of '%s' holds: is it another version of "
		    "adaptrace?",
		    path);
		break;
	case EACCES:
		image_command_say_foreign(path);
		break;
	default:
		say("cannot copy what the recorder of '%s' holds: %s", path, strerror(errnum));
	}
}

/* While it sets up or waits, and until it has said for the first time how far it is. */
static bool has_begun(const struct tables *tables)
{
	const struct trace_run *run = tables_run(tables);

	return tables_have_events(tables) && run->end > run->start;
}

struct tables *snapshot_take(const char *path)
{
	struct tables *tables = tables_snapshot(path);

	if (!tables) {
		say_why_not(path, errno);
		return NULL;
	}
	if (has_begun(tables)) {
		tables_run(tables)->flags |= TRACE_RUN_SNAPSHOT;
		return tables;
	}
	say("the recorder of '%s' has not begun to sample yet", path);
	tables_free(tables);
	return NULL;
}

int snapshot_store(struct tables *tables, const char *output)
{
	return !image_trace_write(output, tables, true, "the run so far,");
}

int snapshot_write(const struct image_command *command)
{
	struct tables *tables = snapshot_take(command->path);
	int status = tables ? snapshot_store(tables, command->output) : 1;

	tables_free(tables);
	return status;
}

bool snapshot_name_beside(const char *trace_path, unsigned *nr, char path[PATH_MAX])
{
	static const char suffix[] = ".atr";
	size_t size = strlen(trace_path);

	if (size > strlen(suffix) && !strcmp(trace_path + size - strlen(suffix), suffix))
		size -= strlen(suffix);
	while (++*nr < MAX_SNAPSHOTS) {
		if (snprintf(path, PATH_MAX, "%.*s-%u%s", (int)size, trace_path, *nr, suffix) >=
		    PATH_MAX)
			return false;
		if (access(path, F_OK) && errno == ENOENT)
			return true;
	}
	return false;
}

bool snapshot_settle_output(struct image_command *command)
{
	char *recorded = shm_image_absolute(command->path),
	     *output = shm_image_absolute(DEFAULT_SNAPSHOT);
	bool same = recorded && output && !strcmp(recorded, output);

	if (same)
		say("'" DEFAULT_SNAPSHOT "' is what the recorder will write; name another output "
		    "with -o");
	command->output = DEFAULT_SNAPSHOT;
	free(recorded);
	free(output);
	return !same;
}

int cmd_snapshot(int argc, char **argv)
{
	struct image_command command;
	char *chosen;
	int status = 1;

	if (!image_command_parse(&command, argc, argv,
	                         "write the trace here (" DEFAULT_SNAPSHOT ")",
	                         "Makes a trace of a recording that is still running, without "
	                         "disturbing it.\v"
	                         "FILE is the name that the recorder will write. If none is given "
	                         "it is adaptrace.atr, or else the only one of yours that is at "
	                         "work in any folder."))
		return 2;
	if (!image_command_choose(&command, SHM_IMAGE_RECORDER, &chosen))
		return 1;
	if (command.output || snapshot_settle_output(&command))
		status = snapshot_write(&command);
	free(chosen);
	return status;
}
