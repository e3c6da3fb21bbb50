#include "cli/open_trace.h"
#include "cli/bounds.h"
#include "cli/leftovers.h"
#include "cli/say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void open_trace_take(const char **path, const char *arg)
{
	if (*path)
		say_usage("one trace at a time; '%s' is the second: adaptrace merge joins those of "
		          "ranks, diff compares two",
		          arg);
	*path = arg;
}

void open_trace_take_event(const char **event, const char *arg)
{
	if (*event)
		say_usage("one event at a time; '%s' is the second", arg);
	*event = arg;
}

struct trace *open_trace(const char *path)
{
	const uint64_t size = bounds_trace_size(path);

	bounds_memory(size, 0);
	bounds_standard_output(size);
	return open_trace_bounded(path);
}

struct trace *open_trace_bounded(const char *path)
{
	char why[TRACE_WHY_SIZE];
	struct trace *trace = trace_open(path, why);

	if (trace)
		return trace;
	say("%s", why);
	if (access(path, F_OK) && errno == ENOENT)
		leftovers_say_missing(path);
	return NULL;
}

int open_trace_find_event(const struct trace *trace, const char *path, const char *name,
                          uint32_t *event)
{
	*event = trace_find_event(trace, name);
	if (*event != TRACE_ALL_EVENTS)
		return 0;
	say("event '%s' is not in '%s'; adaptrace info shows those that are", name, path);
	return -ENOENT;
}

int open_trace_status(const char *path, int err)
{
	char text[BOUNDS_TEXT_SIZE];

	if (fflush(stdout) || ferror(stdout)) {
		say("cannot write to standard output: %s", strerror(errno));
		return 1;
	}
	if (err == -EBADMSG)
		say("cannot read '%s': its samples make no sense; record again", path);
	else if (err)
		say("cannot read '%s': %s", path, bounds_strerror(-err, text));
	return err ? 1 : 0;
}
