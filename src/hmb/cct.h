/*
 * The leveled calling-context tree: every distinct path of callers is stored once, as nodes that
 * name a frame and their caller's node, in the bins of the buffer.
 *
 * A node's level is that of the bin it lies in, and is at least the level of every sample below it,
 * so a parent never leaves before its child. When a sample of a higher level arrives at a known
 * path, the nodes that lie too low are *copied* into the bins of that level, and the index points
 * to the copies from then on; older records keep the old nodes, which leave with their level:
 *
 *     a sample at main → f → g, level 0    level 0: main f g
 *     the same path, level 3               level 0: main f g      level 3: main' f' g'
 *     level 0 is closed                                           level 3: main' f' g'
 *
 * The index is an extendible hash table (Fagin, Nievergelt, Pippenger and Strong, 1979) whose pages
 * are bins. It maps a hash of the whole path to the path's newest node. An entry is only a node
 * number, with bits of the tag where 32 bits leave room, and is believed only if a live node with
 * that frame and 48-bit tag stands there: entries of nodes that left need no clean-up.
 *
 * Tree and samples share the budget as they come, and a reduction gives room back to both. But
 * where few samples are left and tree and index hold half of the budget (three quarters if the
 * budget is 256 KiB or more), paths that are not known yet end in a visible child [truncated] of
 * their deepest known ancestor: a program whose every sample has a path of its own would leave no
 * profile else. Copies of known paths have an eighth of the budget more.
 */
#ifndef HMB_CCT_H
#define HMB_CCT_H

#include "hmb/arena.h"

struct hmb;
struct hmb_sample;

#define CCT_RECENT_PATHS 8

/*
 * A recent path: most stacks are those of the sample before, or differ in their inner frames alone.
 * Both arrays have max_path entries and are filled from the end, so that the roots of all paths
 * stand in one place.
 */
struct cct_recent {
	unsigned kind, size;
	uint32_t node;    /* where the path ended; to be checked; NODE_NONE: not known */
	uint64_t *frames; /* innermost first */
	uint64_t *hashes; /* hashes[i] covers frames[i … max_path - 1] */
};

struct cct {
	unsigned max_path;
	uint64_t truncated_frame;
	uint64_t nr_nodes; /* live */
	struct cct_index {
		uint32_t *pages; /* the directory: 1 << depth bin references; NULL: no page yet */
		unsigned depth, max_depth;
		uint32_t nr_pages, page_slots;
		unsigned node_bits; /* of an entry; above them stand the lowest of the tag */
		uint32_t tidy_at;   /* where in the directory upkeep goes on */
		uint32_t *scratch;  /* page_slots entries */
	} index;
	struct cct_recent recent[CCT_RECENT_PATHS];
};

/* struct hmb_config explains max_path and truncated_frame. Returns 0 or -ENOMEM. */
int cct_init(struct cct *cct, const struct arena *arena, unsigned max_path,
             uint64_t truncated_frame);
void cct_fini(struct cct *cct);

/*
 * The node of a sample's path, made or copied where needed, at the sample's level or above.
 * NODE_NONE for an empty path, and where making room closed the sample's level.
 */
uint32_t cct_intern(struct hmb *hmb, const struct hmb_sample *sample);

/* Removes the index of a tree that has no nodes. */
void cct_clear(struct hmb *hmb);

/* Does a bounded part of the upkeep: gives a page of the index back if the tree has shrunk. */
void cct_tidy(struct hmb *hmb);

#endif
