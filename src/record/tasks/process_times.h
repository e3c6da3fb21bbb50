/* The CPU time of processes and threads, as their clocks and /proc tell it, event or no event. */
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

/* false: there is no such task. */
bool process_times_read(pid_t pid, struct process_times *times);
/* Whether it has not ended; its parent may have to see that yet. */
bool process_times_runs(const struct process_times *times);

/* Whether a task that was there at a time (ns) runs, or is dying, which lasts on a busy machine. */
bool process_is_there(pid_t tid, uint64_t time);
/*
 * CPU time of a process that was there at a time and of its reaped children, ns; false: it is
 * dying, or has ended.
 */
bool process_cpu_time(pid_t pid, uint64_t time, uint64_t *own, uint64_t *children);

/* CPU time of a process, its threads that ended included, ns; 0: it has ended. */
uint64_t process_used(pid_t pid);

/* That of a thread until a time, ns, as far as it surely was before; 0: it has ended. */
uint64_t thread_used_by(pid_t tid, uint64_t time);

#endif
