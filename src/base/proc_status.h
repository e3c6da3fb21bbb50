/* Parses lines of /proc/PID/status of a process or a thread. */
#ifndef BASE_PROC_STATUS_H
#define BASE_PROC_STATUS_H

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* The PID in the task's own PID namespace, from the line NSpid. 0: this is another line. */
static inline pid_t proc_status_inner_number(const char *line)
{
	const char *last = strncmp(line, "NSpid:", 6) ? NULL : strrchr(line, '\t');

	return last ? (pid_t)strtol(last, NULL, 10) : 0;
}

#endif
