/* Threads of processes that have a PID namespace of their own, as in a container. */
#ifndef RECORD_TASKS_OUTER_THREAD_H
#define RECORD_TASKS_OUTER_THREAD_H

#include <sys/types.h>

#define OUTER_THREADS 512

/* Cache of the threads that were found. Initialize it with zeros. */
struct outer_threads {
	struct outer_thread {
		pid_t pid, inner, outer; /* inner 0: none */
	} found[OUTER_THREADS];
};

/*
 * Returns our thread ID for the thread that the process's own PID namespace calls `inner`. 0: it is
 * not in /proc, because the thread ended before the first look-up or may not be read.
 */
pid_t outer_thread(struct outer_threads *threads, pid_t pid, pid_t inner);

#endif
