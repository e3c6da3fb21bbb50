/*
 * Numbers by the hashes of what they stand for, by open addressing: who looks one up compares what
 * it finds with what it wants.
 */
#ifndef BASE_HASH_SLOTS_H
#define BASE_HASH_SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct node_slot {
	uint32_t node; /* + 1; 0: free */
	uint32_t hash;
};

/* All zero is an empty table. */
struct node_table {
	struct node_slot *slots;
	uint32_t nr;
	unsigned shift;
};

/* 0 or -ENOMEM. */
int node_table_put(struct node_table *table, uint32_t node, uint32_t hash);
void node_table_fini(struct node_table *table);

/* Of a node and what is told apart below it, or of any two numbers. */
static inline uint32_t node_hash(uint32_t parent, uint32_t child)
{
	uint64_t hash = ((uint64_t)parent << 32 | child) * 0x9e3779b97f4a7c15;

	return (uint32_t)((hash ^ hash >> 32) * 0x9e3779b97f4a7c15 >> 32);
}

/* Where the search for a hash begins. */
static inline uint32_t node_slot_at(const struct node_table *table, uint32_t hash)
{
	return hash >> (32 - table->shift);
}

/* Asks for the memory that the search begins in. */
static inline void node_table_prefetch(const struct node_table *table, uint32_t hash)
{
	if (table->slots)
		__builtin_prefetch(&table->slots[node_slot_at(table, hash)]);
}

/* The next slot with this hash from `at` on; NULL: there is none. There are slots. */
static inline const struct node_slot *node_slot_from(const struct node_table *table, uint32_t hash,
                                                     uint32_t at)
{
	uint32_t mask = (1U << table->shift) - 1;

	for (at &= mask; table->slots[at].node; at = (at + 1) & mask)
		if (table->slots[at].hash == hash)
			return &table->slots[at];
	return NULL;
}

/* The first slot with a hash, and the one behind another; NULL: there is none. */
static inline const struct node_slot *node_slot_first(const struct node_table *table, uint32_t hash)
{
	return table->slots ? node_slot_from(table, hash, node_slot_at(table, hash)) : NULL;
}

static inline const struct node_slot *node_slot_next(const struct node_table *table,
                                                     const struct node_slot *slot)
{
	return node_slot_from(table, slot->hash, (uint32_t)(slot - table->slots) + 1);
}

#endif
