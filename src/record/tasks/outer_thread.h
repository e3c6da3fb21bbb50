/* Threads of processes that have a PID namespace of their own, as in a container. */
#ifndef RECORD_TASKS_OUTER_THREAD_H
#define RECORD_TASKS_OUTER_THREAD_H

#include <sys/types.h>

#define OUTER_THREADS 512

/* Those that were found. To be zeroed. */
struct outer_threads {
	struct outer_thread {
		pid_t pid, inner, outer; /* inner 0: none */
	} found[OUTER_THREADS];
};

/*
 * Our number for the thread that this process's own namespace calls inner. 0: /proc knows none, for
 * the thread has ended before it was asked for the first time, or may not be asked.
 */
pid_t outer_thread(struct outer_threads *threads, pid_t pid, pid_t inner);

#endif
