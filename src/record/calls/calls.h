/*
 * The calls of instrumented targets (see preload/call_ring.h), from the first request of a process
 * to its last call in the buffer.
 *
 * Calls have a share of the budget. The policy gives each call a level. When the memory is full,
 * all calls of the lowest level are removed. With the policy `all` there is one level; once it is
 * removed, the targets stop recording calls.
 *
 * With the policy `time`, a call has its ring_moment_level(). So the moments that are left are
 * spread evenly over the run, and all calls of such a moment are there. Targets write no records of
 * calls in other moments.
 *
 * Where calls cost a thread more than it may lose, only some of them are timed, and those in some
 * moments are recorded, see calls_thin.h. With the policy `all` this begins when the memory is
 * full.
 *
 * With the policy `iterations`, the calls of an iteration of a loop have the level that the target
 * gives it, so that it is there as a whole or not at all. That of its ordinal is the same on all
 * ranks; those of slow ones are higher. All other calls have the level of their moment.
 *
 * With the other policies each message belongs to one call only: a send to the call that begins it,
 * a receive to the call that completes it, a collective to the call that begins it. So a message is
 * never left half when one of its two calls is removed. Calls within one class (point to point
 * under `class`) are removed together, so they keep their requests.
 */
#ifndef RECORD_CALLS_CALLS_H
#define RECORD_CALLS_CALLS_H

#include "record/calls/call_libraries.h"
#include "record/calls/calls_process.h"
#include "record/tasks/tasks.h"

#define CALLS_MAX_PROCESSES 4096 /* processes alive at the same time */

struct calls;
struct halves;

struct calls_config {
	struct hmb *hmb;
	unsigned kind; /* event number of calls in the buffer */
	struct tables *tables;
	struct tasks *tasks;
	enum trace_policy policy;
	uint64_t share;
	/* ns that a target may wait for room in its ring rather than lose a call */
	uint64_t patience;
	/* share of a thread's time that calls may cost before fewer of them are timed; 0: any */
	double most_cost;
	uint32_t keep; /* iterations of each pattern of a loop, at least; 0: all */
	bool polls;    /* calls that asked for something that was not there are recorded, too */
	/* Told of each frame that tables get; NULL: nobody is. */
	void (*note_frame)(void *arg, uint64_t frame);
	void *arg; /* of note_frame */
};

/* Starts to listen for processes, before any exists. Returns NULL with errno on failure. */
struct calls *calls_open(void);
void calls_close(struct calls *calls);

/*
 * Returns the environment for a target: a copy of `environment` that makes the target and all its
 * children load the library at `path` and connect to the recorder, with `openmp`, a word of
 * call_openmp_parse(), also those that have nothing but OpenMP regions to tell of. It is to be
 * freed and must not outlive `environment`. Returns NULL if there is no memory.
 */
char **calls_environment(struct calls *calls, char **environment,
                         const struct call_library *library, const char *path, const char *openmp);

/* Sets where calls are stored from now on. Returns 0 or -errno. */
int calls_begin(struct calls *calls, const struct calls_config *config);

/*
 * Keeps all calls of the last seconds from this time on, which is now, whatever the policy: in
 * these halves, whose kinds are empty and stay the caller's. Targets then record calls that the run
 * has no use for, too. A half counts calls as taken that could not be recorded: those that were
 * lost, and at least those that were not timed.
 */
void calls_keep(struct calls *calls, const struct halves *halves, uint64_t time);
/* Returns the halves with them; NULL: calls are not kept. */
const struct halves *calls_kept(const struct calls *calls);

/* Readable when there is something to do for calls_drain(). */
int calls_poll_fd(const struct calls *calls);
/* Handles new and ended processes and, when a round is due, reads their calls. */
void calls_drain(struct calls *calls);
/* Reads all calls so far, before a round is due. */
void calls_read(struct calls *calls);
/*
 * Returns the time (ns) up to which all calls have been read. UINT64_MAX: there is no process that
 * could make any.
 */
uint64_t calls_drained(const struct calls *calls);
/*
 * Ends the calls of a process that executed another program at this time, ns. Call it while its
 * threads are still known as those of the earlier program.
 */
void calls_executed(struct calls *calls, pid_t pid, uint64_t time);
/* Ends calls that have not returned. No calls are read afterwards. */
void calls_end(struct calls *calls);

/*
 * Begins anew, after the calls so far were cleared from the buffer: sums and losses start at 0, and
 * targets are to record all calls again. A call that has not ended begins now. One that ends while
 * this function runs, for less than a millisecond, may be in the sums alone or in the buffer alone.
 * Before anything is cleared, prepare gets the memory that this takes, and reads all calls so far;
 * it returns 0 or -ENOMEM.
 */
int calls_prepare_restart(struct calls *calls);
void calls_restart(struct calls *calls);

/* Updates the description of the calls in the trace. */
void calls_progress(struct calls *calls);

/* Sets the share of a thread's time that its calls may cost, as in struct calls_config. */
void calls_set_most_cost(struct calls *calls, double most_cost);
/* Returns what calls have cost the targets so far, ns of their time. */
uint64_t calls_cost(const struct calls *calls);

/* Returns how many processes have connected. */
uint64_t calls_nr_processes(const struct calls *calls);
/*
 * Returns how many processes were refused, and the latest reason: -errno, or 0 if there were too
 * many.
 */
uint64_t calls_refused(const struct calls *calls, int *err);
/*
 * Counts a process whose calls are missing. The library in a target maps a memory file with a
 * certain name if it does not reach the recorder; call this for each mapping.
 */
void calls_mapped(struct calls *calls, const char *name);
uint64_t calls_unheard(const struct calls *calls);
/* Tells whether the trace had no room for some communicators or files. */
bool calls_refused_comms(const struct calls *calls);
/* Returns how many invalid records there were. */
uint64_t calls_malformed(const struct calls *calls);

/*
 * Lets each process sleep at the end of its MPI_Init until calls_release(), also those that connect
 * later; they go on, too, if the recorder ends.
 */
void calls_hold(struct calls *calls);
void calls_release(struct calls *calls);
/* How many processes sleep so, and whether all do that have connected. */
struct calls_held {
	unsigned nr;
	bool all;
};
struct calls_held calls_held(const struct calls *calls);

/* Lets only calls of these classes be recorded from now on: a bit for each enum call_class. */
void calls_want(struct calls *calls, uint32_t wanted);

/* Returns the level of a call under a policy. */
unsigned calls_level(enum trace_policy policy, enum call_class class, const struct call *call);
/* Tells whether the level of a call is that of its moment, where no iteration has another one. */
bool calls_policy_has_moments(enum trace_policy policy);
/* Tells whether a call is stored as it is, even if it may lose another one that it belongs to. */
bool calls_policy_keeps_halves(enum trace_policy policy);
/*
 * Returns which classes of calls, as bits, targets need not record while this is the lowest open
 * level, and RING_NO_POLLS.
 */
uint32_t calls_closed(const struct calls_config *config, unsigned floor);
/*
 * Gives each message to one call, as described above. Changes parts in place and returns how many
 * are left.
 */
unsigned calls_strip(enum trace_policy policy, struct call_part *parts, unsigned nr);

#endif
