#include "base/large_array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE ((size_t)4 << 20)

/*
 * Asks for huge pages where the array is large: a random access waits longer for the page tables
 * than for the memory itself.
 */
static void *spread_over_less(void *memory, size_t nr, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)memory;

	if (memory && nr * size >= LARGE) {
		start = (start + page - 1) & ~(page - 1);
		madvise((void *)start, ((uintptr_t)memory + nr * size - start) & ~(page - 1),
		        MADV_HUGEPAGE);
	}
	return memory;
}

void *large_array_new(size_t nr, size_t size)
{
	return spread_over_less(calloc(nr, size), nr, size);
}

/* Resizes the array. New entries are not zeroed. */
static void *grow(void *memory, size_t nr, size_t size)
{
	return spread_over_less(reallocarray(memory, nr, size), nr, size);
}

uint32_t large_array_add(void **entries, uint32_t *nr, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? 2 * *room : 256;
	void *grown;

	if (*nr == *room) {
		grown = *nr < LARGE_ARRAY_MAX / 2 ? grow(*entries, wanted, size) : NULL;
		if (!grown)
			return UINT32_MAX;
		*entries = grown;
		*room = wanted;
	}
	memset((char *)*entries + *nr * size, 0, size);
	return (*nr)++;
}
