/* One thread of an instrumented process: the calls in its ring. */
#ifndef RECORD_CALLS_CALLS_THREAD_H
#define RECORD_CALLS_CALLS_THREAD_H

#include "record/calls/calls_process.h"

/* Reads what was there when the process was looked at; and gives the ring of an ended one back. */
void calls_thread_read(struct calls_process *process, unsigned thread, uint64_t now,
                       const struct calls_sink *sink);
/* What it did not return from lasted until now. */
void calls_thread_end(struct calls_process *process, unsigned thread, uint64_t now,
                      const struct calls_sink *sink);

#endif
