/*
 * The running totals of a stream of samples with counters.
 *
 * With per-CPU events the kernel's counts are the totals of the CPU. Inherited events have a
 * separate count for each CPU that a thread has run on and for each sampling period. The total of a
 * thread is the sum of the increments of all these counts.
 */
#ifndef RECORD_TASKS_COUNTER_SUMS_H
#define RECORD_TASKS_COUNTER_SUMS_H

#include "hmb/limits.h"
#include "perf/sampler/sampler.h"

#include <assert.h>

static_assert(COUNTER_MAX == 1 + COUNTERS_MAX, "a sample's totals are those of the whole group");

/* The totals of one thread. */
struct counter_sums;

/* Returns NULL if there is no memory. */
struct counter_sums *counter_sums_new(void);
void counter_sums_free(struct counter_sums *sums);

/*
 * Adds the counts of a sample to the totals of its thread and returns these. An invalid count, or
 * one for which there is no memory, adds nothing.
 */
const uint64_t *counter_sums_add(struct counter_sums *sums, unsigned nr,
                                 const struct record *record, const struct sampler_origin *origin);

/* Starts new totals because the thread has changed its name. */
void counter_sums_restart(struct counter_sums *sums);

/* Copies the counts of a sample; invalid ones become 0. */
void counter_counts(uint64_t counts[COUNTER_MAX], unsigned nr, const struct record *record);

#endif
