#include "output/paths.h"

#include "symbolize/array.h"
#include "symbolize/frame.h"

#include <errno.h>
#include <stdlib.h>

#define CACHE_SHIFT 15
#define CHAIN_SIZE  (1 << 13) /* the deepest stack: a file may pretend that one is endless */

int paths_init(struct paths *paths, const struct trace *trace, enum path_detail detail)
{
	*paths = (struct paths){.trace = trace};
	frame_names_init(&paths->names, trace, detail);
	paths->cache = calloc(1 << CACHE_SHIFT, sizeof(*paths->cache));
	paths->chain = calloc(CHAIN_SIZE, sizeof(*paths->chain));
	paths->path_by_context =
		calloc((size_t)trace_node_limit(trace) + 1, sizeof(*paths->path_by_context));
	return paths->cache && paths->chain && paths->path_by_context ? 0 : -ENOMEM;
}

void paths_settle(struct paths *paths)
{
	node_table_fini(&paths->callees);
	free(paths->path_by_context);
	paths->path_by_context = NULL;
}

void paths_fini(struct paths *paths)
{
	paths_settle(paths);
	frame_names_fini(&paths->names);
	free(paths->paths);
	free(paths->cache);
	free(paths->chain);
	*paths = (struct paths){0};
}

/* --- paths ------------------------------------------------------------------------------------ */

static uint32_t known_callee(const struct paths *paths, uint32_t caller, uint32_t place)
{
	const struct node_slot *slot = node_slot_first(&paths->callees, node_hash(caller, place));

	while (slot && (paths->paths[slot->node - 1].caller != caller ||
	                paths->paths[slot->node - 1].place != place))
		slot = node_slot_next(&paths->callees, slot);
	return slot ? slot->node - 1 : PATH_NONE;
}

static uint32_t find_callee(struct paths *paths, uint32_t caller, uint32_t place)
{
	uint32_t path = known_callee(paths, caller, place);
	struct path *grown;

	if (path != PATH_NONE)
		return path;
	grown = array_grow(paths->paths, paths->nr_paths, sizeof(*grown));
	if (!grown)
		return PATH_NONE;
	paths->paths = grown;
	if (node_table_put(&paths->callees, paths->nr_paths, node_hash(caller, place)))
		return PATH_NONE;
	paths->paths[paths->nr_paths] = (struct path){.caller = caller, .place = place};
	return paths->nr_paths++;
}

/* Goes on through the functions that were inlined at a frame. */
static uint32_t find_path(struct paths *paths, uint32_t caller, uint64_t frame)
{
	const uint32_t *places;
	uint32_t nr = frame_names_chain(&paths->names, frame, &places), path = PATH_NONE;

	for (uint32_t i = 0; i < nr; i++) {
		path = find_callee(paths, i ? path : caller, places[i]);
		if (path == PATH_NONE)
			break;
	}
	return path;
}

static uint32_t known_context(const struct paths *paths, uint32_t context)
{
	uint32_t number = trace_node_number(paths->trace, context);

	return number == UINT32_MAX ? PATH_NONE : paths->path_by_context[number] - 1;
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
		*path = known_context(paths, context);
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
		if (*path == PATH_NONE)
			err = -ENOMEM;
		/* A node that could be read has a number. */
		paths->path_by_context[trace_node_number(paths->trace, context)] = *path + 1;
	}
	return err;
}

static void announce(const struct paths *paths, const struct trace_sample *sample)
{
	uint32_t number = trace_node_number(paths->trace, sample->context);

	if (number != UINT32_MAX)
		__builtin_prefetch(&paths->path_by_context[number]);
	if (paths->names.keys & FRAME_BY_ADDRESS)
		map64_prefetch(&paths->names.by_frame, sample->leaf);
}

static void approach(const struct paths *paths, const struct trace_sample *sample)
{
	uint32_t caller = known_context(paths, sample->context);
	bool only;

	if (caller != PATH_NONE)
		node_table_prefetch(
			&paths->callees,
			node_hash(caller, frame_names_known(&paths->names, sample->leaf, &only)));
}

void paths_look_ahead(const struct paths *paths, const struct trace_sample *samples, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		announce(paths, &samples[i]);
	for (unsigned i = 0; i < nr; i++)
		approach(paths, &samples[i]);
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

uint32_t *paths_depths(const struct paths *paths, uint32_t *deepest)
{
	uint32_t *depths = calloc((size_t)paths->nr_paths + 1, sizeof(*depths));

	*deepest = 0;
	for (uint32_t i = 0; depths && i < paths->nr_paths; i++) {
		uint32_t caller = paths->paths[i].caller;

		depths[i] = caller == PATH_NONE ? 1 : depths[caller] + 1;
		if (depths[i] > *deepest)
			*deepest = depths[i];
	}
	return depths;
}
