#include "symbolize/module_index.h"

#include <stdlib.h>

#define MAX_KEYS (4 * (size_t)UINT16_MAX)

struct module_slot {
	XXH128_hash_t key;
	uint16_t module; /* 0: free */
};

void module_index_fini(struct module_index *index)
{
	free(index->slots);
}

/* The slot of the key, or the free one where it belongs. */
static struct module_slot *slot_find(const struct module_index *index, XXH128_hash_t key)
{
	size_t i = key.low64 & (index->nr_slots - 1);

	while (index->slots[i].module && !XXH128_isEqual(index->slots[i].key, key))
		i = (i + 1) & (index->nr_slots - 1);
	return &index->slots[i];
}

static int slots_grow(struct module_index *index)
{
	size_t room = index->nr_slots ? 2 * index->nr_slots : 64;
	struct module_index grown = {calloc(room, sizeof(*grown.slots)), index->nr, room};

	if (!grown.slots)
		return -1;
	for (size_t i = 0; i < index->nr_slots; i++)
		if (index->slots[i].module)
			*slot_find(&grown, index->slots[i].key) = index->slots[i];
	free(index->slots);
	*index = grown;
	return 0;
}

uint16_t module_index_get(const struct module_index *index, XXH128_hash_t key)
{
	return index->nr_slots ? slot_find(index, key)->module : 0;
}

void module_index_put(struct module_index *index, XXH128_hash_t key, uint16_t module)
{
	struct module_slot *slot;

	if (2 * (index->nr + 1) > index->nr_slots && slots_grow(index))
		return;
	slot = slot_find(index, key);
	if (!slot->module && index->nr == MAX_KEYS)
		return;
	index->nr += !slot->module;
	*slot = (struct module_slot){key, module};
}
