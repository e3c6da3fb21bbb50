/*
 * The running totals of a stream of samples with counters.
 *
 * With per-CPU events the kernel's counts are the totals of the CPU. Inherited events are another
 * one for every CPU that a thread comes to run on, and every sampling period, each of which counts
 * for itself: what each added since it was last seen makes the totals of the thread.
 */
#ifndef RECORD_TASKS_COUNTER_SUMS_H
#define RECORD_TASKS_COUNTER_SUMS_H

#include "hmb/counter_code.h"
#include "perf/sampler/sampler.h"

#include <assert.h>

static_assert(COUNTER_MAX == 1 + COUNTERS_MAX, "a sample's totals are those of the whole group");

/* Of one thread. */
struct counter_sums;

/* NULL: no memory. */
struct counter_sums *counter_sums_new(void);
void counter_sums_free(struct counter_sums *sums);

/*
 * Adds what a sample says to its thread's totals, which are returned. A count that makes no sense,
 * or for which there is no memory, adds nothing.
 */
const uint64_t *counter_sums_add(struct counter_sums *sums, unsigned nr,
                                 const struct record *record, const struct sampler_source *source);

/* The thread goes on under another name, with totals of its own. */
void counter_sums_restart(struct counter_sums *sums);

/* The counts of a sample as they are; zeros where they make no sense. */
void counter_counts(uint64_t counts[COUNTER_MAX], unsigned nr, const struct record *record);

#endif
