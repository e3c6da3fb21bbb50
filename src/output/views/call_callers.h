/*
 * Of how many calls of MPI a trace knows who called them. Callers are known from samples alone: a
 * call in which its thread was sampled has the callers of that sample, of all others nobody knows
 * them.
 */
#ifndef OUTPUT_VIEWS_CALL_CALLERS_H
#define OUTPUT_VIEWS_CALL_CALLERS_H

#include "output/views/rank_sums.h"

struct call_callers {
	uint64_t calls, time;       /* of MPI, ns */
	uint64_t known, known_time; /* those in which a sample was taken */
};

/* By the samples that the sums are of, and the calls in the same time. 0, -ENOMEM, -EBADMSG. */
int call_callers_find(struct call_callers *callers, struct rank_sums *samples);

#endif
