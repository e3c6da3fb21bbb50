#include "base/hash_slots.h"

#include "base/large_array.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SHIFT 12

/* The first slot that is free. */
static void put_slot(struct hash_slots *table, struct hash_slot slot)
{
	uint32_t mask = (1U << table->shift) - 1, i = hash_slots_at(table, slot.hash);

	while (table->slots[i].node)
		i = (i + 1) & mask;
	table->slots[i] = slot;
}

static int table_grow(struct hash_slots *table)
{
	struct hash_slots grown = {.nr = table->nr, .shift = FIRST_SHIFT};
	size_t nr = table->slots ? (size_t)1 << table->shift : 0;

	if (table->shift == 31)
		return -ENOMEM;
	if (nr)
		grown.shift = table->shift + 1;
	grown.slots = large_array_new((size_t)1 << grown.shift, sizeof(*grown.slots));
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
int hash_slots_put(struct hash_slots *table, uint32_t node, uint32_t hash)
{
	if ((!table->slots || (uint64_t)table->nr * 3 >= (uint64_t)2 << table->shift) &&
	    table_grow(table))
		return -ENOMEM;
	put_slot(table, (struct hash_slot){node + 1, hash});
	table->nr++;
	return 0;
}

void hash_slots_fini(struct hash_slots *table)
{
	free(table->slots);
	*table = (struct hash_slots){0};
}
