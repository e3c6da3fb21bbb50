#include "cli/ctl/whom.h"

#include "cli/open_trace.h"
#include "cli/say.h"
#include "trace/live/image_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The recorder that is looked for: by a PID, or by its trace. */
struct wanted {
	pid_t pid;  /* 0: none */
	char *path; /* absolute; NULL: any */
	whom_match_fn *is_of;
};

static bool is_of(pid_t pid, const struct image_entry *entry)
{
	return entry->recorder == pid || entry->target == pid;
}

static bool is_wanted(const struct image_entry *entry, const struct wanted *wanted)
{
	if (entry->holder != SHM_IMAGE_RECORDER || !entry->trace_path)
		return false;
	if (wanted->pid)
		return wanted->is_of(wanted->pid, entry);
	return !wanted->path || !strcmp(entry->trace_path, wanted->path);
}

/* Returns how many there are, and one of them. */
static unsigned look_for(const struct image_list *list, const struct wanted *wanted,
                         const struct image_entry **found)
{
	unsigned nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (is_wanted(&list->entries[i], wanted)) {
			*found = &list->entries[i];
			nr++;
		}
	return nr;
}

static pid_t read_pid(const char *whom)
{
	char *end;
	long pid = strtol(whom, &end, 10);

	return *whom >= '1' && *whom <= '9' && !*end && pid > 0 && pid == (pid_t)pid ? (pid_t)pid
	                                                                             : 0;
}

static void say_none(const char *whom, unsigned nr)
{
	if (nr)
		say("cannot tell which recorder is meant: %u are at work; name one by its trace or "
		    "its PID",
		    nr);
	else if (whom && read_pid(whom))
		say("no recorder of yours is or records process %s here, or it found no room in "
		    "/dev/shm; name the trace that it will write",
		    whom);
	else
		say("no recorder of yours is at work on '%s' here, or it found no room in "
		    "/dev/shm; name the file that it will write, or a PID",
		    whom ? whom : DEFAULT_TRACE);
}

static int take(struct whom *recorder, const struct image_entry *entry)
{
	recorder->image_file = strdup(entry->file);
	recorder->trace_path = strdup(entry->trace_path);
	recorder->pid = entry->recorder;
	return recorder->image_file && recorder->trace_path ? 0 : -ENOMEM;
}

/* Frees the list, which is empty where it could not be made. */
static int find(struct whom *recorder, const char *whom, whom_match_fn *match,
                struct image_list *list)
{
	struct wanted wanted = {.pid = whom ? read_pid(whom) : 0, .is_of = match};
	const struct image_entry *found = NULL;
	int err = -ENOENT;
	unsigned nr;

	wanted.path = wanted.pid ? NULL : shm_image_absolute(whom ? whom : DEFAULT_TRACE);
	nr = look_for(list, &wanted, &found);
	if (!nr && !whom) {
		free(wanted.path);
		wanted.path = NULL;
		nr = look_for(list, &wanted, &found);
	}
	if (nr == 1)
		err = take(recorder, found);
	else
		say_none(whom, nr);
	image_list_free(list);
	free(wanted.path);
	return err;
}

int whom_find(struct whom *recorder, const char *whom)
{
	struct image_list list = {0};

	*recorder = (struct whom){0};
	image_list_make_all(&list);
	return find(recorder, whom, is_of, &list);
}

int whom_find_own(struct whom *recorder, const char *whom, whom_match_fn *match)
{
	struct image_list list = {0};

	*recorder = (struct whom){0};
	image_list_make(&list);
	return find(recorder, whom, match, &list);
}

void whom_free(struct whom *recorder)
{
	free(recorder->image_file);
	free(recorder->trace_path);
	*recorder = (struct whom){0};
}
