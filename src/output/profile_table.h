/* Finding nodes by their parents and rows, by open addressing; for the files profile*.c alone. */
#ifndef OUTPUT_PROFILE_TABLE_H
#define OUTPUT_PROFILE_TABLE_H

#include "output/profile_build.h"

static inline uint32_t node_hash(uint32_t parent, uint32_t row)
{
	uint64_t hash = ((uint64_t)parent << 32 | row) * 0x9e3779b97f4a7c15;

	return (uint32_t)((hash ^ hash >> 32) * 0x9e3779b97f4a7c15 >> 32);
}

/* Where the search for a hash begins. */
static inline uint32_t node_slot_at(const struct node_table *table, uint32_t hash)
{
	return hash >> (32 - table->shift);
}

/* The next slot with this hash from `at` on; NULL: there is none. */
static inline const struct node_slot *node_slot_next(const struct node_table *table, uint32_t hash,
                                                     uint32_t at)
{
	uint32_t mask = (1U << table->shift) - 1;

	for (at &= mask; table->slots[at].node; at = (at + 1) & mask)
		if (table->slots[at].hash == hash)
			return &table->slots[at];
	return NULL;
}

static inline uint32_t node_in_table(const struct node_table *table,
                                     const struct profile_node *nodes, uint32_t parent,
                                     uint32_t row)
{
	uint32_t hash = node_hash(parent, row);
	const struct node_slot *slot = node_slot_next(table, hash, node_slot_at(table, hash));

	while (slot && (nodes[slot->node - 1].parent != parent || nodes[slot->node - 1].row != row))
		slot = node_slot_next(table, hash, (uint32_t)(slot - table->slots) + 1);
	return slot ? slot->node - 1 : PROFILE_NONE;
}

#endif
