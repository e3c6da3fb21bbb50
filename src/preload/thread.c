#include "preload/preload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

__thread struct thread this_thread;

/* Pages that cannot be had must be an error here, not a fault later. Old kernels do not know. */
static bool populate(void *memory, size_t size)
{
	return !madvise(memory, size, MADV_POPULATE_WRITE) || errno == EINVAL;
}

static bool take_ring(struct thread *thread, unsigned number)
{
	struct ring_process *shared = process.shared;
	struct ring *ring = &shared->threads[number];
	char *memory = (char *)shared + ring_offset(number);

	if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != RING_FREE ||
	    !populate(memory, ring_words(number) * sizeof(uint64_t)))
		return false;
	thread->ring = ring;
	thread->open = shared->open[number];
	thread->words = (uint64_t *)(void *)memory;
	thread->mask = ring_words(number) - 1;
	thread->head = ring->head;
	thread->tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	thread->nr_open = ring->nr_open = 0;
	ring->tid = (uint32_t)syscall(SYS_gettid);
	__atomic_store_n(&ring->state, RING_USED, __ATOMIC_RELEASE);
	return true;
}

bool thread_start(struct thread *thread)
{
	int error = errno;

	if (thread->refused)
		return false;
	pthread_mutex_lock(&process.lock);
	for (unsigned i = 0; !thread->ring && i < RING_MAX_THREADS; i++)
		take_ring(thread, i);
	pthread_mutex_unlock(&process.lock);
	/* Even without a ring: the destructor frees scratch memory. */
	if (process.have_key)
		pthread_setspecific(process.key, thread);
	thread->refused = !thread->ring;
	errno = error;
	return thread->ring;
}

void *thread_scratch(struct thread *thread, size_t size)
{
	if (size > thread->scratch_size) {
		void *larger = realloc(thread->scratch, size + size / 2);

		if (!larger)
			return NULL;
		thread->scratch = larger;
		thread->scratch_size = size + size / 2;
	}
	return thread->scratch;
}

/*
 * Looks at the recorder's side only when the last look does not suffice. Calls that found nothing
 * may fill half of a ring: a program that waits by asking again and again must not lose a message.
 */
static bool ring_room(struct thread *thread, uint64_t head)
{
	uint64_t most = (thread->mask + 1) >> thread->idle;

	if (head - thread->tail <= most)
		return true;
	thread->tail = __atomic_load_n(&thread->ring->tail, __ATOMIC_ACQUIRE);
	return head - thread->tail <= most;
}

/* Waits for the recorder where the user prefers that to a loss. */
static bool wait_for_room(struct thread *thread, uint64_t head)
{
	const struct timespec moment = {.tv_nsec = 50000};
	uint64_t patience = thread->idle ? 0 : process.shared->patience;
	uint64_t until = patience ? ring_ticks(RING_CLOCK_MONOTONIC) + patience : 0;
	int error = errno;

	while (!ring_room(thread, head)) {
		if (!patience || ring_ticks(RING_CLOCK_MONOTONIC) > until)
			return false;
		nanosleep(&moment, NULL);
	}
	errno = error;
	return true;
}

void thread_write(struct thread *thread, uint32_t region, unsigned flags, uint64_t enter,
                  uint64_t leave)
{
	size_t nr = thread->nr_words, at = thread->head & thread->mask;
	size_t pad = at + nr > thread->mask + 1 ? thread->mask + 1 - at : 0;
	uint64_t *words = thread->words;

	if (unlikely(!ring_room(thread, thread->head + pad + nr)) &&
	    !wait_for_room(thread, thread->head + pad + nr)) {
		thread->ring->lost++;
		return;
	}
	if (unlikely(pad))
		words[at] = ring_head(RING_PAD, 0, 0, 0, 0);
	thread->record[0] = ring_head(RING_CALL, nr, thread->nr_parts, flags, region);
	thread->record[1] = enter;
	thread->record[2] = leave;
	words += (at + pad) & thread->mask;
	for (size_t i = 0; i < nr; i++)
		words[i] = thread->record[i];
	thread->head += pad + nr;
	/* Pairs with the recorder's acquire: it sees the words. */
	__atomic_store_n(&thread->ring->head, thread->head, __ATOMIC_RELEASE);
}
