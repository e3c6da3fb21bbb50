#include "perf/sampler/pinned_threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#define STACK_SIZE (64 << 10)

struct pinned_thread {
	pthread_t thread;
	bool started;
	sem_t begin;
	void (*fn)(void *arg); /* NULL: the thread ends */
	void *arg;
	sem_t *done;
};

struct pinned_threads {
	const int *cpus;
	unsigned nr_cpus, nr_running; /* running: calls that have not been waited for */
	sem_t done;
	struct pinned_thread threads[]; /* of each CPU */
};

struct pinned_threads *pinned_threads_new(const int *cpus, unsigned nr_cpus)
{
	struct pinned_threads *threads =
		calloc(1, sizeof(*threads) + nr_cpus * sizeof(threads->threads[0]));

	if (!threads)
		return NULL;
	threads->cpus = cpus;
	threads->nr_cpus = nr_cpus;
	sem_init(&threads->done, 0, 0);
	for (unsigned i = 0; i < nr_cpus; i++) {
		sem_init(&threads->threads[i].begin, 0, 0);
		threads->threads[i].done = &threads->done;
	}
	return threads;
}

/* Debuggers interrupt it. */
static void await(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		continue;
}

static void *serve(void *arg)
{
	struct pinned_thread *thread = arg;

	for (await(&thread->begin); thread->fn; await(&thread->begin)) {
		thread->fn(thread->arg);
		sem_post(thread->done);
	}
	return NULL;
}

/* All signals stay with the main thread. */
static int start(struct pinned_thread *thread, unsigned cpu)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	cpu_set_t there;
	int errnum;

	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	pthread_attr_setaffinity_np(&attributes, sizeof(there), &there);
	errnum = pthread_create(&thread->thread, &attributes, serve, thread);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	thread->started = !errnum;
	return -errnum;
}

int pinned_threads_begin(struct pinned_threads *threads, unsigned index, void (*fn)(void *arg),
                         void *arg)
{
	struct pinned_thread *thread = &threads->threads[index];
	int err = 0;

	if (threads->cpus[index] >= CPU_SETSIZE)
		return -EINVAL;
	if (!thread->started)
		err = start(thread, (unsigned)threads->cpus[index]);
	if (err)
		return err;
	thread->fn = fn;
	thread->arg = arg;
	threads->nr_running++;
	sem_post(&thread->begin);
	return 0;
}

void pinned_threads_wait(struct pinned_threads *threads)
{
	for (; threads->nr_running; threads->nr_running--)
		await(&threads->done);
}

static void stop(struct pinned_thread *thread)
{
	thread->fn = NULL;
	sem_post(&thread->begin);
	pthread_join(thread->thread, NULL);
}

void pinned_threads_free(struct pinned_threads *threads)
{
	if (!threads)
		return;
	pinned_threads_wait(threads);
	for (unsigned i = 0; i < threads->nr_cpus; i++) {
		if (threads->threads[i].started)
			stop(&threads->threads[i]);
		sem_destroy(&threads->threads[i].begin);
	}
	sem_destroy(&threads->done);
	free(threads);
}
