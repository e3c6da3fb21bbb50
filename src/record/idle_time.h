/* How long CPUs were idle, by the kernel's own account. */
#ifndef RECORD_IDLE_TIME_H
#define RECORD_IDLE_TIME_H

#include "perf/machine/cpu_list.h"

/*
 * Returns the time since boot that these CPUs, or all of them if NULL, were idle together, ns, to
 * within 10 ms for each; 0: it is unknown.
 */
uint64_t idle_time(const struct cpu_list *cpus);

/* The same from text of the form of /proc/stat with this number of ticks a second. */
uint64_t idle_time_in(const char *text, const struct cpu_list *cpus, unsigned long ticks);

#endif
