#include "output/map64.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SHIFT 10

void map64_fini(struct map64 *map)
{
	free(map->keys);
	free(map->values);
	*map = (struct map64){0};
}

/* The slot of the key, or the free one where it belongs. */
static uint32_t map64_slot(const struct map64 *map, uint64_t key)
{
	uint64_t hash = (key ^ key >> 32) * 0x9e3779b97f4a7c15;
	uint32_t i = (uint32_t)(hash >> (64 - map->shift));

	while (map->values[i] && map->keys[i] != key)
		i = (i + 1) & (map->nr_slots - 1);
	return i;
}

uint32_t map64_get(const struct map64 *map, uint64_t key)
{
	return map->nr ? map->values[map64_slot(map, key)] - 1 : UINT32_MAX;
}

static int map64_grow(struct map64 *map)
{
	struct map64 grown = {.nr = map->nr, .shift = map->shift ? map->shift + 1 : FIRST_SHIFT};

	if (grown.shift > 31)
		return -ENOMEM;
	grown.nr_slots = 1U << grown.shift;
	grown.keys = malloc(grown.nr_slots * sizeof(*grown.keys));
	grown.values = calloc(grown.nr_slots, sizeof(*grown.values));
	if (!grown.keys || !grown.values) {
		map64_fini(&grown);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < map->nr_slots; i++) {
		uint32_t to;

		if (!map->values[i])
			continue;
		to = map64_slot(&grown, map->keys[i]);
		grown.keys[to] = map->keys[i];
		grown.values[to] = map->values[i];
	}
	map64_fini(map);
	*map = grown;
	return 0;
}

int map64_add(struct map64 *map, uint64_t key, uint32_t value)
{
	uint32_t i;

	if ((uint64_t)map->nr * 4 >= (uint64_t)map->nr_slots * 3 && map64_grow(map))
		return -ENOMEM;
	i = map64_slot(map, key);
	map->keys[i] = key;
	map->values[i] = value + 1;
	map->nr++;
	return 0;
}
