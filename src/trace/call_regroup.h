/*
 * The calls of many threads that share bins, coded once more into bins of one thread each: else
 * who reads one thread after the other would decode all calls for each of them.
 */
#ifndef TRACE_CALL_REGROUP_H
#define TRACE_CALL_REGROUP_H

#include "trace/trace_calls.h"
#include "trace/bin_positions.h"

struct call_regrouped {
	struct bin_position
		*positions; /* each thread's in their order, those of several threads mixed */
	uint32_t *threads;  /* whose they are */
	size_t nr;
	void *map; /* of the file: what the positions' bins are in */
	size_t map_size;
};

/*
 * Regroups the calls of the threads that have any and are below nr_threads. Returns NULL with errno
 * on failure.
 */
struct call_regrouped *call_regroup(const struct bin_positions *positions,
                                    const struct scratch *scratch, const uint64_t *nr_calls,
                                    uint32_t nr_threads);
void call_regrouped_free(struct call_regrouped *regrouped);

#endif
