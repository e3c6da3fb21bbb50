/* The configuration of a recording: the command line of record, completed for this machine. */
#ifndef RECORD_CONFIG_H
#define RECORD_CONFIG_H

#include "trace/format.h"
#include "perf/sampler/sampler.h"
#include "symbolize/unwind/unwind.h"

#include <limits.h>
#include <signal.h>

#define SESSION_MAX_STACK     1024
#define SESSION_MAX_PROCESSES 1024
#define CONFIG_MAX_CONDITIONS 32
#define HISTORY_HZ            1000 /* of samples of the history, unless asked otherwise */

/* Defaults: bytes of the buffer, and bytes of stack in a sample. */
#define SESSION_BUDGET     ((size_t)100 << 20)
#define SESSION_STACK_SIZE 16384

/* Options for call stacks. */
struct stack_options {
	enum trace_stacks mode;
	uint32_t size;     /* bytes of stack that a sample copies */
	bool fixed;        /* copies do not grow, however deep stacks are */
	unsigned max;      /* frames */
	unsigned branches; /* TRACE_STACKS_LBR: maximum of calls that the processor remembers */
	enum unwind_engine engine;
	bool max_given, engine_given; /* given on the command line */
};

/* MPI calls, OpenMP regions and user regions. */
struct calls_options {
	bool wanted;
	bool mpi;           /* --mpi */
	const char *openmp; /* --openmp: a word of call_openmp_parse(); NULL: not given */
	bool tuned;         /* an option for calls was given */
	double share;       /* share of the budget, 0 … 1 */
	enum trace_policy policy;
	bool policy_given; /* on the command line */
	uint64_t patience; /* ns */
	uint32_t keep;     /* iterations of each pattern of a loop, at least; 0: all */
	bool polls;        /* record calls that ask in vain */
	uint32_t classes;  /* recorded at first: a bit for each enum call_class */
};

/* --history */
struct history_options {
	uint64_t span; /* ns; 0: there is none */
	double hz;     /* samples a second, at least */
	bool asked;    /* for that rate */
};

struct record_config {
	char **command;      /* NULL: attach */
	char **until;        /* attach, and record until this command ends, which is not recorded */
	const char *no_mode; /* the word after a -g without mode; NULL: none */
	pid_t attach[SESSION_MAX_PROCESSES]; /* without duplicates */
	unsigned nr_attach;
	uint64_t delay;    /* ns; sampling starts so long after the command, or the recorder */
	uint64_t duration; /* ns of sampling; 0: until the target ends, or an interrupt */
	sigset_t mask;     /* signals that are blocked in the command */
	int rank;          /* MPI rank that a launcher set; -1: no launcher did */
	unsigned nr_local_ranks;    /* that the launcher started on this node; 0: unknown */
	const char *output_pattern; /* NULL: the default */
	char output[PATH_MAX], place[PATH_MAX]; /* as named, and with its folder resolved */
	/* as named, with links resolved: see new_file_settle() */
	char settled[PATH_MAX];
	size_t budget;
	struct event events[SAMPLER_MAX_EVENTS];
	unsigned nr_events;
	/* Opened in addition, and off at first. A session has them behind its events. */
	struct event spares[SAMPLER_MAX_EVENTS];
	unsigned nr_spares;
	struct event counters[COUNTERS_MAX]; /* read with the samples of event 0 */
	unsigned nr_counters;
	unsigned nr_conditions;
	const char *conditions[CONFIG_MAX_CONDITIONS]; /* for the program that runs the recorder */
	double frequency;                              /* frequency of clocks, Hz; 0: the default */
	uint64_t period;                               /* period of counters; 0: the default */
	struct stack_options stack;
	struct calls_options calls;
	double max_overhead; /* a share; 0: no guard */
	struct history_options history;
	double detail_share; /* of the budget, for all windows together */
	uint64_t seed;
	bool data;      /* the data sources of memory accesses are stored with samples */
	bool wide;      /* samples all processes on CPUs or in an existing cgroup, not one target */
	bool some_cpus; /* wide: on these only */
	struct cpu_list cpus;
	const char *cgroup; /* wide: in this cgroup only; NULL: everywhere */
	bool inherit;       /* inherited events even where a cgroup is permitted */
	bool user_only;     /* sampling the kernel's side is not permitted */
	bool in_step;       /* the timers of all CPUs expire together, where that is possible */
	bool waits;         /* the command is not executed until somebody resumes it */
	bool holds;         /* MPI processes sleep at the end of MPI_Init until then */
	bool quiet;
};

/* Tells whether a clock is among the events. */
bool config_has_clock(const struct record_config *config);

#endif
