#include "record/tasks/process.h"

#include "base/text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *process_stat(pid_t pid, char text[PROCESS_STAT_SIZE])
{
	char path[32];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (text_file_read(path, text, PROCESS_STAT_SIZE))
		return NULL;
	/* A name may have anything in it, ends of lines included. */
	end = strrchr(text, ')');
	return end ? end + 1 : NULL;
}

pid_t process_of(pid_t tid)
{
	char path[32], text[512];
	const char *pid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (text_file_read(path, text, sizeof(text)))
		return 0;
	pid = strstr(text, "\nTgid:");
	return pid ? (pid_t)strtol(pid + strlen("\nTgid:"), NULL, 10) : 0;
}

DIR *process_all(void)
{
	return opendir("/proc");
}

DIR *process_threads(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return opendir(path);
}

pid_t process_next(DIR *list)
{
	struct dirent *entry;
	pid_t pid = 0;

	/* strtol() returns 0 for an entry whose name is not a number. */
	while (!pid && (entry = readdir(list)))
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
	return pid;
}

FILE *process_children(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	return fopen(path, "re");
}

pid_t process_next_child(FILE *children)
{
	int child;

	return fscanf(children, "%d", &child) == 1 ? child : 0;
}
