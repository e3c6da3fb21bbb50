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
#include "trace/part.h"

#define PATH_NONE     UINT32_MAX
#define PATH_MAX_NAME 0x7fffffff
#define PATH_BATCH    64

struct path_node {
	uint32_t parent;    /* PATH_NONE: the root */
	uint32_t name : 31; /* of the function */
	uint32_t wide : 1;  /* while samples are added: has many children */
	union {
		uint64_t total; /* for who adds up, when the tree is settled */
		struct path_links {
			uint32_t child, sibling; /* 0: none */
		} links;                         /* while samples are added */
	};
};

struct path_tree {
	struct frame_names *names;
	struct path_node *nodes;
	uint64_t *self; /* of each node, for who adds up: 0 to begin with */
	uint32_t nr, room, nr_self, self_room;
	bool with_self;
	bool flat;                  /* callers make no difference: all are below the root */
	bool whole;                 /* what was inlined has its nodes however deep it is */
	struct node_table children; /* of nodes that are wide */
	uint32_t *context_nodes;    /* by trace_node_number(): + 1 */
	uint32_t *places; /* where the latest sample with a place led: node + 1, see trace_sample */
	uint32_t nr_places;
	struct chain_link *chain; /* on the way up */
};

/* The names are asked for all frames. 0 or -ENOMEM; to be given to path_tree_fini() either way. */
int path_tree_init(struct path_tree *tree, struct frame_names *names, bool with_self);
/* Frees what nodes are found by, when all have been: they can be looked at as before. */
void path_tree_settle(struct path_tree *tree);
void path_tree_fini(struct path_tree *tree);

/* All samples of a walk with so many places come next, in its order. 0 or -ENOMEM. */
int path_tree_use_places(struct path_tree *tree, uint32_t nr);

/*
 * Finds the nodes of up to PATH_BATCH samples, of which those of a part are wanted (NULL: all); of
 * others it is PATH_NONE. Large trees are all over memory, and so samples wait for it together. 0
 * or -ENOMEM.
 */
int path_tree_find(struct path_tree *tree, const struct trace_sample *samples, unsigned nr,
                   const struct part *part, uint32_t *nodes);

#endif
