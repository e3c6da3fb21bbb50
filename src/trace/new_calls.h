/*
 * Visits each stored call of a recording at work once: at each round those that came since the last
 * one.
 */
#ifndef TRACE_NEW_CALLS_H
#define TRACE_NEW_CALLS_H

#include "trace/trace_calls.h"

/* All zero: no call was visited. */
struct new_calls {
	uint64_t *left; /* by thread: when its last visited call was left */
	uint32_t nr_threads, room;
};

typedef void new_call_fn(void *arg, const struct call *call);

/* 0, -ENOMEM or -EBADMSG. */
int new_calls_each(struct new_calls *calls, const struct trace *trace, new_call_fn *fn, void *arg);
void new_calls_fini(struct new_calls *calls);

#endif
