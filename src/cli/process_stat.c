#include "cli/process_stat.h"

#include "perf/text_file.h"

#include <stdio.h>
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
