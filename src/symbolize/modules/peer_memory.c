#include "symbolize/modules/peer_memory.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_NS 50000000 /* that a page may take to come from a disk */
#define PAUSE_NS    ((uint64_t)20 * PATIENCE_NS)
#define STACK_SIZE  (256 << 10)

struct peer_memory {
	sem_t asked, answered;
	pthread_t thread;
	bool begun, busy;  /* busy: it has not answered */
	atomic_bool reads; /* what it was asked; before, it waits for a CPU, not for a page */
	uint64_t pause;    /* its end, ns; 0: none was needed */

	/* The thread owns these between a request and its answer, however long that takes. */
	bool stop;
	pid_t pid;
	struct iovec pieces[PEER_MEMORY_PIECES];
	unsigned nr;
	ssize_t got;
	char bytes[PEER_MEMORY_MOST];
};

struct peer_memory *peer_memory_new(void)
{
	struct peer_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	sem_init(&memory->asked, 0, 0);
	sem_init(&memory->answered, 0, 0);
	return memory;
}

static void await(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		; /* EINTR: debuggers */
}

static void *read_asked(void *arg)
{
	struct peer_memory *memory = arg;

	for (await(&memory->asked); !memory->stop; await(&memory->asked)) {
		struct iovec local = {memory->bytes, sizeof(memory->bytes)};

		memory->reads = true;
		memory->got =
			process_vm_readv(memory->pid, &local, 1, memory->pieces, memory->nr, 0);
		if (memory->got < 0)
			memory->got = -errno;
		sem_post(&memory->answered);
	}
	return NULL;
}

/* Signals are for those who know what they mean. */
static bool begin(struct peer_memory *memory)
{
	pthread_attr_t attributes;
	sigset_t all, before;

	if (memory->begun)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	memory->begun = !pthread_create(&memory->thread, &attributes, read_asked, memory);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return memory->begun;
}

/* Whether it can be asked. */
static bool is_free(struct peer_memory *memory)
{
	if (memory->busy && !sem_trywait(&memory->answered))
		memory->busy = false;
	return !memory->busy;
}

/* If the thread still waits for a page, the memory is left to it: it ends with this process. */
void peer_memory_free(struct peer_memory *memory)
{
	if (!memory || !is_free(memory))
		return;
	if (memory->begun) {
		memory->stop = true;
		sem_post(&memory->asked);
		pthread_join(memory->thread, NULL);
	}
	sem_destroy(&memory->answered);
	sem_destroy(&memory->asked);
	free(memory);
}

static void ask(struct peer_memory *memory)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	const struct timespec time = clock_timespec(until);
	int errnum;

	memory->busy = true;
	memory->reads = false;
	sem_post(&memory->asked);
	do
		errnum = sem_clockwait(&memory->answered, CLOCK_MONOTONIC, &time) ? errno : 0;
	while (errnum == EINTR);
	if (!errnum)
		memory->busy = false;
	else if (memory->reads)
		memory->pause = clock_ns(CLOCK_MONOTONIC) + PAUSE_NS;
}

ssize_t peer_memory_read(struct peer_memory *memory, pid_t pid, const struct iovec *pieces,
                         unsigned nr, void *to)
{
	if (nr > PEER_MEMORY_PIECES || !begin(memory))
		return -ENOMEM;
	if (!is_free(memory) || (memory->pause && clock_ns(CLOCK_MONOTONIC) < memory->pause))
		return -EAGAIN;
	memory->pid = pid;
	memory->nr = nr;
	memcpy(memory->pieces, pieces, nr * sizeof(*pieces));
	ask(memory);
	if (memory->busy)
		return -EAGAIN;
	if (memory->got > 0)
		memcpy(to, memory->bytes, (size_t)memory->got);
	return memory->got;
}
