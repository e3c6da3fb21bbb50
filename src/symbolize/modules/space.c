/*
 * One array of mappings, sorted and without overlaps, is shared by all spaces that have not changed
 * since they were forked. Its generation is a digest of its contents: equal arrays share one, so
 * what is cached by it survives even the exec of the same program at the same addresses.
 */
#include "symbolize/modules/space.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/*
 * Each address selects one of NR_RECENT slots by its stretch of 1 MiB. A slot holds the mapping
 * that was found last for it, which is only a hint.
 */
#define NR_RECENT     16
#define STRETCH_SHIFT 20

struct map_array {
	struct space_room *room; /* NULL: there is no bound */
	unsigned refs;
	uint64_t generation; /* 0: not computed since the last change */
	size_t nr, size;
	uint16_t recent[NR_RECENT];
	struct mapping maps[];
};

_Static_assert(SPACE_MAX_MAPPINGS <= UINT16_MAX, "the numbers of mappings");

struct space {
	pid_t pid;
	struct map_array *array; /* NULL: nothing is mapped */
	struct space_room *room;
};

static size_t array_bytes(size_t size)
{
	return sizeof(struct map_array) + size * sizeof(struct mapping);
}

static void array_put(struct map_array *array)
{
	if (!array || --array->refs)
		return;
	if (array->room)
		array->room->used -= array_bytes(array->size);
	free(array);
}

static struct map_array *array_new(struct space_room *room, size_t size)
{
	struct map_array *array;

	if (room && room->most - room->used < array_bytes(size)) {
		errno = ENOSPC;
		return NULL;
	}
	array = malloc(array_bytes(size));
	if (!array)
		return NULL;
	if (room)
		room->used += array_bytes(size);
	array->room = room;
	return array;
}

/*
 * An array of the space's own in place of the one that it has, with room for size mappings if that
 * is more; NULL with errno: it keeps what it has.
 */
static struct map_array *array_own(const struct space *space, size_t size)
{
	struct map_array *old = space->array, *array;

	if (old && old->refs == 1 && size <= old->size)
		return old;
	if (old && size < old->nr)
		size = old->nr;
	size += size / 2;
	array = array_new(space->room, size);
	if (!array)
		return NULL;
	array->refs = 1;
	array->size = size;
	memset(array->recent, 0, sizeof(array->recent));
	array->nr = old ? old->nr : 0;
	if (old)
		memcpy(array->maps, old->maps, old->nr * sizeof(old->maps[0]));
	array_put(old);
	return array;
}

static struct space *space_with(pid_t pid, struct map_array *array)
{
	struct space *space = malloc(sizeof(*space));

	if (!space)
		return NULL;
	space->pid = pid;
	space->array = array;
	space->room = NULL;
	if (array)
		array->refs++;
	return space;
}

struct space *space_new(pid_t pid)
{
	return space_with(pid, NULL);
}

struct space *space_fork(struct space *parent, pid_t pid)
{
	struct space *space = space_with(pid, parent->array);

	if (space)
		space->room = parent->room;
	return space;
}

void space_limit(struct space *space, struct space_room *room)
{
	space->room = room;
}

void space_put(struct space *space)
{
	if (!space)
		return;
	array_put(space->array);
	free(space);
}

pid_t space_pid(const struct space *space)
{
	return space->pid;
}

uint64_t space_generation(const struct space *space)
{
	struct map_array *array = space->array;

	if (!array)
		return 0;
	/* Not with each change: a target that maps in a loop would have us hash half a megabyte
	 * every time. */
	if (!array->generation)
		array->generation = XXH3_64bits(array->maps, array->nr * sizeof(array->maps[0]));
	return array->generation;
}

void space_clear(struct space *space)
{
	array_put(space->array);
	space->array = NULL;
}

/* The index of the first mapping that ends above addr; without branches that depend on addr. */
static size_t array_search(const struct map_array *array, uint64_t addr)
{
	size_t lo = 0, n = array->nr;

	while (n) {
		size_t half = n / 2;
		bool below = array->maps[lo + half].end <= addr;

		lo = below ? lo + half + 1 : lo;
		n = below ? n - half - 1 : half;
	}
	return lo;
}

