/*
 * A descriptor that becomes readable when a process ends: a pidfd from Linux 5.3 on, else a timer
 * after which the caller checks the process.
 */
#ifndef RECORD_TASKS_PROCESS_FD_H
#define RECORD_TASKS_PROCESS_FD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns a descriptor that polls readable when the process may have ended, or -errno; -EINVAL or
 * -ENOENT: pid is a thread.
 */
int process_fd_open(pid_t pid);

/* Tells whether the process has ended. Its parent need not have reaped it yet. */
bool process_fd_ended(int fd, pid_t pid);

#endif
