/*
 * Merges the traces of all ranks of a job into one.
 *
 * The result is a trace like any other, in a buffer of its own. Events that ran at different
 * periods are thinned to the one that doubled most often, so that a sample of any rank has the same
 * weight if all began with one period. If the buffer is too small for everything, levels are closed
 * as in a recording. Samples of all traces are read together in order of time, so memory does not
 * grow with the traces' lengths.
 */
#ifndef TRACE_MERGE_MERGE_H
#define TRACE_MERGE_MERGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MERGE_WHY_SIZE    (2 * PATH_MAX + 512) /* two paths are part of it */
#define MERGE_MAX_DEFAULT ((size_t)1 << 30)    /* bytes of the buffer where nothing is said */

struct merge_config {
	char *const *paths;
	size_t nr;
	size_t budget; /* bytes of the buffer; 0: as much as the traces hold, within bounds */
};

struct merge_result {
	uint32_t nr_ranks, nr_hosts;
	uint64_t bytes;       /* of the file */
	uint64_t clock_error; /* ns, of the worst host; UINT64_MAX: no messages told, real time did
	                       */
	bool uncounted; /* there were counters, but not the same everywhere: they are left out */
	bool uneven;    /* an event began with other periods in other traces: weights differ */
	uint32_t lost_windows; /* left out: there are only so many kinds */
	uint64_t older;        /* samples of histories left out: not all go back that far */
	uint64_t thinned;      /* samples left out, because another rank's had a longer period */
};

/* Returns 0, or -errno: why then says in one line what is wrong and what to do. */
int merge_write(const char *path, const struct merge_config *config, struct merge_result *result,
                char why[MERGE_WHY_SIZE]);

#endif