static bool array_has(const struct map_array *array, size_t i, uint64_t addr)
{
	return i < array->nr &&
	       addr - array->maps[i].start < array->maps[i].end - array->maps[i].start;
}

const struct mapping *space_find(const struct space *space, uint64_t addr)
{
	struct map_array *array = space->array;
	uint16_t *recent;
	size_t i;

	if (!array)
		return NULL;
	recent = &array->recent[(addr >> STRETCH_SHIFT) % NR_RECENT];
	if (array_has(array, *recent, addr))
		return &array->maps[*recent];
	i = array_search(array, addr);
	if (!array_has(array, i, addr))
		return NULL;
	*recent = (uint16_t)i;
	return &array->maps[i];
}

const struct mapping *space_lookup(const struct space *space, uint64_t addr)
{
	const struct mapping *map = space_find(space, addr);

	if (map)
		map->module->named = true;
	return map;
}

void space_mark(const struct space *space)
{
	for (size_t i = 0; space->array && i < space->array->nr; i++)
		space->array->maps[i].module->mapped = true;
}

uint64_t space_frame(const struct space *space, uint64_t addr)
{
	const struct mapping *map = space_lookup(space, addr);

	return map ? frame_make(map->module->id, (uint32_t)(addr - map->bias)) : FRAME_UNKNOWN;
}

/* A part of an array that is about to be replaced, and by what. */
struct splice {
	size_t first, last;
	size_t nr;
	struct mapping with[5];
};

/* Adds what the interval [start, end) holds of a mapping; a continued neighbour just grows. */
static void splice_add(struct splice *splice, const struct mapping *map, uint64_t start,
                       uint64_t end)
{
	struct mapping *top = splice->nr ? &splice->with[splice->nr - 1] : NULL;

	if (map->start > start)
		start = map->start;
	if (map->end < end)
		end = map->end;
	if (start >= end)
		return;
	if (top && top->end == start && top->bias == map->bias && top->module == map->module) {
		top->end = end;
		return;
	}
	splice->with[splice->nr] = *map;
	splice->with[splice->nr].start = start;
	splice->with[splice->nr++].end = end;
}

/*
 * Plans which mappings to replace: those that the new one overlaps, and a neighbour on either side.
 * At most two pieces remain before it and two behind it.
 */
static struct splice splice_plan(const struct map_array *array, const struct mapping *map)
{
	struct splice splice = {0};
	size_t i;

	if (array) {
		splice.first = splice.last = array_search(array, map->start);
		while (splice.last < array->nr && array->maps[splice.last].start < map->end)
			splice.last++;
		splice.first -= splice.first > 0;
		splice.last += splice.last < array->nr;
	}
	for (i = splice.first; i < splice.last; i++)
		splice_add(&splice, &array->maps[i], 0, map->start);
	splice_add(&splice, map, map->start, map->end);
	for (i = splice.first; i < splice.last; i++)
		splice_add(&splice, &array->maps[i], map->end, UINT64_MAX);
	return splice;
}

int space_map(struct space *space, const struct mapping *map)
{
	struct map_array *array = space->array;
	struct splice splice;
	size_t nr;

	if (map->start >= map->end)
		return 0;
	splice = splice_plan(array, map);
	nr = (array ? array->nr : 0) - (splice.last - splice.first) + splice.nr;
	if (nr > SPACE_MAX_MAPPINGS)
		return -ENOSPC;
	array = array_own(space, nr);
	if (!array)
		return -errno;
	space->array = array;
	memmove(array->maps + splice.first + splice.nr, array->maps + splice.last,
	        (array->nr - splice.last) * sizeof(array->maps[0]));
	memcpy(array->maps + splice.first, splice.with, splice.nr * sizeof(splice.with[0]));
	array->nr = nr;
	array->generation = 0;
	return 0;
}
