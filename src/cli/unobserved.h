/*
 * Processes that executed a setuid or unreadable program: the kernel stops observing them by
 * inherited events, and /proc tells what they use from then on.
 */
#ifndef CLI_UNOBSERVED_H
#define CLI_UNOBSERVED_H

#include "output/tables.h"

#include <stdbool.h>
#include <sys/types.h>

struct unobserved {
	pid_t pid;
	uint32_t comm;
	uint64_t before;  /* ns of CPU time that were observed */
	uint64_t counted; /* of what came later, already in the command's totals */
	struct unobserved *next;
};

/* CPU time of a process and of its reaped children, ns; false: it does not run any more. */
bool unobserved_cpu_time(pid_t pid, uint64_t *own, uint64_t *children);

void unobserved_add(struct unobserved **list, pid_t pid, uint32_t comm, uint64_t before);

/* Adds what they used since the last call to their commands' totals; drops those that ended. */
void unobserved_count(struct unobserved **list, struct tables *tables);

void unobserved_free(struct unobserved *list);

#endif
