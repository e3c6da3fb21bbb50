/*
 * A descriptor that tells of the end of a process: one of pidfd_open() where there is that, from
 * Linux 5.3 on; else a timer, at which one has to look.
 */
#ifndef RECORD_TASKS_PROCESS_FD_H
#define RECORD_TASKS_PROCESS_FD_H

#include <stdbool.h>
#include <sys/types.h>

/* Polls readable when the process may have ended. -errno; -EINVAL or -ENOENT: it is a thread. */
int process_fd_open(pid_t pid);

/* Whether it has: its parent may still have to see that. */
bool process_fd_ended(int fd, pid_t pid);

#endif
