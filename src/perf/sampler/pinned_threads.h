/*
 * Threads that are bound to one CPU each, for work that must be done on that CPU.
 *
 * When a thread moves to another CPU, a thread of the kernel runs on the CPU that it leaves. That
 * stops all events of cgroups there. A bound thread never moves.
 */
#ifndef PERF_SAMPLER_PINNED_THREADS_H
#define PERF_SAMPLER_PINNED_THREADS_H

struct pinned_threads;

/* Threads are started when they are needed first. NULL: no memory. */
struct pinned_threads *pinned_threads_new(const int *cpus, unsigned nr_cpus);
/* Ends the threads. */
void pinned_threads_free(struct pinned_threads *threads);

/*
 * Lets the thread of a CPU call fn(arg), and does not wait for it. index: of the CPU in the list
 * given at first; its thread must have nothing to do. 0 or -errno.
 */
int pinned_threads_begin(struct pinned_threads *threads, unsigned index, void (*fn)(void *arg),
                         void *arg);
/* Waits until all calls have returned. */
void pinned_threads_wait(struct pinned_threads *threads);

#endif
