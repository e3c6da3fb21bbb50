/*
 * Processes that executed a setuid or unreadable program. The kernel stops observing them with
 * inherited events, so the recorder reads their CPU clocks from then on.
 */
#ifndef RECORD_TASKS_UNOBSERVED_H
#define RECORD_TASKS_UNOBSERVED_H

#include "trace/live/tables.h"

#include <sys/types.h>

struct unobserved {
	pid_t pid;
	int pidfd; /* -1: it could not be opened */
	uint32_t comm;
	uint64_t before;  /* CPU time that was observed, ns */
	uint64_t counted; /* later CPU time that is already in the command's totals, ns */
	uint64_t read;    /* time of the last reading, ns */
	struct unobserved *next;
};

struct unobserved_list {
	struct unobserved *first;
	int poll_fd;     /* readable when unobserved_count() is due; -1: it could not be opened */
	int timer_fd;    /* ticks while there are unobserved processes */
	uint64_t missed; /* time for which their clocks were not read, ns */
};

/* Never fails: a descriptor that cannot be opened is -1. */
void unobserved_init(struct unobserved_list *list);
void unobserved_fini(struct unobserved_list *list);

/*
 * Starts to watch a process. before: ns of CPU time that the totals of its command already have. If
 * there is no memory, the process is not watched and its use is missing.
 */
void unobserved_add(struct unobserved_list *list, pid_t pid, uint32_t comm, uint64_t before);

/*
 * Adds the CPU time that the processes used since the last call to the totals of their commands,
 * and drops processes that ended. The CPU time of a zombie is still known in full.
 */
void unobserved_count(struct unobserved_list *list, struct tables *tables);
/* Returns the number of watched processes. */
unsigned unobserved_nr(const struct unobserved_list *list);

#endif
