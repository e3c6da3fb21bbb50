/*
 * A tree of call paths that samples are led through, each by its context and leaf:
 *
 *     main → a → b     nodes: root, main, a, b: a function's name, and its caller's node
 *
 * Nodes are numbered in order of appearance, so parents come before their children; the root, which
 * is no function, is 0. What was inlined at a frame is a node like any other, below that of where
 * it was inlined. A stack that does not reach its root in the file hangs below [truncated].
 */
#ifndef OUTPUT_PROFILE_PATH_TREE_H
#define OUTPUT_PROFILE_PATH_TREE_H

#include "output/profile/frame_names.h"
#include "base/hash_slots.h"
#include "trace/selection.h"

#define PATH_NONE     UINT32_MAX
#define PATH_MAX_NAME 0x7fffffff
#define PATH_BATCH    64

struct path_node {
	uint32_t parent;    /* PATH_NONE: the root */
	uint32_t name : 31; /* of the function */
	uint32_t wide : 1;  /* while samples are added: has many children */
	union {
		uint64_t total; /* in a settled tree: for callers that add up weights */
		struct path_links {
			uint32_t child, sibling; /* 0: none */
		} links;                         /* while samples are added */
	};
};

struct path_tree {
	struct frame_names *names;
	struct path_node *nodes;
	uint64_t *self; /* of each node, for callers that add up weights: 0 to begin with */
	uint32_t nr, room, nr_self, self_room;
	bool with_self;
	bool flat;                  /* callers are ignored: all nodes are below the root */
	bool whole;                 /* inlined functions have nodes at any depth */
	struct hash_slots children; /* of nodes that are wide */
	uint32_t *context_nodes;    /* by trace_node_number(): node + 1 */
	uint32_t *pairs; /* node + 1 of the latest sample with a pair, see trace_sample */
	uint32_t nr_pairs;
	struct chain_link *chain; /* on the way up */
};

struct path_tree_config {
	bool with_self; /* `self` is wanted */
	bool flat;      /* as in struct path_tree */
};

/*
 * Prepares a tree that finds the names of frames in `names`. Returns 0 or -ENOMEM; call
 * path_tree_fini() in either case.
 */
int path_tree_init(struct path_tree *tree, struct frame_names *names,
                   const struct path_tree_config *config);
/* Frees the lookup tables, after all samples were added. The nodes stay. */
void path_tree_settle(struct path_tree *tree);
void path_tree_fini(struct path_tree *tree);

/*
 * Announces that all samples of a walk come next, in its order, with `nr` different pairs. Returns
 * 0 or -ENOMEM.
 */
int path_tree_use_pairs(struct path_tree *tree, uint32_t nr);

/*
 * Finds the nodes of up to PATH_BATCH samples. A sample outside of the selection gets PATH_NONE
 * (selection NULL: all are inside). Batches are faster: large trees do not fit into caches, and the
 * samples of a batch wait for memory together. Returns 0 or -ENOMEM.
 */
int path_tree_find(struct path_tree *tree, const struct trace_sample *samples, unsigned nr,
                   const struct selection *selection, uint32_t *nodes);

#endif
