/*
 * Processes that executed a setuid or unreadable program: the kernel stops observing them by
 * inherited events, and their clocks tell what they use from then on.
 */
#ifndef RECORD_TASKS_UNOBSERVED_H
#define RECORD_TASKS_UNOBSERVED_H

#include "trace/live/tables.h"

#include <sys/types.h>

struct unobserved {
	pid_t pid;
	int pidfd; /* -1: none could be had */
	uint32_t comm;
	uint64_t before;  /* ns of CPU time that were observed */
	uint64_t counted; /* of what came later, already in the command's totals */
	uint64_t read;    /* when, ns */
	struct unobserved *next;
};

struct unobserved_list {
	struct unobserved *first;
	int poll_fd;     /* readable when they are to be counted; -1: none could be had */
	int timer_fd;    /* ticks while there are any */
	uint64_t missed; /* ns for which nobody read their clocks, at their begin or end, or ever */
};

/* Never fails: a descriptor that cannot be had is -1. */
void unobserved_init(struct unobserved_list *list);
void unobserved_fini(struct unobserved_list *list);

/*
 * From now on; before: ns of CPU time that its command's totals have already. Without memory it is
 * not watched, and what it uses is missing.
 */
void unobserved_add(struct unobserved_list *list, pid_t pid, uint32_t comm, uint64_t before);

/*
 * Adds what they used since the last call to their commands' totals; drops those that ended. What
 * has ended and was not waited for by its parent yet is told in full.
 */
void unobserved_count(struct unobserved_list *list, struct tables *tables);
/* That are watched. */
unsigned unobserved_nr(const struct unobserved_list *list);

#endif
