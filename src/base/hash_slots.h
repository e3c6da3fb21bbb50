/*
 * A hash table with open addressing that maps the hash of a key to a number. It does not store
 * keys: the caller compares the key of each number that it finds with the wanted one.
 */
#ifndef BASE_HASH_SLOTS_H
#define BASE_HASH_SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct hash_slot {
	uint32_t node; /* + 1; 0: free */
	uint32_t hash;
};

/* All zero is an empty table. */
struct hash_slots {
	struct hash_slot *slots;
	uint32_t nr;
	unsigned shift;
};

/* Adds a number under a hash; it may be in the table already. Returns 0 or -ENOMEM. */
int hash_slots_put(struct hash_slots *table, uint32_t node, uint32_t hash);
void hash_slots_fini(struct hash_slots *table);

/* Hashes two numbers in their order: for example a node and the key of its child. */
static inline uint32_t node_hash(uint32_t parent, uint32_t child)
{
	uint64_t hash = ((uint64_t)parent << 32 | child) * 0x9e3779b97f4a7c15;

	return (uint32_t)((hash ^ hash >> 32) * 0x9e3779b97f4a7c15 >> 32);
}

/* The slot in which the search for a hash begins. */
static inline uint32_t hash_slots_at(const struct hash_slots *table, uint32_t hash)
{
	return hash >> (32 - table->shift);
}

/* Prefetches the slot in which the search for this hash begins. */
static inline void hash_slots_prefetch(const struct hash_slots *table, uint32_t hash)
{
	if (table->slots)
		__builtin_prefetch(&table->slots[hash_slots_at(table, hash)]);
}

/*
 * Returns the next slot with this hash, from slot `at` on; NULL: there is none. The table must not
 * be empty.
 */
static inline const struct hash_slot *hash_slots_from(const struct hash_slots *table, uint32_t hash,
                                                      uint32_t at)
{
	uint32_t mask = (1U << table->shift) - 1;

	for (at &= mask; table->slots[at].node; at = (at + 1) & mask)
		if (table->slots[at].hash == hash)
			return &table->slots[at];
	return NULL;
}

/* Iterate over the slots with the same hash. NULL: there are no more. */
static inline const struct hash_slot *hash_slots_first(const struct hash_slots *table,
                                                       uint32_t hash)
{
	return table->slots ? hash_slots_from(table, hash, hash_slots_at(table, hash)) : NULL;
}

static inline const struct hash_slot *hash_slots_next(const struct hash_slots *table,
                                                      const struct hash_slot *slot)
{
	return hash_slots_from(table, slot->hash, (uint32_t)(slot - table->slots) + 1);
}

#endif
