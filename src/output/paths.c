#include "output/paths.h"

#include "symbolize/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_SHIFT 15
#define CHAIN_SIZE  (1 << 13) /* the deepest stack: a file may pretend that one is endless */

int paths_init(struct paths *paths, const struct trace *trace, enum path_detail detail)
{
	*paths = (struct paths){.trace = trace, .detail = detail};
	frame_names_init(&paths->names, trace, FRAME_BY_SYMBOL | FRAME_BY_MODULE);
	paths->cache = calloc(1 << CACHE_SHIFT, sizeof(*paths->cache));
	paths->chain = calloc(CHAIN_SIZE, sizeof(*paths->chain));
	return paths->cache && paths->chain ? 0 : -ENOMEM;
}

void paths_fini(struct paths *paths)
{
	frame_names_fini(&paths->names);
	map64_fini(&paths->place_by_key);
	map64_fini(&paths->path_by_key);
	map64_fini(&paths->path_by_context);
	free(paths->places);
	free(paths->paths);
	free(paths->cache);
	free(paths->chain);
	*paths = (struct paths){0};
}

static int grow(void **entries, uint32_t nr, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? 2 * *room : 256;
	void *grown;

	if (nr < *room)
		return 0;
	grown = nr < PATH_NONE / 4 ? reallocarray(*entries, wanted, size) : NULL;
	if (!grown)
		return -ENOMEM;
	*entries = grown;
	*room = wanted;
	return 0;
}

static uint32_t find_place(struct paths *paths, uint64_t frame)
{
	bool by_address = paths->detail == PATHS_BY_ADDRESS;
	uint32_t function = 0, place;
	uint64_t key = frame;

	if (by_address)
		place = map64_get(&paths->place_by_key, key);
	else {
		function = frame_names_find(&paths->names, frame);
		key = function;
		place = function == UINT32_MAX ? PATH_NONE : map64_get(&paths->place_by_key, key);
	}
	if (place != PATH_NONE || function == UINT32_MAX)
		return place;
	if (by_address)
		function = frame_names_find(&paths->names, frame);
	if (function == UINT32_MAX ||
	    grow((void **)&paths->places, paths->nr_places, &paths->places_room,
	         sizeof(*paths->places)) ||
	    map64_add(&paths->place_by_key, key, paths->nr_places))
		return PATH_NONE;
	paths->places[paths->nr_places] = (struct place){.frame = frame, .function = function};
	return paths->nr_places++;
}

/* Roots hang below number 0 in keys. */
static uint32_t find_path(struct paths *paths, uint32_t caller, uint64_t frame)
{
	uint32_t place = find_place(paths, frame), path;
	uint64_t key = (uint64_t)(caller + 1) << 32 | place;

	if (place == PATH_NONE)
		return PATH_NONE;
	path = map64_get(&paths->path_by_key, key);
	if (path != PATH_NONE)
		return path;
	if (grow((void **)&paths->paths, paths->nr_paths, &paths->paths_room,
	         sizeof(*paths->paths)) ||
	    map64_add(&paths->path_by_key, key, paths->nr_paths))
		return PATH_NONE;
	paths->paths[paths->nr_paths] = (struct path){.caller = caller, .place = place};
	return paths->nr_paths++;
}

/*
 * Notes the contexts from this one up to the first whose path is known, which *path becomes; else
 * what the last one hangs below: PATH_NONE is a root.
 */
static int climb(struct paths *paths, uint32_t context, uint32_t *path, uint32_t *depth)
{
	uint64_t frame;

	*path = PATH_NONE;
	for (*depth = 0; context != NODE_NONE; ++*depth) {
		*path = map64_get(&paths->path_by_context, context);
		if (*path != PATH_NONE)
			return 0;
		if (*depth < CHAIN_SIZE) {
			paths->chain[*depth] = context;
			if (trace_node(paths->trace, context, &frame, &context))
				continue;
		}
		*path = find_path(paths, PATH_NONE, FRAME_TRUNCATED);
		return *path == PATH_NONE ? -ENOMEM : 0;
	}
	return 0;
}

static int find_context(struct paths *paths, uint32_t context, uint32_t *path)
{
	uint32_t depth, parent;
	uint64_t frame;
	int err = climb(paths, context, path, &depth);

	while (depth && !err) {
		context = paths->chain[--depth];
		if (!trace_node(paths->trace, context, &frame, &parent))
			continue;
		*path = find_path(paths, *path, frame);
		if (*path == PATH_NONE || map64_add(&paths->path_by_context, context, *path))
			err = -ENOMEM;
	}
	return err;
}

uint32_t paths_find(struct paths *paths, const struct trace_sample *sample)
{
	uint64_t hash = (sample->leaf ^ (uint64_t)sample->context << 24) * 0x9e3779b97f4a7c15;
	struct path_cache *slot = &paths->cache[hash >> (64 - CACHE_SHIFT)];
	uint32_t path;

	if (slot->path && slot->leaf == sample->leaf && slot->context == sample->context)
		return slot->path - 1;
	if (find_context(paths, sample->context, &path))
		return PATH_NONE;
	path = find_path(paths, path, sample->leaf);
	if (path != PATH_NONE)
		*slot = (struct path_cache){sample->leaf, sample->context, path + 1};
	return path;
}

uint32_t *paths_depths(const struct paths *paths)
{
	uint32_t *depths = calloc((size_t)paths->nr_paths + 1, sizeof(*depths));

	for (uint32_t i = 0; depths && i < paths->nr_paths; i++) {
		uint32_t caller = paths->paths[i].caller;

		depths[i] = caller == PATH_NONE ? 1 : depths[caller] + 1;
	}
	return depths;
}
