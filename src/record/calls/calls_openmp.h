/* Takes the exact sums of OpenMP regions into the trace, as calls_sums.h does for those of calls.
 */
#ifndef RECORD_CALLS_CALLS_OPENMP_H
#define RECORD_CALLS_CALLS_OPENMP_H

#include "record/calls/calls_process.h"

/* Reads the sums of all threads. `now` is a time at which they existed, ns. */
void calls_openmp_read(struct calls_process *process, uint64_t now, const struct calls_sink *sink);
/* Begin anew, as calls_sums_prepare_restart() and calls_sums_restart(). */
int calls_openmp_prepare_restart(struct calls_process *process);
void calls_openmp_restart(struct calls_process *process);
/* Reads the last sums of a thread, whose rows may be another thread's from now on. */
void calls_openmp_end(struct calls_process *process, unsigned thread, uint64_t now,
                      const struct calls_sink *sink);

#endif
