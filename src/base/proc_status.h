/* Lines of /proc/PID/status, of a process or a thread. */
#ifndef BASE_PROC_STATUS_H
#define BASE_PROC_STATUS_H

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* The number that its own PID namespace knows it by; 0: that stands in another line. */
static inline pid_t proc_status_inner_number(const char *line)
{
	const char *last = strncmp(line, "NSpid:", 6) ? NULL : strrchr(line, '\t');

	return last ? (pid_t)strtol(last, NULL, 10) : 0;
}

#endif
