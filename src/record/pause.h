/*
 * Pauses of a recording. While it is paused, events take no samples and count nothing, and the
 * times of --delay and --duration stand still; records of tasks and mappings are taken in. The
 * trace has a gap for each event and pause.
 */
#ifndef RECORD_PAUSE_H
#define RECORD_PAUSE_H

#include "record/steer/freeze.h"

#include <stdbool.h>
#include <stdint.h>

struct session;

struct pause_request {
	bool target;  /* stops the target as well */
	uint64_t ns;  /* resumes after this time; 0: with pause_end() */
	pid_t except; /* a process that is not stopped */
};

struct pause {
	struct freeze freeze;
	unsigned flags;   /* RECORDING_PAUSED, RECORDING_FROZEN; 0: it is not paused */
	bool freezes;     /* the freeze is in force */
	bool for_moment;  /* it is that of pause_hold_target() */
	bool holds_ranks; /* ranks sleep after MPI_Init */
	uint64_t since;   /* ns */
	uint64_t cpu;     /* the recorder's CPU time when it began, ns */
	uint64_t idle;    /* idle_time() when it began, ns */
	uint64_t own_ns;  /* the recorder's CPU time in all pauses, ns */
	unsigned nr_gaps;
	int lease_fd;      /* timer: what the last command did is undone when it expires */
	bool again;        /* it pauses then; else it resumes */
	bool again_target; /* the target then, too, as before */
};

/* Opens the timer. 0 or -errno. */
int pause_open(struct session *session);
void pause_close(struct session *session);

/* Pauses the recording, or says why it cannot be paused. */
struct refusal pause_begin(struct session *session, const struct pause_request *request);
/*
 * Lets the target stand still for a moment, unless it does so already, while the recording goes on;
 * or says why it cannot.
 */
struct refusal pause_hold_target(struct session *session, pid_t except);
void pause_let_target_go(struct session *session);
/* Pauses it before the command has been executed; the end of the pause executes it. */
void pause_start(struct session *session);
/* Looks whether ranks have reached the end of MPI_Init, where they sleep. The end lets them go. */
void pause_follow_ranks(struct session *session);
/* Ends it; ns: it pauses again after this time. */
struct refusal pause_end(struct session *session, uint64_t ns);
/* Tells whether there is room for a gap of every event. */
bool pause_has_room(const struct session *session);
/* Begins a gap of an event, and ends it. */
void pause_begin_gap(struct session *session, unsigned event, uint64_t from);
void pause_end_gap(struct session *session, unsigned event, uint64_t to);
/* Returns whether the time of the last command is over; call it when lease_fd is readable. */
bool pause_has_expired(const struct session *session);
/* Ends a pause because the recording ends. */
void pause_finish(struct session *session);

#endif
