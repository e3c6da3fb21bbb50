/*
 * Takes the exact sums that targets keep of their calls into the trace.
 *
 * A target's rows only grow. The recorder adds what they have grown by since it read them last, so
 * that rows of several targets may share one of the trace.
 */
#ifndef RECORD_CALLS_CALLS_SUMS_H
#define RECORD_CALLS_CALLS_SUMS_H

#include "record/calls/calls_process.h"

/* Reads the sums of a thread. `now` is a time at which the thread existed, ns. */
void calls_sums_read(struct calls_process *process, unsigned thread, uint64_t now,
                     const struct calls_sink *sink);
/* Adds a call that did not return; region is the trace's. */
void calls_sums_add_unfinished(struct calls_process *process, unsigned thread, uint32_t region,
                               uint64_t duration, const struct calls_sink *sink);
/* Returns the trace's thread + 1 of a ring; 0: it is unknown so far. */
uint32_t calls_sums_thread(struct calls_process *process, unsigned thread, uint64_t now,
                           const struct calls_sink *sink);
/*
 * Begins anew: what a thread's rows have so far is never taken in. prepare gets the memory that
 * this takes, and returns 0 or -ENOMEM.
 */
int calls_sums_prepare_restart(struct calls_process *process, unsigned thread);
void calls_sums_restart(struct calls_process *process, unsigned thread);
/* Reads the last sums of a thread, whose memory may be another thread's from now on. */
void calls_sums_end(struct calls_process *process, unsigned thread, uint64_t now,
                    const struct calls_sink *sink);

#endif
