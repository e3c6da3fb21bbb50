/*
 * Why something cannot be sampled here, and what would change that: one sentence for each obstacle,
 * all in one table. Whoever fails ends with it, and `adaptrace doctor` says it before anything
 * failed, in the same words.
 */
#ifndef PERF_MACHINE_ADVICE_H
#define PERF_MACHINE_ADVICE_H

#include <stddef.h>
#include <stdint.h>

enum advice_topic {
	ADVICE_NONE, /* nothing stands in the way */

	/* numbers[0]: kernel.perf_event_paranoid */
	ADVICE_SAMPLE,  /* nothing may be sampled */
	ADVICE_KERNEL,  /* not the kernel side */
	ADVICE_CPUS,    /* not everything on a CPU */
	ADVICE_SYMBOLS, /* the kernel's addresses are hidden */

	/* numbers[0]: kernel.kptr_restrict */
	ADVICE_KPTR,
	ADVICE_KPTR_PARANOID, /* and by kernel.perf_event_paranoid as well */

	ADVICE_OTHERS,  /* numbers[0]: a process of another user, or one that is not dumpable */
	ADVICE_RINGS,   /* KiB wanted, KiB a CPU to permit, KiB of locked memory to permit */
	ADVICE_SMALLER, /* the same, but smaller ones do */
	ADVICE_HELD,    /* other recordings have what is allowed; KiB of locked memory to permit */
	ADVICE_HELD_SMALLER, /* the same, but smaller rings do */
	ADVICE_NO_MEMORY,    /* smaller rings, for want of memory */
	ADVICE_FILES,        /* files that may be open, files needed */
	ADVICE_RUNGS,        /* the same, but with fewer sampling periods fewer do */

	ADVICE_FILTER,   /* subject: the error that a filter of system calls answers with */
	ADVICE_SECURITY, /* every right, and refused all the same */
	ADVICE_NO_PERF,
	ADVICE_NO_PROC,     /* /proc is not mounted, or that of another PID namespace */
	ADVICE_PROC_SUBSET, /* it is, but shows nothing but processes */
	ADVICE_NO_SYS,      /* /sys is not mounted */

	ADVICE_VIRTUAL,     /* a virtual machine without counters */
	ADVICE_NO_COUNTERS, /* another machine without */
	ADVICE_CORE_TYPES,  /* numbers[0]: types of cores; subject: an event of one of them */
	ADVICE_NO_SUCH,     /* others, but not this one */
	ADVICE_WATCHDOG,    /* the NMI watchdog holds one */
	ADVICE_TAKEN,       /* another one holds it */
	ADVICE_IMPRECISE,   /* no precise sampling here */
	ADVICE_NO_BRANCHES, /* no branch stacks here */
	ADVICE_NO_GROUPS,   /* no counters with inherited samples */

	ADVICE_NO_CGROUPS,       /* no hierarchy of version 2 */
	ADVICE_CGROUPS_READONLY, /* subject: where it is mounted */
	ADVICE_CGROUPS_DENIED,   /* subject: below which directory */
	ADVICE_CGROUPS_V1,       /* perf_event belongs to version 1 */

	ADVICE_MEMORY,     /* MiB permitted, MiB needed, MiB for a buffer that would do */
	ADVICE_SHM,        /* MiB there, MiB needed */
	ADVICE_SHM_DENIED, /* not there, or not writable */
	ADVICE_FILE_SIZE,  /* KiB that a file may have */
	ADVICE_CALLS_SIZE, /* the same, KiB that a process's calls need */
	ADVICE_MAX_STACK,  /* numbers[0]: kernel.perf_event_max_stack */
	ADVICE_NO_CALLERS, /* the same, too small for any */
	ADVICE_THROTTLED,  /* Hz: kernel.perf_event_max_sample_rate */
	ADVICE_NO_TRACEFS, /* not mounted */
	ADVICE_TRACEFS,    /* numbers[0]: the user's group, who may not read it */
	ADVICE_PROBES,     /* kprobes and uprobes are not for this user */
	ADVICE_NO_KPROBES,
	ADVICE_NO_UPROBES,
	ADVICE_DEBIAN_DEBUG, /* no debug information of libc, on Debian and its like */
	ADVICE_OTHER_DEBUG,  /* elsewhere */
	NR_ADVICE
};

struct advice {
	enum advice_topic topic;
	int64_t numbers[3]; /* as said with the topic */
	const char *subject;
};

/* Writes the reason for the refusal; "" for ADVICE_NONE. */
void advice_what(const struct advice *advice, char *text, size_t size);
/* Writes the way out, as a command where there is one. */
void advice_way_out(const struct advice *advice, char *text, size_t size);
/* Writes one line: "reason; way out". */
void advice_line(const struct advice *advice, char *line, size_t size);

#endif
