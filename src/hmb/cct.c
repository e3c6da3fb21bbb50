#include "hmb/cct_index.h"

#include <errno.h>
#include <stdlib.h>

#define FRAME_MASK (((uint64_t)1 << 48) - 1)

static unsigned log2_ceil(size_t n)
{
	unsigned log = 0;

	while ((size_t)1 << log < n)
		log++;
	return log;
}

int cct_init(struct cct *cct, const struct arena *arena, unsigned max_path,
             uint64_t truncated_frame)
{
	struct cct_index *index = &cct->index;

	cct->max_path = max_path;
	cct->truncated_frame = truncated_frame;
	index->page_slots =
		(uint32_t)(((1U << arena->bin_shift) - sizeof(struct bin)) / sizeof(uint32_t));
	index->max_depth = log2_ceil(arena->nr_bins);
	index->pages = calloc(1, sizeof(*index->pages));
	index->scratch = calloc(index->page_slots, sizeof(*index->scratch));
	if (!index->pages || !index->scratch)
		return -ENOMEM;
	for (unsigned i = 0; i < CCT_RECENT_PATHS; i++) {
		cct->recent[i].frames = calloc(max_path + 1U, sizeof(uint64_t));
		cct->recent[i].hashes = calloc(max_path + 1U, sizeof(uint64_t));
		if (!cct->recent[i].frames || !cct->recent[i].hashes)
			return -ENOMEM;
	}
	return 0;
}

void cct_fini(struct cct *cct)
{
	free(cct->index.pages);
	free(cct->index.scratch);
	for (unsigned i = 0; i < CCT_RECENT_PATHS; i++) {
		free(cct->recent[i].frames);
		free(cct->recent[i].hashes);
	}
}

static uint64_t hash_extend(uint64_t hash, uint64_t frame)
{
	hash = (hash ^ frame) * 0x9fb21c651e98df25;
	return hash ^ hash >> 32;
}

/* Every kind has a tree of its own: nothing that one stores may live in another's bins. */
static uint64_t hash_root(unsigned kind)
{
	return hash_extend(0x2545f4914f6cdd1d, kind);
}

static struct cct_key key_of(uint64_t hash, uint64_t frame)
{
	return (struct cct_key){.frame = frame, .tag = hash >> 16};
}

/* Turns the path root first and hashes its prefixes, going on where it leaves the recent one. */
static struct cct_recent *hash_path(struct cct *cct, const struct hmb_sample *sample)
{
	/* Kinds take their own places, for their hashes start differently. */
	struct cct_recent *path = &cct->recent[(sample->cpu * 3 + sample->kind) % CCT_RECENT_PATHS];
	unsigned n = sample->path_size < cct->max_path ? sample->path_size : cct->max_path;
	const uint64_t *frames = sample->path + n;
	uint64_t root = hash_root(sample->kind), hash;
	unsigned i = 0;

	if (path->size && path->hashes[0] == hash_extend(root, path->frames[0]))
		while (i < n && i < path->size &&
		       path->frames[i] == (frames[-1 - (int)i] & FRAME_MASK))
			i++;
	hash = i ? path->hashes[i - 1] : root;
	for (; i < n; i++) {
		path->frames[i] = frames[-1 - (int)i] & FRAME_MASK;
		hash = path->hashes[i] = hash_extend(hash, path->frames[i]);
	}
	path->size = n;
	return path;
}

static uint32_t add_node(struct hmb *hmb, const struct hmb_sample *sample, uint32_t parent,
                         struct cct_key key)
{
	struct node node = {
		.frame = key.frame,
		.tag_high = (uint16_t)(key.tag >> 32),
		.tag_low = (uint32_t)key.tag,
		.parent = parent,
	};
	struct bin *bin = hmb_room(hmb, sample->kind, sample->level, sizeof(node), sample->time);
	uint32_t number;

	if (!bin)
		return NODE_NONE;
	number = bin_add_node(&hmb->arena, bin, &node);
	hmb->kinds[sample->kind].levels[sample->level].nr_nodes++;
	hmb->cct.nr_nodes++;
	cct_index_insert(hmb, sample, key, number);
	return sample->level < hmb_floor(hmb, sample->kind) ? NODE_NONE : number;
}

/* A node of this key that lies high enough for the sample. */
static uint32_t find_high(const struct hmb *hmb, const struct hmb_sample *sample,
                          struct cct_key key)
{
	uint32_t node = cct_index_find(hmb, key);

	if (node != NODE_NONE && node_bin(&hmb->arena, node)->level < sample->level)
		return NODE_NONE;
	return node;
}

static bool tree_full(const struct hmb *hmb)
{
	return hmb_context_bytes(hmb) >= hmb->arena.size / 2;
}

static uint32_t fold(struct hmb *hmb, const struct hmb_sample *sample, uint32_t parent,
                     uint64_t hash)
{
	uint64_t frame = hmb->cct.truncated_frame;
	struct cct_key key = key_of(hash_extend(hash, frame), frame);
	uint32_t node = find_high(hmb, sample, key);

	hmb->truncated++;
	return node != NODE_NONE ? node : add_node(hmb, sample, parent, key);
}

uint32_t cct_intern(struct hmb *hmb, const struct hmb_sample *sample)
{
	const struct cct_recent *path = hash_path(&hmb->cct, sample);
	uint32_t node = NODE_NONE;
	unsigned known;

	for (known = path->size; known; known--) {
		struct cct_key key = key_of(path->hashes[known - 1], path->frames[known - 1]);

		node = find_high(hmb, sample, key);
		if (node != NODE_NONE)
			break;
	}
	for (; known < path->size; known++) {
		struct cct_key key = key_of(path->hashes[known], path->frames[known]);

		if (tree_full(hmb) && cct_index_find(hmb, key) == NODE_NONE)
			return fold(hmb, sample, node,
			            known ? path->hashes[known - 1] : hash_root(sample->kind));
		node = add_node(hmb, sample, node, key);
		if (node == NODE_NONE)
			return NODE_NONE;
	}
	return node;
}

void cct_tidy(struct hmb *hmb)
{
	const struct cct_index *index = &hmb->cct.index;

	if (hmb->cct.nr_nodes < (uint64_t)index->nr_pages * index->page_slots / 4)
		cct_index_shrink(hmb);
}
