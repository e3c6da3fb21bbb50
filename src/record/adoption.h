/*
 * Gives the target's threads events of their own, whose timers can be kept in step, in place of
 * those that they inherited from the command's first thread (perf/sampler/sampler_adopt.c).
 *
 * It takes place when threads have computed for a while, or ranks of a job, and no thread came or
 * went meanwhile: programs whose CPUs wait for each other make their threads first. Threads that
 * come later inherit events again. They are adopted when they compute as well, some times.
 */
#ifndef RECORD_ADOPTION_H
#define RECORD_ADOPTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct record_config;
struct session;

struct adoption {
	struct adopted {
		pid_t *tids; /* ascending */
		size_t nr;
	} own, next;       /* threads that have events of their own, and that are to have them */
	uint64_t opened;   /* when the next events were open, ns; 0: none are */
	uint64_t nr_tasks; /* that were known at the last look, with those that had ended */
	unsigned quiet;    /* looks since any came or went */
	unsigned wait;     /* looks until the next try */
	unsigned failures; /* tries in vain */
	bool over;         /* it is no use, or not possible */
};

/* Returns whether threads are to be adopted, if their events are inherited. */
bool adoption_wanted(const struct record_config *config);

/* Looks at the threads, and takes the next step. To be called every 100 ms. */
void adoption_tick(struct session *session);
void adoption_fini(struct adoption *adoption);

#endif
