#include "cli/ctl/whom.h"

#include "cli/open_trace.h"
#include "cli/say.h"
#include "record/tasks/process.h"
#include "trace/live/image_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ANCESTORS 1000
#define MAX_NAMED     8 /* recorders, in a message */

/* The recorder that is looked for: by a PID, or by its trace. */
struct wanted {
	pid_t pid;  /* 0: none */
	char *path; /* absolute; NULL: any */
};

static bool is_wanted(const struct image_entry *entry, const struct wanted *wanted)
{
	if (entry->holder != SHM_IMAGE_RECORDER || !entry->trace_path)
		return false;
	if (wanted->pid)
		return entry->recorder == wanted->pid || entry->target == wanted->pid;
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

pid_t whom_pid(const char *whom)
{
	char *end;
	long pid = strtol(whom, &end, 10);

	return *whom >= '1' && *whom <= '9' && !*end && pid > 0 && pid == (pid_t)pid ? (pid_t)pid
	                                                                             : 0;
}

static void put_recorders(FILE *to, const struct image_list *list, const struct wanted *wanted,
                          unsigned nr)
{
	unsigned named = 0;

	for (size_t i = 0; i < list->nr && named < MAX_NAMED; i++)
		if (is_wanted(&list->entries[i], wanted))
			fprintf(to, "%s%d of '%s'", named++ ? ", " : "",
			        (int)list->entries[i].recorder, list->entries[i].trace_path);
	if (nr > named)
		fprintf(to, " and %u more", nr - named);
}

/* "cannot tell which recorder is meant: 12 of '/a.atr', 34 of '/b.atr' and 3 more; …" */
static void say_several(const struct image_list *list, const struct wanted *wanted, unsigned nr)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	put_recorders(memory, list, wanted, nr);
	if (!fclose(memory) && text)
		say("cannot tell which recorder is meant: %s; name one by its PID or its trace",
		    text);
	free(text);
}

/* Whether the trace has a recorder whose image this version does not understand. */
static bool is_foreign(const struct image_list *list, const char *path)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->entries[i].holder == SHM_IMAGE_RECORDER && !list->entries[i].trace_path &&
		    shm_image_is_named(list->entries[i].file, path))
			return true;
	return false;
}

static void say_none(const struct image_list *list, const char *whom)
{
	const char *path = whom ? whom : DEFAULT_TRACE;

	if (whom && whom_pid(whom))
		say("no recorder of yours is or records process %s here, or it found no room in "
		    "/dev/shm; name the trace that it will write",
		    whom);
	else if (is_foreign(list, path))
		say("the recorder of '%s' is of another version of adaptrace, or its memory is "
		    "damaged; use the adaptrace that records",
		    path);
	else if (!access(path, F_OK))
		say("no recorder of yours is at work on '%s' now: that of this file has ended, or "
		    "it found no room in /dev/shm",
		    path);
	else
		say("no recorder of yours is at work on '%s' here, or it found no room in "
		    "/dev/shm; name the file that it will write, or a PID",
		    path);
}

static int take(struct whom *recorder, const struct image_entry *entry)
{
	recorder->image_file = strdup(entry->file);
	recorder->trace_path = strdup(entry->trace_path);
	recorder->pid = entry->recorder;
	return recorder->image_file && recorder->trace_path ? 0 : -ENOMEM;
}

static pid_t parent_of(pid_t pid)
{
	char text[PROCESS_STAT_SIZE];
	const char *stat = process_stat(pid, text);
	int parent;

	return stat && sscanf(stat, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Looks for the process, then for its nearest ancestor that is a recorder or recorded. */
static unsigned look_for_pid(const struct image_list *list, pid_t pid, struct wanted *wanted,
                             const struct image_entry **found)
{
	unsigned nr = 0;

	for (int i = 0; !nr && i < MAX_ANCESTORS && pid > 1; i++, pid = parent_of(pid)) {
		wanted->pid = pid;
		nr = look_for(list, wanted, found);
	}
	return nr;
}

static unsigned look_for_trace(const struct image_list *list, const char *whom,
                               struct wanted *wanted, const struct image_entry **found)
{
	unsigned nr;

	wanted->path = shm_image_absolute(whom ? whom : DEFAULT_TRACE);
	nr = wanted->path ? look_for(list, wanted, found) : 0;
	if (nr || whom)
		return nr;
	free(wanted->path);
	wanted->path = NULL;
	return look_for(list, wanted, found);
}

/* Returns how many recorders are meant, which `wanted` tells, and one of them. */
static unsigned look_for_whom(struct image_list *list, const char *whom, struct wanted *wanted,
                              const struct image_entry **found)
{
	const pid_t pid = whom ? whom_pid(whom) : 0;

	image_list_make_all(list);
	return pid ? look_for_pid(list, pid, wanted, found)
	           : look_for_trace(list, whom, wanted, found);
}

bool whom_is_recorded(const char *whom)
{
	const struct image_entry *found = NULL;
	struct image_list list = {0};
	struct wanted wanted = {0};
	const bool is_recorded = look_for_whom(&list, whom, &wanted, &found) == 1;

	free(wanted.path);
	image_list_free(&list);
	return is_recorded;
}

int whom_find(struct whom *recorder, const char *whom)
{
	const struct image_entry *found = NULL;
	struct image_list list = {0};
	struct wanted wanted = {0};
	int err = -ENOENT;
	unsigned nr;

	*recorder = (struct whom){0};
	nr = look_for_whom(&list, whom, &wanted, &found);
	if (nr == 1)
		err = take(recorder, found);
	else if (nr)
		say_several(&list, &wanted, nr);
	else
		say_none(&list, whom);
	free(wanted.path);
	image_list_free(&list);
	return err;
}

void whom_free(struct whom *recorder)
{
	free(recorder->image_file);
	free(recorder->trace_path);
	*recorder = (struct whom){0};
}
