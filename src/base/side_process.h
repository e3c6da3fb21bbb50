/*
 * Side processes: children that do what may block for ever, such as writing to a terminal that was
 * stopped or reading from a file system that does not answer. They share no memory with their
 * parent and can be left behind: a thread could not, for a process ends after its last thread.
 */
#ifndef BASE_SIDE_PROCESS_H
#define BASE_SIDE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct side_process {
	pid_t pid;
	int fd; /* a packet socket that is connected to the process; -1: there is no process */
};

/* The child's work; fd is its end of the socket. The process ends when this returns. */
typedef void side_process_fn(void *arg, int fd);

/*
 * Starts a process that calls run() with all signals blocked. It inherits no open files but its
 * socket and those in `keep`, which are distinct and ascending; standard descriptors that are not
 * in `keep` become /dev/null. Memory that is marked with MADV_DONTFORK is missing. Returns 0 or
 * -errno.
 */
int side_process_start(struct side_process *process, side_process_fn *run, void *arg,
                       const int *keep, size_t nr_keep);

/*
 * Waits until the socket is readable. Returns false after this many milliseconds, or, with `hasty`,
 * when SIGINT or SIGTERM, which the caller blocks, is pending.
 */
bool side_process_wait(const struct side_process *process, int ms, bool hasty);

/* Whether SIGINT or SIGTERM is pending. */
bool side_process_signal_waits(void);

/*
 * Kills the process without waiting for its end: a process that blocks in the kernel may never end.
 */
void side_process_kill(struct side_process *process);
/* Closes the socket. The process still handles everything that was sent to it. */
void side_process_leave(struct side_process *process);

#endif
