#include "base/map64.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SHIFT 10

void map64_fini(struct map64 *map)
{
	free(map->slots);
	*map = (struct map64){0};
}

static uint32_t first_slot(const struct map64 *map, uint64_t key)
{
	uint64_t hash = (key ^ key >> 32) * 0x9e3779b97f4a7c15;

	return (uint32_t)(hash >> (64 - map->shift));
}

/* The slot of the key, or the free one where it belongs. */
static struct map64_slot *find_slot(const struct map64 *map, uint64_t key)
{
	uint32_t i = first_slot(map, key);

	while (map->slots[i].value && map->slots[i].key != key)
		i = (i + 1) & (map->nr_slots - 1);
	return &map->slots[i];
}

uint32_t map64_get(const struct map64 *map, uint64_t key)
{
	return map->nr ? find_slot(map, key)->value - 1 : UINT32_MAX;
}

static int map64_grow(struct map64 *map)
{
	struct map64 grown = {.nr = map->nr, .shift = map->shift ? map->shift + 1 : FIRST_SHIFT};

	if (grown.shift > 31)
		return -ENOMEM;
	grown.nr_slots = 1U << grown.shift;
	grown.slots = calloc(grown.nr_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->nr_slots; i++)
		if (map->slots[i].value)
			*find_slot(&grown, map->slots[i].key) = map->slots[i];
	map64_fini(map);
	*map = grown;
	return 0;
}

int map64_add(struct map64 *map, uint64_t key, uint32_t value)
{
	struct map64_slot *slot;

	if ((uint64_t)map->nr * 4 >= (uint64_t)map->nr_slots * 3 && map64_grow(map))
		return -ENOMEM;
	slot = find_slot(map, key);
	map->nr += !slot->value;
	*slot = (struct map64_slot){key, value + 1};
	return 0;
}

uint32_t map64_number(struct map64 *map, uint64_t key)
{
	uint32_t number = map64_get(map, key);

	if (number != UINT32_MAX)
		return number;
	number = map->nr;
	return map64_add(map, key, number) ? UINT32_MAX : number;
}

/*
 * Removes a key. The entries behind it, up to the next free slot, are moved up if a search still
 * finds them in their new slots.
 */
void map64_remove(struct map64 *map, uint64_t key)
{
	struct map64_slot *hole = map->nr ? find_slot(map, key) : NULL;
	uint32_t mask = map->nr_slots - 1, at;

	if (!hole || !hole->value)
		return;
	map->nr--;
	at = (uint32_t)(hole - map->slots);
	for (uint32_t i = (at + 1) & mask; map->slots[i].value; i = (i + 1) & mask) {
		uint32_t distance = (i - first_slot(map, map->slots[i].key)) & mask;

		if (distance >= ((i - at) & mask)) {
			map->slots[at] = map->slots[i];
			at = i;
		}
	}
	map->slots[at].value = 0;
}
