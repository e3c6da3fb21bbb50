/*
 * A recording reports to the program that runs it here. The recorder prints nothing: it gives the
 * topic and the numbers, and the watcher has the words. All functions are called by the thread that
 * called session_run().
 */
#ifndef RECORD_WATCHER_H
#define RECORD_WATCHER_H

#include "hmb/hmb.h"
#include "perf/machine/advice.h"
#include "perf/sampler/sampler.h"
#include "trace/format.h"

struct session;

/* The members of struct notice that belong to a topic are named with it. */
enum notice_topic {
	/* Nothing is recorded. */
	NOTICE_NOT_STARTED,     /* err */
	NOTICE_SAMPLER,         /* text: a sentence; without samples, or with fewer than wanted */
	NOTICE_NOT_SAMPLING,    /* err: sampling cannot start after the delay */
	NOTICE_NO_LIBRARY,      /* err: -EINVAL where the path `text` cannot be preloaded */
	NOTICE_NOT_EXECUTED,    /* err */
	NOTICE_OTHER_RECORDER,  /* another recorder writes the trace */
	NOTICE_NO_CGROUP,       /* err */
	NOTICE_NOT_LISTED,      /* pid, err: its threads cannot be listed */
	NOTICE_NOT_ATTACHED,    /* pid, err */
	NOTICE_PROCESS_ENDED,   /* pid: it is not reaped yet */
	NOTICE_PROCESS_MISSING, /* pid, err */
	NOTICE_PROCESS_THREAD,  /* pid, nr: it is a thread of process nr */

	/* Something will be missing. */
	NOTICE_ADVICE,      /* advice */
	NOTICE_NO_COUNTERS, /* advice: why the counters cannot be read */
	NOTICE_CODE_HIDDEN, /* pid: its mappings may not be read */
	NOTICE_CHILDREN,    /* nr of children that are not sampled; text: PIDs of their parents */
	NOTICE_THREADS_MISSED, /* threads start faster than they can be attached to */
	NOTICE_NAMESPACE,      /* text: the name of all processes outside of the PID namespace */
	NOTICE_SLOWER,         /* text: event, nr: its period in ns, longer than the wanted one */
	NOTICE_HISTORY_SLOWER, /* nr: period of its samples in ns, longer than the wanted one */
	NOTICE_HISTORY_SHORT,  /* nr: ns that fit into its memory at least, of total */
	NOTICE_LEFTOVER,       /* an earlier recording of the trace was never written */
	NOTICE_TABLES,         /* the tables of the recording exist */
	NOTICE_NAME_TAKEN,     /* a killed recorder would leave nothing: another holds the name */
	NOTICE_UNRECOVERABLE,  /* the same; advice: no room */

	/* While it runs. */
	NOTICE_MAY_STOP,       /* SIGTSTP stops the recorder from now on */
	NOTICE_SIGNAL_REFUSED, /* nr: signal that may not be sent to the command; ends the recording
	                        */

	NOTICE_EXEC_STALLED, /* the command is left behind: its program cannot be read */

	/* Writing the trace. */
	NOTICE_NAMED,         /* names have been looked up */
	NOTICE_NAMES_SKIPPED, /* nr of files */
	NOTICE_NAMES_MISSING, /* nr of files whose file system does not answer */
	NOTICE_KEPT,          /* err of writing; the trace stays in memory */
	NOTICE_ELSEWHERE,     /* err of writing; text: where it is instead */
	NOTICE_LOST,          /* err of writing */
	NOTICE_BESIDE,        /* text: where it is, as something else has taken its name */
	NOTICE_FLAGS,         /* nr: flags of the run */

	/* At the end: what is missing. */
	NOTICE_BUFFER_LIMIT,  /* nr: bytes beyond which the buffer could not grow */
	NOTICE_CALLS_REFUSED, /* nr of processes that no memory could be shared with; err or 0 */
	NOTICE_CALLS_UNHEARD, /* nr of processes that could not say that they have calls */
	NOTICE_CALLS_DROPPED, /* nr of calls that are stored, total */
	NOTICE_CALLS_LOST,    /* nr */
	NOTICE_COMMS_REFUSED, /* communicators found no room */
	NOTICE_NO_CALLS,      /* calls were wanted, and none came */
	NOTICE_COUNTER,       /* counter, text: its name, nr: its number */
	NOTICE_DELAYED,       /* nr: ns until the end, which came before the delay was over */
	NOTICE_SILENT,        /* event, text: its name, nr: 0 where events are inherited */
	NOTICE_HISTORY_CUT,   /* nr: period of its samples in ns in the end, which cost too much */
	NOTICE_HISTORY_FULL, /* nr: ns that fitted into its memory at least, of total; text: of what
	                      */
	NOTICE_EXPENSIVE,    /* text: an event that could not become slower */
	NOTICE_UNOBSERVED,   /* nr of tasks, total: ns of their time that are missing */
	NOTICE_RUNNING_ON,   /* nr of the command's processes that run on; pid of the oldest */
	NOTICE_CUT_STACKS,   /* run */

	NR_NOTICES
};

struct notice {
	enum notice_topic topic;
	int err; /* -errno */
	pid_t pid;
	uint64_t nr, total;
	const char *text; /* it and the entries below are valid until the watcher returns */
	const struct trace_run *run;
	const struct trace_event *event;
	const struct trace_counter *counter;
	struct advice advice;
};

/* An event of a recording. Periods are occurrences, or ns for clocks. */
struct event_state {
	uint64_t base_period;
	unsigned initial_shift, floor;
	bool is_costly; /* it would cost too much at one shift less than the initial one */
	unsigned for_memory, for_overhead; /* reductions since the start, by cause */
};

/* A recording as it is now. */
struct session_state {
	bool started;       /* sampling has started */
	uint64_t wall;      /* ns of sampling so far */
	uint64_t starts_in; /* ns, if sampling has not started */
	size_t used;        /* bytes of the buffer */
	size_t limit;       /* bytes that it may use: -m, or less by ctl memory */
	uint64_t stored;    /* samples */
	uint64_t lost;      /* samples; filled in at the end only, as the kernel counts them */
	uint64_t throttled; /* number of times that the kernel throttled an event */
	uint64_t price;     /* measured price of a sample, ns; 0: unknown */
	/* Millionths of its time that the program lost: each CPU, and if its CPUs wait for each
	   other. */
	uint64_t one_cpu_cost, coupled_cost;
	struct event_state events[SAMPLER_MAX_EVENTS];
};

struct session_watcher {
	void *arg; /* for the functions */
	/*
	 * A process that notice() has forked for NOTICE_TABLES: it is no part of what is recorded.
	 * 0: none.
	 */
	pid_t helper;
	void (*notice)(void *arg, const struct notice *notice);
	/* Ten times a second while it records; see session_state_read(). */
	void (*tick)(void *arg, const struct session *session);
	/* Names in this file are about to be looked up. */
	void (*naming)(void *arg, const char *path);
	/* Tells whether the user does not want to wait for names any longer. */
	bool (*impatient)(void *arg);
	/* The trace is complete. Warnings have been given. */
	void (*saved)(void *arg, const struct session_state *state, const char *path,
	              uint64_t bytes);
};

#endif
