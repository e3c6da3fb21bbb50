/* The end of a call's way: its thread is found, and the policy asked. */
#ifndef RECORD_CALLS_CALLS_PUT_H
#define RECORD_CALLS_CALLS_PUT_H

#include "record/calls/calls.h"
#include "record/tasks/outer_thread.h"

struct calls_put {
	struct calls_sink sink; /* it is this one's */
	struct calls_config config;
	uint64_t unknown_threads; /* calls of such */
	struct outer_threads outer;
	/* The thread of the call before; tids are looked up once a round. */
	const struct calls_process *last_process;
	pid_t last_tid;
	uint32_t last_thread;
	uint32_t stored_thread; /* of the last call that was stored in this round */
	unsigned stored_level;
};

/* Stays where it is from now on. */
void calls_put_begin(struct calls_put *put, const struct calls_config *config);
/* A round begins, or a process is gone: what was found for the last call may have changed. */
void calls_put_forget(struct calls_put *put);

#endif
