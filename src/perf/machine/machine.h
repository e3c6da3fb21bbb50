/*
 * The features that this machine and its kernel offer to a sampler, independent of the user. See
 * permission.h for the rights of the user.
 */
#ifndef PERF_MACHINE_MACHINE_H
#define PERF_MACHINE_MACHINE_H

#include "perf/machine/advice.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MACHINE_UNKNOWN (-1)

struct machine {
	struct advice proc;      /* as machine_advise_proc() says */
	bool has_sys;            /* /sys is mounted */
	bool has_perf;           /* the kernel was built with perf events */
	int filter;              /* what a filter of system calls answers perf_event_open with,
	                            -errno; 0: it reaches the kernel */
	bool counts;             /* the kernel has a driver for the CPU's counters */
	bool is_virtual;         /* a virtual machine */
	bool watchdog;           /* the NMI watchdog holds a counter */
	int64_t precise;         /* the highest level of :p; 0: none */
	int64_t branches;        /* entries of a branch stack; 0: none */
	int64_t max_stack;       /* kernel.perf_event_max_stack; MACHINE_UNKNOWN: not readable */
	int64_t max_sample_rate; /* machine_max_sample_rate() */
	int64_t cpu_time_max;    /* kernel.perf_cpu_time_max_percent, likewise */
};

void machine_read(struct machine *machine);

/*
 * Whether /proc is mounted, whole, and of this PID namespace: that of another one would take other
 * processes for the targets.
 */
struct advice machine_advise_proc(void);

/* kernel.perf_event_max_sample_rate; or MACHINE_UNKNOWN. */
int64_t machine_max_sample_rate(void);

/*
 * Returns the difference in ns between CLOCK_MONOTONIC of a process and that of the kernel, modulo
 * 2^64 because it may be negative. They differ in a time namespace, which the kernel ignores in its
 * records.
 */
uint64_t machine_clock_shift(pid_t pid);

/* Whether this machine has counters at all; else why not. */
struct advice machine_advise_counters(const struct machine *machine);
/* How many drivers of counters there are, each for CPUs of its own. */
unsigned machine_core_types(void);
/*
 * Whether an inherited event of this type (perf_event_attr.type) counts wherever a task runs. One
 * of the processor belongs to one type of core. subject: the event's name.
 */
struct advice machine_advise_inherited(unsigned core_types, uint32_t type, const char *subject);
/* Whether perf_event_open reaches a kernel that has it, and /proc is there. */
struct advice machine_advise_call(const struct machine *machine);

#endif
