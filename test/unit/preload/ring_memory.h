/* The memory of a recorder that is not there, which this process writes its calls into. */
#ifndef TEST_PRELOAD_RING_MEMORY_H
#define TEST_PRELOAD_RING_MEMORY_H

#include "cases.h"

#include <sys/mman.h>

#include "preload/preload.h"
#include "preload/sites.h"

/* The thread has no ring yet. */
static inline void ring_memory_map(void)
{
	void *memory = mmap(NULL, ring_memory_size(), PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	process.shared = memory;
	this_thread = (struct thread){0};
}

static inline void ring_memory_unmap(void)
{
	thread_stop(&this_thread);
	sites_forked();
	munmap(process.shared, ring_memory_size());
	process.shared = NULL;
}

#endif
