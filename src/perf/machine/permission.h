/* Reads which perf events this user may open, and advises how to get more rights. */
#ifndef PERF_MACHINE_PERMISSION_H
#define PERF_MACHINE_PERMISSION_H

#include "perf/machine/advice.h"

#include <stdbool.h>
#include <stdint.h>

#define PERMISSION_PARANOID_UNKNOWN 2 /* assumed where the file cannot be read: the default */

/* Read once; the values are those of that moment. Unlimited is UINT64_MAX. */
struct permission {
	int paranoid;        /* kernel.perf_event_paranoid */
	int kptr_restrict;   /* kernel.kptr_restrict */
	uint64_t ring_bytes; /* kernel.perf_event_mlock_kb for each CPU, in bytes, all CPUs together
	                      */
	uint64_t memlock;    /* RLIMIT_MEMLOCK, soft, in bytes: rings beyond ring_bytes */
	uint64_t nofile;     /* RLIMIT_NOFILE, soft */
	bool perfmon;        /* CAP_PERFMON or CAP_SYS_ADMIN, and not only in a user namespace */
	bool ipc_lock;       /* CAP_IPC_LOCK: no limit to rings */
	bool syslog;         /* CAP_SYSLOG: sees kernel addresses */
};

void permission_read(struct permission *permission);

enum permission_want {
	PERMISSION_ANY,     /* to sample own processes, user side */
	PERMISSION_KERNEL,  /* the kernel side of them too */
	PERMISSION_CPU,     /* everything on a CPU: per-CPU and cgroup events */
	PERMISSION_SYMBOLS, /* to read the kernel's addresses in /proc/kallsyms */
	PERMISSION_RINGS,   /* this many bytes of rings, by all processes of the user */
	PERMISSION_FILES,   /* this many open files */
};

/* Whether the wanted use is allowed. amount is read for rings and files only. */
bool permission_has(const struct permission *permission, enum permission_want want,
                    uint64_t amount);

/*
 * Returns the reason why the wanted use is not allowed, and the sysctl, setcap or ulimit command
 * that allows it.
 */
struct advice permission_advise(const struct permission *permission, enum permission_want want,
                                uint64_t amount);

#endif
