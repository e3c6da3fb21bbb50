#include "hmb/cct_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_MASK (((uint64_t)1 << 48) - 1)
#define PREFETCHED 4 /* frames */

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
	index->node_bits = log2_ceil(arena->size / NODE_UNIT);
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

/* A polynomial of mixed frames: to mix each frame apart keeps the chain from root to leaf short. */
static uint64_t hash_extend(uint64_t hash, uint64_t frame)
{
	frame *= 0x9fb21c651e98df25;
	return (hash + (frame ^ frame >> 32)) * 0xd6e8feb86659fd93;
}

/* Every kind has a tree of its own: nothing that one stores may live in another's bins. */
static uint64_t hash_root(unsigned kind)
{
	return hash_extend(0x2545f4914f6cdd1d, kind);
}

static struct cct_key key_of(uint64_t hash, uint64_t frame)
{
	return (struct cct_key){.frame = frame & FRAME_MASK, .tag = hash >> 16};
}

static struct cct_key recent_key(const struct cct_recent *recent, unsigned at)
{
	return key_of(recent->hashes[at], recent->frames[at]);
}

static bool same_path(const struct cct_recent *recent, const struct hmb_sample *sample,
                      unsigned max_path)
{
	return recent->size == sample->path_size && recent->kind == sample->kind &&
	       !memcmp(recent->frames + max_path - recent->size, sample->path,
	               recent->size * sizeof(*sample->path));
}

/* Returns the number of frames in common, counted from the root. */
static unsigned common_frames(const struct cct_recent *recent, const struct hmb_sample *sample,
                              unsigned max_path)
{
	unsigned most = recent->size < sample->path_size ? recent->size : sample->path_size;
	const uint64_t *old = recent->frames + max_path, *new = sample->path + sample->path_size;
	unsigned common = 0;

	if (recent->kind != sample->kind)
		return 0;
	while (common < most && *--old == *--new)
		common++;
	return common;
}

/*
 * Replaces the recent path by that of the sample, and hashes the frames that differ. The index has
 * the new hashes far apart in memory, so those of the innermost frames are prefetched. Most paths
 * are known, or new by at most so many frames.
 */
static void hash_path(struct hmb *hmb, struct cct_recent *recent, const struct hmb_sample *sample)
{
	const unsigned max_path = hmb->cct.max_path;
	unsigned size = sample->path_size < max_path ? sample->path_size : max_path;
	unsigned common = common_frames(recent, sample, max_path), at = max_path - common;
	const uint64_t *frame = sample->path + sample->path_size - common;
	uint64_t hash = common ? recent->hashes[at] : hash_root(sample->kind);

	while (at-- > max_path - size) {
		recent->frames[at] = *--frame;
		hash = recent->hashes[at] = hash_extend(hash, *frame);
		if (at - (max_path - size) < PREFETCHED)
			cct_index_prefetch(hmb, recent_key(recent, at));
	}
	recent->kind = sample->kind;
	recent->size = size;
}

