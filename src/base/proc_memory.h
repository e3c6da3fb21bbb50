/* The memory of processes in bytes, as /proc/PID/statm shows it. */
#ifndef BASE_PROC_MEMORY_H
#define BASE_PROC_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Returns what a process has in memory; 0: there is no such process. */
uint64_t proc_memory_resident(pid_t pid);

/* Returns this process's private writable memory, touched or not, which RLIMIT_DATA counts. */
uint64_t proc_memory_data(void);

#endif
