#include "output/node_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- memory ----------------------------------------------------------------------------------- */

#define LARGE ((size_t)4 << 20)

/*
 * What every sample looks into somewhere is spread over less pages where these are large: a look-up
 * by itself waits for the page tables longer than for the memory.
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

void *memory_new(size_t nr, size_t size)
{
	return spread_over_less(calloc(nr, size), nr, size);
}

/* The same, but only what there was before is in it. */
static void *memory_grown(void *memory, size_t nr, size_t size)
{
	return spread_over_less(reallocarray(memory, nr, size), nr, size);
}

uint32_t memory_add(void **entries, uint32_t *nr, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? 2 * *room : 256;
	void *grown;

	if (*nr == *room) {
		grown = *nr < MEMORY_MAX_NR / 2 ? memory_grown(*entries, wanted, size) : NULL;
		if (!grown)
			return UINT32_MAX;
		*entries = grown;
		*room = wanted;
	}
	memset((char *)*entries + *nr * size, 0, size);
	return (*nr)++;
}

/* --- the table -------------------------------------------------------------------------------- */

#define FIRST_SHIFT 12

/* The first slot that is free. */
static void put_slot(struct node_table *table, struct node_slot slot)
{
	uint32_t mask = (1U << table->shift) - 1, i = node_slot_at(table, slot.hash);

	while (table->slots[i].node)
		i = (i + 1) & mask;
	table->slots[i] = slot;
}

static int table_grow(struct node_table *table)
{
	struct node_table grown = {.nr = table->nr, .shift = FIRST_SHIFT};
	size_t nr = table->slots ? (size_t)1 << table->shift : 0;

	if (table->shift == 31)
		return -ENOMEM;
	if (nr)
		grown.shift = table->shift + 1;
	grown.slots = memory_new((size_t)1 << grown.shift, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (table->slots[i].node)
			put_slot(&grown, table->slots[i]);
	free(table->slots);
	*table = grown;
	return 0;
}

/* Two in three slots at most are taken. */
int node_table_put(struct node_table *table, uint32_t node, uint32_t hash)
{
	if ((!table->slots || (uint64_t)table->nr * 3 >= (uint64_t)2 << table->shift) &&
	    table_grow(table))
		return -ENOMEM;
	put_slot(table, (struct node_slot){node + 1, hash});
	table->nr++;
	return 0;
}

void node_table_fini(struct node_table *table)
{
	free(table->slots);
	*table = (struct node_table){0};
}
