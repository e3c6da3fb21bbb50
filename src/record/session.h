/*
 * A recording with all its parts.
 *
 *     sampler_next → tasks_record | session_sample → sample_stack_build → hmb_put   while it runs
 *     trace_write                                                                  once, at the end
 *
 * session.c sets it up and ends it, and session_loop.c runs it. session_open.c, attach.c and
 * session_wide.c open the events. session_drain.c and session_sample.c process the records.
 * session_warnings.c notices what is missing. The watcher has the words (watcher.h).
 */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

#include "record/adoption.h"
#include "record/calls/calls.h"
#include "record/history.h"
#include "record/overhead_guard.h"
#include "record/steer/control.h"
#include "record/own_processes.h"
#include "record/pause.h"
#include "record/launch.h"
#include "record/sample_stack.h"
#include "record/config.h"
#include "record/watcher.h"
#include "record/tasks/tasks.h"
#include "record/pace.h"
#include "record/wakers.h"
#include "record/windows.h"
#include "hmb/hmb.h"
#include "perf/machine/cgroup.h"

#define NO_KIND UINT_MAX
/* Descriptors that stay free, for the trace, files of programs and clients of the socket. */
#define SESSION_SPARE_FILES 10

/* An event of the sampler, which has the same number there. */
struct session_event {
	unsigned kind; /* in buffer and trace; NO_KIND: it never sampled */
	bool on;       /* it samples, unless the recording is paused */
	/* idle_time() when it was switched off, and ns of it while it was off */
	uint64_t idle_at, idle_off;
	uint64_t own_at, own_off; /* the same of the recorder's CPU time */
};

/* State of an event on a CPU. */
struct cpu_event {
	/* stream of its samples, if each CPU has its own (SAMPLER_CGROUP) */
	struct stream stream;
	uint64_t throttled; /* number of times that the kernel throttled it */
	uint64_t heard;     /* for event 0: time of the CPU's last sample, ns */
	/*
	 * for counters: time of the last sample, and usual time between two at the base period, ns
	 */
	uint64_t last, interval;
	uint64_t dropped; /* sampler_dropped() so far, less what samples are owed for, ns */
	uint64_t period;  /* occurrences per sample at this shift; 0: not computed yet */
	unsigned shift;
};

/*
 * How a session samples: what is in force, where the configuration says what was asked for. The
 * functions of sampling.c change it.
 */
struct sampling {
	enum sampler_way way;
	unsigned nr_counters; /* counters of the configuration, or 0: they cannot be read */
	/* shift that the kernel uses outside of windows, or was last asked to use */
	unsigned shift[SAMPLER_MAX_EVENTS];
	bool one_core_type;                   /* only one of several types of cores is sampled */
	uint64_t guarded[SAMPLER_MAX_EVENTS]; /* samples taken at the guard's last step */
	/* in the target's cgroup, see session_join_cgroup() */
	struct own_processes own;
	uint64_t own_ns;    /* the recorder's own part of the totals */
	uint64_t forked_ns; /* the same of the processes that it has forked */
	/* an event that cannot slow down as the guard wants; NULL: none */
	const char *too_expensive;
};

/* A descriptor, and what to do when it is readable; NULL: nothing but a round of the loop. */
struct session_listener {
	int fd; /* -1: none */
	void (*on_readable)(struct session *session, int fd);
};

#define SESSION_MAX_LISTENERS 16

struct session {
	/* Its events are all that were opened so far: spare and added ones, too. */
	const struct record_config *config;
	struct record_config *own_config;      /* the same, to be changed */
	const struct session_watcher *watcher; /* NULL: nobody watches (tests) */

	/* Its parts, in the order of their creation. */
	struct wakers wakers;
	struct control control;
	struct pause pause;
	struct windows windows;
	struct history history;
	unsigned nr_actions[2]; /* in the trace: actions, and marks */
	struct cgroup cgroup;   /* fd -1: none */
	struct launch launch;   /* pid 0: nothing is started */
	struct calls *calls;    /* NULL: not wanted */
	struct overhead_guard guard;
	struct tables *tables;
	struct hmb *hmb;
	struct module_table *modules;
	struct tasks tasks;
	struct sample_stack stack;
	struct sampler *sampler;

	struct sampling sampling;
	struct adoption adoption;

