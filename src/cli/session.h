/*
 * A recording: everything that it consists of, put together.
 *
 *     sampler_next → tasks_record | session_sample → unwinder_walk → hmb_put      while it runs
 *     trace_write                                                                 once, at the end
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/calls.h"
#include "cli/guard.h"
#include "cli/launch.h"
#include "cli/sample_stack.h"
#include "cli/session_options.h"
#include "cli/tasks.h"
#include "cli/wakers.h"
#include "hmb/hmb.h"
#include "perf/cgroup.h"

struct session {
	const struct options *options;
	struct tables *tables;
	struct hmb *hmb;
	struct module_table *modules;
	struct sampler *sampler;
	struct tasks tasks;
	struct guard guard;
	struct launch launch;
	struct cgroup cgroup;
	struct calls *calls; /* NULL: not wanted */
	enum sampler_way way;
	unsigned nr_counters;         /* those of the options, or 0: the kernel cannot read them */
	uint64_t counts[COUNTER_MAX]; /* of the sample at hand */
	struct wakers wakers;
	struct sample_stack stack;
	int target_fd;        /* readable: the target has ended, or one of those attached to; -1 */
	unsigned nr_attached; /* processes that live */
	uint64_t seen_ended;  /* tasks, as of the last tick */

	unsigned shift[SAMPLER_MAX_EVENTS]; /* in force in the kernel, as far as asked for */
	struct session_source {
		struct stream stream;    /* SAMPLER_CGROUP */
		uint64_t last, interval; /* ns; of counters, whose rate only shows */
		uint64_t throttled;      /* times */
		uint64_t heard;          /* of event 0: when the CPU's last sample was, ns */
		uint64_t period;         /* at this shift; 0: not asked for yet */
		unsigned shift;
	} * sources;         /* [event][cpu] */
	uint64_t nr_streams; /* numbers given so far */
	uint64_t start;      /* of sampling, ns */
	uint64_t cpu_start;  /* the recorder's CPU time then */
	/* What the target's process did before it was the target, of events that are all sampled:
	   of others nobody knows exactly. */
	uint64_t before_exec[SAMPLER_MAX_EVENTS];
	uint64_t guarded[SAMPLER_MAX_EVENTS]; /* taken, as of the guard's last step */
	bool noted_modules[FRAME_MAX_MODULES];
	size_t buffer_size; /* as it would be if memory is never refused */
	bool sampling;      /* has started */
	uint64_t waited;    /* ns, where it ended before it started */
	bool over;          /* the target has ended, or we are told to end */
	bool until_ended;   /* the command that is recorded until it ends */
	bool one_kind;
	const char *too_dear; /* an event that cannot slow down as the guard wants; NULL: none */
	unsigned ticks;
	unsigned status_row; /* of the terminal, where the status line stands; 0: nowhere */
	uint64_t malformed;
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

/* A sample arrived: its level, its stack, its place in the buffer. */
void session_sample(struct session *session, const struct record *record,
                    const struct sampler_source *source);

/* Takes in what rings hold: of all records, or of those that nothing earlier can follow. */
void session_drain(struct session *session, bool all);

/*
 * Sampling costs too much: closes a level of the event of which most samples came, of those where
 * that helps. The kernel follows at its next sample.
 */
void session_slow_down(struct session *session);

/* Opens what wakes the recorder of this sampler and target. 0 or -errno. */
int session_open_loop(struct session *session);
/* Takes in what comes until the recording is over, and what is left then. */
void session_loop(struct session *session);
/* At each tick: how to be woken until the next one. */
void session_pace(struct session *session);
/* Makes the terminal whole, which others have meanwhile, and stops us if that was asked for. */
void session_allow_stop(struct session *session);

/* Bytes of ring for samples that a CPU gets where limits permit it. */
size_t session_ring_size(void);

/* How to sample: by a cgroup of the target's own where that is permitted, else by the ladder. */
void session_choose_way(struct session *session);
/* Puts the target into its cgroup where it did not start there; the ladder, if that fails. */
void session_join_cgroup(struct session *session);
/* Says so where the way that was chosen cannot see all kinds of cores. */
void session_note_cores(struct session *session);
/* Whether the counters asked for can be read that way; says where not. */
void session_choose_counters(struct session *session);
/* Measures the price of a sample and makes the buffer, the tables and what names need. */
int session_open(struct session *session);
/* The sources of an opened sampler. */
int session_open_sources(struct session *session);

/*
 * When all is open: starts sampling, or the waiting until it starts. 0, or -errno: nothing was
 * sampled.
 */
int session_start(struct session *session);
/* When start_fd is readable. */
void session_start_late(struct session *session);
/* At the end, where sampling did not start: the recording has no length, and nobody in it. */
void session_note_early_end(struct session *session);

/* What may help where a recording cannot be set up for this error: "; ..." or "". */
const char *session_way_out(int error);

/*
 * Opens the sampler for all threads of the processes that are to be attached to: for all of these
 * or none. One that ends from now on is no error. 0, or -errno after saying why.
 */
int session_attach(struct session *session);
/* When target_fd is readable: whether all have ended. */
bool session_attached_ended(struct session *session);
/*
 * Opens it for whoever runs on the CPUs, or in the cgroup, and learns who that is. 0, or -errno
 * after saying why.
 */
int session_open_wide(struct session *session);
/* The same for threads that are known. */
int session_open_sampler(struct session *session, const pid_t *tasks, size_t nr_tasks);

#endif
