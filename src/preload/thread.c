#include "preload/scale.h"

#include <errno.h>
#include <stdlib.h>
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
	struct ring_ends *ring = &shared->threads[number];
	char *memory = (char *)shared + ring_offset(number);
	char *sums = (char *)shared + ring_sums_offset(number);
	size_t sums_size = ring_max_sums(number) * sizeof(struct ring_sum);

	if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != RING_FREE ||
	    !populate(memory, ring_words(number) * sizeof(uint64_t)) || !populate(sums, sums_size))
		return false;
	thread->known = mmap(NULL, sizeof(*thread->known), PROT_READ | PROT_WRITE,
	                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (thread->known == MAP_FAILED) {
		thread->known = NULL;
		return false;
	}
	thread->ring = ring;
	thread->open = shared->open[number];
	thread->words = (uint64_t *)(void *)memory;
	thread->mask = (uint32_t)ring_words(number) - 1;
	thread->head = ring->head;
	thread->look = 0;
	thread->nr_open = ring->nr_open = 0;
	thread->sums = (struct ring_sum *)(void *)sums;
	thread->max_sums = ring_max_sums(number);
	thread->sums[0] = (struct ring_sum){.region = UINT32_MAX, .peer = CALL_NO_PEER};
	ring->nr_sums = 1;
	ring->tid = (uint32_t)syscall(SYS_gettid);
	scale_start(thread);
	__atomic_store_n(&ring->state, RING_USED, __ATOMIC_RELEASE);
	return true;
}

static bool take_any_ring(struct thread *thread)
{
	bool taken = false;

	pthread_mutex_lock(&process.lock);
	for (unsigned i = 0; !taken && i < RING_MAX_THREADS; i++)
		taken = take_ring(thread, i);
	if (taken)
		__atomic_store_n(&process.rings_in_vain, false, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&process.lock);
	return taken;
}

/* Waits for a ring: the recorder frees the rings of ended threads after it has read them. */
static void wait_for_ring(struct thread *thread)
{
	uint64_t patience = process.shared->patience;
	uint64_t until = patience ? ring_ticks(RING_CLOCK_MONOTONIC) + patience : 0;

	if (!patience || __atomic_load_n(&process.rings_in_vain, __ATOMIC_RELAXED))
		return;
	do {
		process_wait(500000);
		if (take_any_ring(thread))
			return;
	} while (ring_ticks(RING_CLOCK_MONOTONIC) <= until);
	__atomic_store_n(&process.rings_in_vain, true, __ATOMIC_RELAXED);
}

/* How many calls are lost before a thread asks again. */
#define REFUSALS 256

bool thread_start(struct thread *thread)
{
	int errnum = errno;

	if (thread->ended || thread->nr_refused++ % REFUSALS)
		return false;
	if (!take_any_ring(thread))
		wait_for_ring(thread);
	/* Even without a ring: the destructor frees scratch memory. */
	if (process.have_key)
		pthread_setspecific(process.key, thread);
	errno = errnum;
	return thread->ring;
}

void thread_find_stack(struct thread *thread)
{
	pthread_attr_t attributes;
	int errnum = errno;
	void *stack;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attributes))
		goto out;
	if (!pthread_attr_getstack(&attributes, &stack, &size)) {
		thread->stack = (uintptr_t)stack;
		thread->stack_end = (uintptr_t)stack + size;
	}
	pthread_attr_destroy(&attributes);
out:
	errno = errnum;
}

void thread_stop(struct thread *thread)
{
	free(thread->scratch);
	thread->scratch = NULL;
	thread->scratch_size = 0;
	if (thread->known)
		munmap(thread->known, sizeof(*thread->known));
	thread->known = NULL;
	scale_stop(thread);
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