	struct session_event events[SAMPLER_MAX_EVENTS]; /* those of the configuration */
	unsigned calls_kind;                             /* where calls are recorded */

	/* State that results from the samples. */
	struct cpu_event *cpu_events; /* [event][cpu] */
	uint64_t nr_streams;          /* stream numbers given so far */
	uint64_t counts[COUNTER_MAX]; /* counts of the current sample */
	/*
	 * Occurrences in the target's process before it executed its program. They are known only
	 * for events of which every occurrence is sampled.
	 */
	uint64_t before_exec[SAMPLER_MAX_EVENTS];
	bool noted_modules[FRAME_MAX_MODULES]; /* modules that are in the tables */
	size_t buffer_size;                    /* size of the buffer if memory is never refused */

	/* Progress of the recording. */
	bool started;        /* sampling has started */
	bool over;           /* the target has ended, or the recorder was asked to end */
	bool stopped;        /* it is over because that was asked for at the control socket */
	bool saved;          /* the trace has been written, or cannot be */
	bool until_ended;    /* the command whose end ends the recording has ended */
	uint64_t start;      /* start of sampling, ns */
	uint64_t idle_start; /* idle_time() at the start, ns; 0: of no interest */
	uint64_t round_cpu;  /* the recorder's CPU time at the end of the last round, ns */
	uint64_t calls_told; /* cost of calls that the guard has been told of, ns */
	uint64_t cpu_start;  /* the recorder's CPU time at the start, ns */
	uint64_t waited;     /* ns until it ended, if sampling did not start */
	uint64_t seen_ended; /* tasks that had ended at the last tick */
	/* signal that ended the recording because it could not be sent to the target; 0: none */
	int refused_signal;
	/* signal that ended the recording while the target executed its program; 0: none */
	int early_signal;
	char *beside; /* name of the trace, if not the wanted one */
	struct pace pace;
	uint64_t tenth;       /* of a second of CLOCK_MONOTONIC, of the last tick */
	unsigned ticks;       /* ticks so far */
	unsigned nr_attached; /* attached processes that still live */
	int attached_fd; /* readable when an attached process has ended; -1: none is attached */
	struct session_listener listeners[SESSION_MAX_LISTENERS]; /* see session_open_loop() */
	unsigned nr_listeners;
};

/* Returns the state of the event and CPU that a record came from. */
static inline struct cpu_event *session_cpu_event(const struct session *session,
                                                  const struct sampler_origin *origin)
{
	return &session->cpu_events[(unsigned)origin->event * sampler_nr_cpus(session->sampler) +
	                            origin->cpu];
}

/* Tells whether an event samples, or has sampled. */
static inline bool session_has_kind(const struct session *session, unsigned event)
{
	return session->events[event].kind != NO_KIND;
}

/* Lets the first events sample, each with the kind of its number, and no other. */
void session_init_events(struct session *session, unsigned nr);
/* Tells whether a clock is among the events that sample. */
bool session_has_clock(const struct session *session);
/* Tells the guard how many do. */
void session_count_clocks(struct session *session);

/* Returns the time as samples of an event store it, rounded down. */
static inline uint64_t session_stored_time(const struct session *session, unsigned event,
                                           uint64_t time)
{
	const unsigned kind = session->events[event].kind;
	const unsigned shift = session->hmb->kinds[kind].config.time_shift;

	return time >> shift << shift;
}

/* Returns the event that has a kind; -1: none has. */
static inline int session_event_of(const struct session *session, unsigned kind)
{
	for (unsigned e = 0; e < SAMPLER_MAX_EVENTS; e++)
		if (session->events[e].kind == kind)
			return (int)e;
	return -1;
}

/* Records as configured, and writes the trace. Returns the exit status. */
int session_run(const struct record_config *config, const struct session_watcher *watcher);

/* Gives it to the watcher. */
static inline void session_notice(const struct session *session, struct notice notice)
{
	if (session->watcher)
		session->watcher->notice(session->watcher->arg, &notice);
}

/* The same, if something stands in the way. */
static inline void session_advise(const struct session *session, struct advice advice)
{
	if (advice.topic != ADVICE_NONE)
		session_notice(session, (struct notice){NOTICE_ADVICE, .advice = advice});
}

/* Describes the recording so far, for its watcher. */
void session_state_read(const struct session *session, struct session_state *state);

