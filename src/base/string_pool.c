#include "base/string_pool.h"

#include <string.h>
#include <xxhash.h>

void string_pool_fini(struct string_pool *pool)
{
	hash_slots_fini(&pool->found);
}

static uint32_t string_hash(const char *string, size_t size)
{
	return (uint32_t)XXH3_64bits(string, size);
}

static bool is_at(const struct string_pool *pool, size_t at, const char *string, size_t size)
{
	return pool->size - at > size && !memcmp(pool->memory + at, string, size) &&
	       !pool->memory[at + size];
}

void string_pool_init(struct string_pool *pool, char *memory, size_t max_size, uint32_t max_nr)
{
	*pool = (struct string_pool){
		.memory = memory,
		.max_size = max_size < UINT32_MAX ? max_size : UINT32_MAX - 1,
		.max_nr = max_nr,
	};
}

bool string_pool_find(const struct string_pool *pool, const char *string, uint32_t *offset)
{
	size_t size = strlen(string);
	const struct hash_slot *slot = hash_slots_first(&pool->found, string_hash(string, size));

	while (slot && !is_at(pool, slot->node - 1, string, size))
		slot = hash_slots_next(&pool->found, slot);
	if (slot)
		*offset = slot->node - 1;
	return slot;
}

bool string_pool_put(struct string_pool *pool, const char *string, uint32_t *offset)
{
	size_t size = strlen(string);

	if (string_pool_find(pool, string, offset))
		return true;
	if (pool->found.nr == pool->max_nr || size >= pool->max_size - pool->size ||
	    (pool->reserve && pool->reserve(pool->arg, pool->size + size + 1)))
		return false;
	*offset = (uint32_t)pool->size;
	memcpy(pool->memory + pool->size, string, size + 1);
	if (hash_slots_put(&pool->found, *offset, string_hash(string, size)))
		return false;
	pool->size += size + 1;
	return true;
}
