/* What a recording is to be: the command line of record, and what that comes to on this machine. */
#ifndef RECORD_CONFIG_H
#define RECORD_CONFIG_H

#include "trace/format.h"
#include "perf/sampler/sampler.h"
#include "symbolize/unwind/unwind.h"

#include <limits.h>

#define SESSION_MAX_STACK     1024
#define SESSION_MAX_PROCESSES 1024

/* Where nothing else is asked for: bytes of the buffer, and of stack in a sample. */
#define SESSION_BUDGET     ((size_t)100 << 20)
#define SESSION_STACK_SIZE 16384

/* What is kept of stacks. */
struct stack_options {
	enum trace_stacks mode;
	uint32_t size;     /* of a copy, bytes */
	bool fixed;        /* no more than that is copied, however deep stacks are */
	unsigned max;      /* frames */
	unsigned branches; /* TRACE_STACKS_LBR: calls that the processor remembers at most */
	enum unwind_engine engine;
	bool max_given, engine_given; /* not the defaults */
};

/* MPI calls and user regions. */
struct calls_options {
	bool wanted;
	bool tuned;   /* and how was said */
	double share; /* of the budget, 0 … 1 */
	enum trace_policy policy;
	uint64_t patience; /* ns */
};

struct options {
	char **command;      /* NULL: attach */
	char **until;        /* attach, and record until this command ends, which is not recorded */
	const char *no_mode; /* the word behind -g alone; NULL: none */
	pid_t attach[SESSION_MAX_PROCESSES]; /* each once */
	unsigned nr_attach;
	uint64_t delay;    /* ns; sampling starts so long after the command, or the recorder */
	uint64_t duration; /* ns of sampling; 0: until the target ends, or an interrupt */
	const char *output_pattern;             /* NULL: the default */
	char output[PATH_MAX], place[PATH_MAX]; /* as named, and the same from the root on */
	char settled[PATH_MAX];                 /* the same, behind links: see new_file_settle() */
	size_t budget;
	struct event events[SAMPLER_MAX_EVENTS];
	unsigned nr_events;
	struct event counters[COUNTERS_MAX]; /* read with the samples of event 0 */
	unsigned nr_counters;
	double frequency; /* of clocks, Hz; 0: the default */
	uint64_t period;  /* of counters; 0: the default */
	struct stack_options stack;
	struct calls_options calls;
	double max_overhead; /* a share; 0: no guard */
	uint64_t seed;
	bool data;      /* what memory accesses met is kept with samples */
	bool wide;      /* whoever runs on CPUs or in a cgroup that exists, not one target */
	bool some_cpus; /* wide: on these only */
	struct cpu_list cpus;
	const char *cgroup; /* wide: in this cgroup only; NULL: everywhere */
	bool inherit;       /* inherited events even where a cgroup is permitted */
	bool user_only;     /* the kernel's side was not permitted */
	bool quiet;
};

/* Whether a clock is among the events. */
bool options_have_clock(const struct options *options);

#endif