/* --- how it samples: sampling.c -------------------------------------------------------------- */

/* How to sample: by a cgroup of the target's own where that is permitted, else by the ladder. */
void session_choose_way(struct session *session);
/* Puts the target into its cgroup where it did not start there; the ladder, if that fails. */
void session_join_cgroup(struct session *session);
/* Reports it if the chosen way cannot see all types of cores. */
void session_note_cores(struct session *session);
/* Checks that the requested counters can be read with the chosen way; reports it if not. */
void session_choose_counters(struct session *session);
/* Chooses the shifts that clocks start with. */
void session_choose_shifts(struct session *session);
/*
 * Closes the levels below the initial shifts. The guard's demand before the start counts as a
 * reduction like any other.
 */
void session_close_first_levels(struct session *session);
/* The same for one event, at a time. */
void session_close_levels(struct session *session, unsigned event, uint64_t time);
/* Lets the kernel follow the buffer, whose floor of this event has risen. */
void session_follow_floor(struct session *session, unsigned event);
/* Returns the shift at which the run and the history want an event outside of windows. */
unsigned session_steady_shift(const struct session *session, unsigned event);
/* Lets the kernel sample an event as they or a window want it, whichever wants more. */
void session_follow(struct session *session, unsigned event);
/*
 * Sampling costs too much: closes a level of the event of which most samples came, of those where
 * that helps. The kernel follows at its next sample.
 */
void session_slow_down(struct session *session);

/* --- before it samples ------------------------------------------------------------------------ */

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

/* Describes what is to be opened: all events of the session's configuration. */
void session_configure_sampler(const struct session *session, struct sampler_config *wanted);
/* The properties of an event's kind in the buffer. */
struct hmb_kind_config session_kind(const struct session *session, unsigned event);

/* Bytes of ring for samples that each of so many CPUs gets where limits permit it. */
size_t session_ring_size(unsigned nr_cpus);
/* Makes the state of each event on each CPU for an opened sampler. 0 or -ENOMEM. */
int session_open_cpu_events(struct session *session);
/* Opens what wakes the recorder, and lists what is to be done then. 0 or -errno. */
int session_open_loop(struct session *session);

/*
 * When all is open: starts sampling, or the waiting until it starts. 0, or -errno: nothing was
 * sampled.
 */
int session_start(struct session *session);
/* Starts sampling when the delay is over. */
void session_start_late(struct session *session);
/*
 * Forgets all samples and calls so far: the buffer is cleared, clocks sample at their first period
 * again, and counts and exact totals start now, as after --delay. Tasks, their mappings and names
 * stay known. Losses of records that are no samples go on. Returns 0; -EAGAIN if sampling has not
 * started; -ENOMEM.
 */
int session_reset(struct session *session);
/* Ends a recording whose sampling did not start: it has no length and no tasks. */
void session_note_early_end(struct session *session);

/* --- while it runs ---------------------------------------------------------------------------- */

/* Takes in what comes until the recording is over, and what is left then. */
void session_loop(struct session *session);
/*
 * After the trace was written because the recording was stopped: passes signals on to the command
 * until it has ended.
 */
void session_wait(struct session *session);
/* How many the target can use at once at most: on large machines, few programs use them all. */
unsigned session_cpus_in_use(const struct session *session);
/* Chooses at each tick how the recorder is woken until the next tick. */
void session_pace(struct session *session);
/* Lets SIGTSTP stop the recorder, at once if that was asked for. */
void session_allow_stop(struct session *session);
/* Discards signals that came until now for something that is over. */
void session_forget_signals(struct session *session);
/* Tells whether all attached processes have ended. Call it when attached_fd is readable. */
bool session_attached_ended(struct session *session);

/* Takes in what rings hold: of all records, or of those that nothing earlier can follow. */
void session_drain(struct session *session, bool all);
/*
 * Takes in all that was written before this call, also calls. It waits for a millisecond: records
 * must be so old to be in order.
 */
void session_catch_up(struct session *session);
/* A sample arrived: its level, its stack, its place in the buffer. */
void session_sample(struct session *session, const struct record *record,
                    const struct sampler_origin *origin);

/* --- at its end ------------------------------------------------------------------------------- */

/* Notices of what the user should know before trusting the trace, mostly none. */
void session_warn(const struct session *session);

#endif
