#include "cli/live/recorder.h"

#include "cli/ctl/whom.h"
#include "trace/live/image_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_ANCESTORS 1000

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

int recorder_find(struct recorder *recorder, const char *whom)
{
	struct whom found;
	int err = whom_find_own(&found, whom, belongs_to);

	*recorder = (struct recorder){0};
	if (!err)
		recorder->trace_path = strdup(found.trace_path);
	whom_free(&found);
	return recorder->trace_path ? 0 : -ENOENT;
}

void recorder_free(struct recorder *recorder)
{
	free(recorder->trace_path);
	*recorder = (struct recorder){0};
}