static uint32_t add_node(struct hmb *hmb, const struct hmb_sample *sample, uint32_t parent,
                         struct cct_key key)
{
	struct node node = {
		.frame = key.frame & (((uint64_t)1 << NODE_FRAME_BITS) - 1),
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

/*
 * Whether so many samples are stored that half of them still make a profile, and may go for the
 * sake of call paths: 2048, or 1024 for each MiB of a larger budget. The lowest levels hold half of
 * all.
 */
static bool has_many_samples(const struct hmb *hmb)
{
	const uint64_t enough = hmb->arena.limit >> 11 > 1024 ? hmb->arena.limit >> 11 : 1024;
	uint64_t sum = 0;

	for (unsigned k = 0; k < hmb->nr_kinds; k++)
		if (hmb->kinds[k].config.content == HMB_SAMPLES)
			sum += hmb_stored_lowest(hmb, k);
	return sum >= enough;
}

/*
 * Returns the bytes that the tree may have: all but 64 KiB, but at least half of the budget and at
 * most three quarters.
 */
static size_t share_of_tree(const struct hmb *hmb)
{
	const size_t size = hmb->arena.limit;
	size_t rest = (size_t)64 << 10;

	if (rest > size / 2)
		rest = size / 2;
	return size - (rest > size / 4 ? rest : size / 4);
}

static bool is_full_above(const struct hmb *hmb, size_t limit)
{
	return hmb_context_bytes(hmb) >= limit && !has_many_samples(hmb);
}

/*
 * Tells whether the tree has no room for a node. Nodes of unknown paths are refused above the
 * tree's share. Copies of known nodes, which are few, may use an eighth of the budget more: a hot
 * path must not be cut because a phase of many paths filled the tree before.
 */
static bool no_room_for(const struct hmb *hmb, struct cct_key key)
{
	const size_t share = share_of_tree(hmb);

	return is_full_above(hmb, share) && (is_full_above(hmb, share + hmb->arena.limit / 8) ||
	                                     cct_index_find(hmb, key, 0) == NODE_NONE);
}

/*
 * Tells whether there is no room for more [truncated] nodes, which have a 32nd of the budget beyond
 * both shares. Then there is one for all paths.
 */
static bool folds_full(const struct hmb *hmb)
{
	const size_t size = hmb->arena.limit;

	return is_full_above(hmb, share_of_tree(hmb) + size / 8 + size / 32);
}

static uint32_t fold(struct hmb *hmb, const struct hmb_sample *sample, uint32_t parent,
                     uint64_t hash)
{
	uint64_t frame = hmb->cct.truncated_frame;
	struct cct_key key = key_of(hash_extend(hash, frame), frame);
	uint32_t node = cct_index_find(hmb, key, sample->level);

	if (node == NODE_NONE && parent != NODE_NONE && folds_full(hmb))
		return fold(hmb, sample, NODE_NONE, hash_root(sample->kind));
	hmb->truncated++;
	return node != NODE_NONE ? node : add_node(hmb, sample, parent, key);
}

/* Goes up to the deepest node of a sufficient level, then down again, adding missing nodes. */
static uint32_t walk(struct hmb *hmb, const struct hmb_sample *sample,
                     const struct cct_recent *recent)
{
	unsigned end = hmb->cct.max_path, start = end - recent->size, at;
	uint64_t hash = hash_root(sample->kind);
	uint32_t node = NODE_NONE;

	for (at = start; at < end && node == NODE_NONE; at++)
		node = cct_index_find(hmb, recent_key(recent, at), sample->level);
	if (node != NODE_NONE)
		hash = recent->hashes[--at];
	while (at-- > start) {
		struct cct_key key = recent_key(recent, at);

		if (no_room_for(hmb, key))
			return fold(hmb, sample, node, hash);
		node = add_node(hmb, sample, node, key);
		if (node == NODE_NONE)
			return NODE_NONE;
		hash = recent->hashes[at];
	}
	return recent->size < sample->path_size ? fold(hmb, sample, node, hash) : node;
}

/* Apart, so that the way of a stack that is the last one again stays short. */
__attribute__((noinline)) static uint32_t
intern_other(struct hmb *hmb, const struct hmb_sample *sample, struct cct_recent *recent)
{
	hash_path(hmb, recent, sample);
	return recent->node = walk(hmb, sample, recent);
}

uint32_t cct_intern(struct hmb *hmb, const struct hmb_sample *sample)
{
	struct cct *cct = &hmb->cct;
	/* Kinds take their own places, for their hashes start differently. */
	struct cct_recent *recent =
		&cct->recent[(sample->cpu * 3 + sample->kind) % CCT_RECENT_PATHS];
	unsigned innermost = cct->max_path - recent->size;

	if (!sample->path_size)
		return NODE_NONE;
	if (same_path(recent, sample, cct->max_path) &&
	    cct_node_is(hmb, recent->node, recent_key(recent, innermost), sample->level))
		return recent->node;
	return intern_other(hmb, sample, recent);
}

void cct_tidy(struct hmb *hmb)
{
	const struct cct_index *index = &hmb->cct.index;

	if (hmb->cct.nr_nodes < (uint64_t)index->nr_pages * index->page_slots / 4)
		cct_index_shrink(hmb);
}
