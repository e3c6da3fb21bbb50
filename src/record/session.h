/*
 * A recording: everything that it consists of, put together.
 *
 *     sampler_next → tasks_record | session_sample → sample_stack_build → hmb_put   while it runs
 *     trace_write                                                                  once, at the end
 *
 * session.c sets it up and ends it, session_loop.c runs it. Who sampled what, and whom, is
 * session_open.c, attach.c or session_wide.c; what is made of it session_drain.c and
 * session_sample.c; what is missing in it session_warnings.c.
 */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

#include "record/calls/calls.h"
#include "record/overhead_guard.h"
#include "record/launch.h"
#include "record/sample_stack.h"
#include "record/config.h"
#include "cli/stderr_writer.h"
#include "record/tasks/tasks.h"
#include "record/wakers.h"
#include "hmb/hmb.h"
#include "perf/machine/cgroup.h"

/* Of an event on a CPU. */
struct session_source {
	struct stream stream;    /* of its samples, where streams are of CPUs: SAMPLER_CGROUP */
	uint64_t throttled;      /* times */
	uint64_t heard;          /* of event 0: when the CPU's last sample was, ns */
	uint64_t last, interval; /* of counters: when its last sample was, and the usual time
	                            between two at the base period, ns */
	uint64_t period;         /* occurrences at this shift; 0: not asked for yet */
	unsigned shift;
};

struct session {
	const struct options *options;

	/* Its parts, in the order in which they come to be. */
	struct stderr_writer messages;
	struct wakers wakers;
	struct cgroup cgroup; /* fd -1: none */
	struct launch launch; /* pid 0: nothing is started */
	struct calls *calls;  /* NULL: not wanted */
	struct guard guard;
	struct tables *tables;
	struct hmb *hmb;
	struct module_table *modules;
	struct tasks tasks;
	struct sample_stack stack;
	struct sampler *sampler;

	/* How it samples. */
	enum sampler_way way;
	unsigned nr_counters;               /* as the options say, or 0: they cannot be read */
	unsigned shift[SAMPLER_MAX_EVENTS]; /* in force in the kernel, as far as asked for */
	bool one_kind;                      /* of several kinds of cores is seen */

	/* What samples left behind. */
	struct session_source *sources; /* [event][cpu] */
	uint64_t nr_streams;            /* numbers given so far */
	uint64_t counts[COUNTER_MAX];   /* of the sample at hand */
	/* What the target's process did before it was the target, of events that are all sampled:
	   of others nobody knows exactly. */
	uint64_t before_exec[SAMPLER_MAX_EVENTS];
	uint64_t guarded[SAMPLER_MAX_EVENTS]; /* taken, as of the guard's last step */
	const char *too_dear; /* an event that cannot slow down as the guard wants; NULL: none */
	bool noted_modules[FRAME_MAX_MODULES]; /* in the tables */
	size_t buffer_size;                    /* as it would be if memory is never refused */

	/* Of its course. */
	bool sampling;       /* has started */
	bool over;           /* the target has ended, or we are told to end */
	bool until_ended;    /* the command that is recorded until it ends */
	unsigned status_row; /* of the terminal, where the status line stands; 0: nowhere */
	uint64_t start;      /* of sampling, ns */
	uint64_t cpu_start;  /* the recorder's CPU time then */
	uint64_t waited;     /* ns, where it ended before it started */
	uint64_t seen_ended; /* tasks, as of the last tick */
	int refused_signal;  /* that ended the recording, for the target may not be sent it; 0: none
	                      */
	char *beside;        /* where the trace is, if not under its name */
	unsigned ticks;      /* so far */
	unsigned nr_attached; /* processes that live */
	int target_fd;        /* readable: the target has ended, or one of those attached to; -1 */
};

/* What is kept of where a record came from. */
static inline struct session_source *session_source(const struct session *session,
                                                    const struct sampler_source *source)
{
	return &session->sources[(unsigned)source->event * sampler_nr_cpus(session->sampler) +
	                         source->cpu];
}

/*
 * Records the target, which has this mask of signals, as the options say, and writes the trace.
 * Returns the exit status.
 */
int session_run(const struct options *options, const sigset_t *mask);
/* What may help where a recording cannot be set up for this error, an -errno: "; ..." or "". */
const char *session_way_out(int err);

/* --- before it samples ------------------------------------------------------------------------ */

/* How to sample: by a cgroup of the target's own where that is permitted, else by the ladder. */
void session_choose_way(struct session *session);
/* Puts the target into its cgroup where it did not start there; the ladder, if that fails. */
void session_join_cgroup(struct session *session);
/* Says so where the way that was chosen cannot see all kinds of cores. */
void session_note_cores(struct session *session);
/* Whether the counters asked for can be read that way; says where not. */
void session_choose_counters(struct session *session);
/*
 * Measures the price of a sample and makes the buffer, the tables and what names need. 0, or
 * -errno: session_run() says why, except for -EEXIST, another recorder of the trace.
 */
int session_open(struct session *session);

/* Opens the sampler for these threads, or for whoever there is. 0, or -errno after saying why. */
int session_open_sampler(struct session *session, const pid_t *tasks, size_t nr_tasks);
/*
 * The same for all threads of the processes that are to be attached to: for all of these or none.
 * One that ends from now on is no error.
 */
int session_attach(struct session *session);
/* The same for whoever runs on the CPUs, or in the cgroup; and learns who that is. */
int session_open_wide(struct session *session);

/* Bytes of ring for samples that each of so many CPUs gets where limits permit it. */
size_t session_ring_size(unsigned nr_cpus);
/* Makes the sources of an opened sampler. 0 or -ENOMEM. */
int session_open_sources(struct session *session);
/* Opens what wakes the recorder of this sampler and target. 0 or -errno. */
int session_open_loop(struct session *session);

/*
 * When all is open: starts sampling, or the waiting until it starts. 0, or -errno: nothing was
 * sampled.
 */
int session_start(struct session *session);
/* When the time for that has come. */
void session_start_late(struct session *session);
/* At the end, where sampling did not start: the recording has no length, and nobody in it. */
void session_note_early_end(struct session *session);

/* --- while it runs ---------------------------------------------------------------------------- */

/* Takes in what comes until the recording is over, and what is left then. */
void session_loop(struct session *session);
/* How many the target can use at once at most: on large machines, few programs use them all. */
unsigned session_cpus_in_use(const struct session *session);
/* At each tick: how to be woken until the next one. */
void session_pace(struct session *session);
/* Makes the terminal whole, which others have meanwhile, and stops us if that was asked for. */
void session_allow_stop(struct session *session);
/* Signals that came until now, for what is over. */
void session_forget_signals(struct session *session);
/* When target_fd is readable: whether all that were attached to have ended. */
bool session_attached_ended(struct session *session);

/* Takes in what rings hold: of all records, or of those that nothing earlier can follow. */
void session_drain(struct session *session, bool all);
/* A sample arrived: its level, its stack, its place in the buffer. */
void session_sample(struct session *session, const struct record *record,
                    const struct sampler_source *source);
/*
 * Sampling costs too much: closes a level of the event of which most samples came, of those where
 * that helps. The kernel follows at its next sample.
 */
void session_slow_down(struct session *session);

/* --- at its end ------------------------------------------------------------------------------- */

/* What a user should know before believing the trace; a line each, mostly none. */
void session_warn(const struct session *session);

#endif
