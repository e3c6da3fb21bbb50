#include "symbolize/modules/module_index.h"

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

/* Moves what leads to these modules into so many slots. NULL: to all. */
static bool slots_renew(struct module_index *index, size_t room,
                        bool (*is_kept)(const void *arg, uint16_t module), const void *arg)
{
	struct module_index renewed = {calloc(room, sizeof(*renewed.slots)), 0, room};

	if (!renewed.slots)
		return false;
	for (size_t i = 0; i < index->nr_slots; i++) {
		const struct module_slot *slot = &index->slots[i];

		if (slot->module && (!is_kept || is_kept(arg, slot->module))) {
			*slot_find(&renewed, slot->key) = *slot;
			renewed.nr++;
		}
	}
	free(index->slots);
	*index = renewed;
	return true;
}

bool module_index_keep(struct module_index *index,
                       bool (*is_kept)(const void *arg, uint16_t module), const void *arg)
{
	return !index->nr_slots || slots_renew(index, index->nr_slots, is_kept, arg);
}

uint16_t module_index_get(const struct module_index *index, XXH128_hash_t key)
{
	return index->nr_slots ? slot_find(index, key)->module : 0;
}

void module_index_put(struct module_index *index, XXH128_hash_t key, uint16_t module)
{
	struct module_slot *slot;

	if (2 * (index->nr + 1) > index->nr_slots &&
	    !slots_renew(index, index->nr_slots ? 2 * index->nr_slots : 64, NULL, NULL))
		return;
	slot = slot_find(index, key);
	if (!slot->module && index->nr == MAX_KEYS)
		return;
	index->nr += !slot->module;
	*slot = (struct module_slot){key, module};
}
