#include "cli/live/recorder.h"

#include "cli/open_trace.h"
#include "cli/say.h"
#include "trace/live/image_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_ANCESTORS 1000

/* A process or a trace that is looked for. */
struct wanted {
	pid_t pid;  /* 0: none */
	char *path; /* absolute; NULL: any */
};

static pid_t parent_of(pid_t pid)
{
	char path[64], line[1024], *end;
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* The name may hold anything, so that its last parenthesis counts. */
	end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (!end || sscanf(end, ") %*c %d", &parent) != 1)
		parent = 0;
	fclose(file);
	return parent;
}

/* Whether a process has this file open. */
static bool has_open(pid_t pid, const struct stat *file)
{
	char path[64 + 256];
	struct dirent *entry;
	struct stat open;
	bool has = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	while (folder && !has && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%.200s", (int)pid, entry->d_name);
		has = !stat(path, &open) && open.st_dev == file->st_dev &&
		      open.st_ino == file->st_ino;
	}
	if (folder)
		closedir(folder);
	return has;
}

/* Whether the process is the recorder or its target, or descends from one of these. */
static bool belongs_to(pid_t pid, const struct image_entry *entry)
{
	struct stat file;
	bool is_there = !stat(entry->file, &file);

	for (int i = 0; i < MAX_ANCESTORS && pid > 1; i++, pid = parent_of(pid))
		if (pid == entry->target || (is_there && has_open(pid, &file)))
			return true;
	return false;
}

static bool is_wanted(const struct image_entry *entry, const struct wanted *wanted)
{
	if (entry->holder != SHM_IMAGE_RECORDER || !entry->trace_path)
		return false;
	if (wanted->pid)
		return belongs_to(wanted->pid, entry);
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

	return *whom >= '1' && *whom <= '9' && !*end && pid == (pid_t)pid ? (pid_t)pid : 0;
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

int recorder_find(struct recorder *recorder, const char *whom)
{
	struct wanted wanted = {.pid = whom ? read_pid(whom) : 0};
	const struct image_entry *found = NULL;
	struct image_list list;
	unsigned nr = 0;
	int err = image_list_make(&list);

	*recorder = (struct recorder){0};
	wanted.path = wanted.pid ? NULL : shm_image_absolute(whom ? whom : DEFAULT_TRACE);
	if (!err)
		nr = look_for(&list, &wanted, &found);
	if (!err && !nr && !whom) {
		free(wanted.path);
		wanted.path = NULL;
		nr = look_for(&list, &wanted, &found);
	}
	if (nr == 1)
		recorder->trace_path = strdup(found->trace_path);
	else
		say_none(whom, nr);
	if (!err)
		image_list_free(&list);
	free(wanted.path);
	return recorder->trace_path ? 0 : -ENOENT;
}

void recorder_free(struct recorder *recorder)
{
	free(recorder->trace_path);
	*recorder = (struct recorder){0};
}
