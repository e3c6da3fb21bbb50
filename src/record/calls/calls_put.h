/* Stores calls: finds the thread of a call and applies the policy. */
#ifndef RECORD_CALLS_CALLS_PUT_H
#define RECORD_CALLS_CALLS_PUT_H

#include "record/calls/calls.h"
#include "record/calls/calls_iterations.h"
#include "record/history/halves.h"
#include "record/tasks/outer_thread.h"

struct calls_put {
	struct calls_sink sink; /* receives calls for this struct */
	struct calls_config config;
	uint64_t unknown_threads; /* calls whose thread is unknown */
	uint64_t from;            /* calls that ended earlier are of before a restart, ns */
	struct outer_threads outer;
	struct calls_iterations iterations;
	/* The thread of the previous call. Thread IDs are looked up once per round. */
	const struct calls_process *last_process;
	pid_t last_tid;
	uint32_t last_thread;
	uint32_t stored_thread; /* thread of the last call that was stored in this round */
	unsigned stored_level, run_level;
	struct halves kept;   /* of the last seconds; without a buffer: none are kept */
	uint32_t kept_thread; /* thread of the last call that was kept in this round */
	uint64_t looked;      /* calls that end from this time on come in later rounds, ns */
	uint64_t kept_until;  /* the latest end of a call that was kept, ns */
	uint64_t missing;     /* calls that no record came of */
};

/* Initializes put, which must not move afterwards: its sink points to it. */
void calls_put_begin(struct calls_put *put, const struct calls_config *config);
/* All that was stored so far was cleared: begins anew at this time, ns. */
void calls_put_restart(struct calls_put *put, uint64_t time);
/* Keeps calls as calls_keep() does. */
void calls_put_keep(struct calls_put *put, const struct halves *halves, uint64_t time);
/* A round begins: calls that end from this time on come in later rounds. */
void calls_put_round(struct calls_put *put, uint64_t looked);
/* No record came, or will come, of so many calls so far. */
void calls_put_missing(struct calls_put *put, uint64_t nr);
/* Forgets the thread of the last call. Call it when a round begins or a process has ended. */
void calls_put_forget(struct calls_put *put);

#endif
