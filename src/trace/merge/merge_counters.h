/*
 * Merges the counters of the inputs. The merged trace has counters if all inputs that sampled the
 * first event have the same ones with it.
 *
 * Streams of the merged trace are threads, even if those of the inputs were CPUs: the counts since
 * the previous sample of the old stream are added to the totals of the sample's thread. So every
 * sample keeps its counts, and the counts of samples that are thinned out stay in the totals. But
 * readers do not trust the totals of an entry that stands for many threads, such as the idle tasks.
 * If there is one, streams are CPUs.
 */
#ifndef TRACE_MERGE_MERGE_COUNTERS_H
#define TRACE_MERGE_MERGE_COUNTERS_H

#include "hmb/arena.h"
#include "trace/merge/merge_map.h"

struct merge_counters {
	unsigned nr;   /* that samples of the first event have, its own included; 0: none */
	bool left_out; /* there were some, but not the same ones everywhere */
	enum stream_owner owner;
	uint64_t (*totals)[COUNTER_MAX]; /* by thread or CPU of the new trace */
};

/* Adds the counters of all inputs to the tables, after merge_map_input(). Returns 0 or -errno. */
int merge_counters_init(struct merge_counters *counters, struct merge_map *map);
void merge_counters_fini(struct merge_counters *counters);

/*
 * The totals that a sample of the first event is stored with; of samples that are left out, too.
 * Samples come by time.
 */
const uint64_t *merge_counters_step(struct merge_counters *counters,
                                    const struct trace_sample *sample, uint32_t thread,
                                    uint32_t cpu);

#endif
