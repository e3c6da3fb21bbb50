/*
 * Counts the calls of MPI whose callers are known. Callers are known from samples only: a call
 * during which its thread was sampled has the callers of that sample. The callers of all other
 * calls are unknown.
 */
#ifndef OUTPUT_VIEWS_CALL_CALLERS_H
#define OUTPUT_VIEWS_CALL_CALLERS_H

#include "output/views/rank_sums.h"

struct call_callers {
	uint64_t calls, time;       /* of MPI, ns */
	uint64_t known, known_time; /* those in which a sample was taken */
};

/* Counts the calls in the time of the samples that were summed. Returns 0, -ENOMEM or -EBADMSG. */
int call_callers_find(struct call_callers *callers, struct rank_sums *samples);

#endif
