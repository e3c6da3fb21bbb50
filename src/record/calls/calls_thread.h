/* One thread of an instrumented process: the calls in its ring. */
#ifndef RECORD_CALLS_CALLS_THREAD_H
#define RECORD_CALLS_CALLS_THREAD_H

#include "record/calls/calls_process.h"

/*
 * Reads the calls that were in the ring when the process was looked at. Frees the ring if the
 * thread has ended.
 */
void calls_thread_read(struct calls_process *process, unsigned thread, uint64_t now,
                       const struct calls_sink *sink);
/* Ends the thread's calls that did not return: they lasted until `now`. */
void calls_thread_end(struct calls_process *process, unsigned thread, uint64_t now,
                      const struct calls_sink *sink);

#endif
