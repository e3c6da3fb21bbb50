/* The CPU time of processes and threads, from their CPU clocks and /proc, independent of events. */
#ifndef RECORD_TASKS_PROCESS_TIMES_H
#define RECORD_TASKS_PROCESS_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_times {
	uint64_t own, children; /* CPU time of its threads, and of its reaped children, ns */
	uint64_t started;       /* on the clock of all records, ns; up to a tick too early */
	unsigned flags;         /* as in /proc/PID/stat */
	char state;
};

/* Returns false if there is no such task. */
bool process_times_read(pid_t pid, struct process_times *times);
/* Tells whether the task has not ended. A zombie counts as ended. */
bool process_times_runs(const struct process_times *times);

/* Tells whether the task that had this ID at `time` (ns) still exists and is not a zombie. */
bool process_is_there(pid_t tid, uint64_t time);
/*
 * Reads the CPU time (ns) of the process that had this ID at `time`, and of its reaped children.
 * Returns false if it is dying or has ended.
 */
bool process_cpu_time(pid_t pid, uint64_t time, uint64_t *own, uint64_t *children);

/* Returns the CPU time of a process, ns, including its ended threads; 0: it has ended. */
uint64_t process_used(pid_t pid);

/* Returns a lower bound of the CPU time that a thread had used at `time`, ns; 0: it has ended. */
uint64_t thread_used_by(pid_t tid, uint64_t time);

#endif
