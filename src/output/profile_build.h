/* How a profile is made; for the files profile*.c alone. */
#ifndef OUTPUT_PROFILE_BUILD_H
#define OUTPUT_PROFILE_BUILD_H

#include "output/profile.h"

#define CHAIN_SIZE (1 << 13) /* the deepest stack: a file may pretend that one is endless */

/* Where the latest sample with a place led, see struct trace_sample. */
struct known_place {
	uint32_t class;
	uint32_t node; /* + 1; 0: not known */
};

/* The search for a sample's node before its turn. PROFILE_NONE stands for what is not known. */
struct errand {
	uint32_t node;        /* where it ends */
	uint32_t number;      /* of its context */
	uint32_t parent, row; /* where a new part of the path would begin */
	uint32_t hash;        /* of these */
	uint32_t near;        /* the node that may be there */
	bool whole;           /* it would be the leaf */
	bool wanted;          /* the caller says whether the sample counts */
};

/* Nodes by their parents and names, by open addressing. */
struct node_slot {
	uint32_t node; /* + 1; 0: free */
	uint32_t hash;
};

struct node_table {
	struct node_slot *slots;
	uint32_t nr;
	unsigned shift;
};

/* The latest sample of a stream: its row is open until the next one tells. */
struct profile_stream {
	uint32_t row; /* + 1; 0: none yet */
	uint64_t weight;
};

struct builder {
	struct profile *profile;
	uint32_t rooms[4];                   /* of classes, rows, nodes and first_rows */
	uint32_t *first_rows, nr_first_rows; /* of the first class, by name: + 1; 0: none */
	struct map64 class_by_key, row_by_key;
	struct node_table children;
	struct map64 who_by_pair;        /* numbers of (process, command) */
	struct map64 who_by_memory;      /* of these or a thread, and a class of accesses */
	uint32_t *context_nodes;         /* of the first class, by trace_node_number(): + 1 */
	struct map64 more_context_nodes; /* of all others */
	uint32_t last_memory;
	uint32_t last_thread, last_cpu, last_class; /* most samples are of the class of the last */
	struct known_place *places;
	uint32_t nr_places;
	bool one_class; /* all samples are of the same */
	bool by_cpu;    /* streams */
	bool by_caller; /* nodes: the way to a sample makes a difference */
	struct profile_stream *streams;
	uint64_t *by_thread; /* weights */
	/* For each thread what stands for its process, or for it itself; NULL: not asked for. */
	uint32_t *process_of, *thread_of;
	uint32_t nr_streams, nr_threads;
	uint32_t lowest; /* level that was kept in the end */
	struct chain_link {
		uint64_t frame;
		uint32_t context;
	} * chain; /* on the way up */
};

/*
 * The tree's node of a sample's stack in its class; PROFILE_NONE: no memory. known: the node, or
 * PROFILE_NONE.
 */
uint32_t builder_leaf(struct builder *builder, uint32_t class, const struct trace_sample *sample,
                      uint32_t known);
/* For a sample that does not count. */
void builder_pass(struct builder *builder, const struct trace_sample *sample);

/*
 * Asks for the memory that builder_leaf() will need for the samples, whose turns come next in this
 * order, and finds the nodes that are there already; in the first class, which is the only one as a
 * rule.
 */
void builder_look_ahead(struct builder *builder, const struct trace_sample *samples, unsigned nr,
                        struct errand *errands);

static inline struct known_place *builder_place(const struct builder *builder,
                                                const struct trace_sample *sample)
{
	return sample->place < builder->nr_places ? &builder->places[sample->place] : NULL;
}

/*
 * The node of a context in the first class, by the context's trace_node_number(); PROFILE_NONE: it
 * has none yet.
 */
static inline uint32_t builder_known_context(const struct builder *builder, uint32_t number)
{
	return number == UINT32_MAX ? PROFILE_NONE : builder->context_nodes[number] - 1;
}

/* Zeroed, and made for look-ups here and there; to be freed. NULL: no memory. */
void *memory_new(size_t nr, size_t size);

/* Room for so many nodes, as far as it can be had: without, it grows. */
void builder_reserve_nodes(struct builder *builder, uint64_t nr);

/* A new class with the root of its tree; the row of a name in a class. PROFILE_NONE: no memory. */
uint32_t builder_add_class(struct builder *builder);
uint32_t builder_row(struct builder *builder, uint32_t class, uint32_t name);
/* Of the first class, if there is one already; else PROFILE_NONE. */
static inline uint32_t builder_known_row(const struct builder *builder, uint32_t name)
{
	return name < builder->nr_first_rows ? builder->first_rows[name] - 1 : PROFILE_NONE;
}

/* The node of a name below a parent, new where there is none yet; PROFILE_NONE: no memory. */
uint32_t builder_child(struct builder *builder, uint32_t class, uint32_t parent, uint32_t name);

/* Finds the factors: before the samples are added. 0 or a negative errno. */
int builder_scale(struct builder *builder);
/* Adds rows for what the kernel counted and no sample stands for: after all samples. Likewise. */
int builder_add_unsampled(struct builder *builder);

/* Adds up what is below every node, and with it the rows' totals. 0 or -ENOMEM. */
int profile_sum(struct profile *profile);

/* Adds what was counted with a sample that belongs to a node. 0 or -ENOMEM. */
int profile_count(struct profile *profile, const struct trace_sample *sample, uint32_t node);
/* Adds to an entry of its self and of its total, from others; NULL: nothing. 0 or -ENOMEM. */
int profile_count_more(struct profile_count_table *table, uint32_t number,
                       const struct profile_counts *self, const struct profile_counts *total);
/* Adds up what was counted below every node of a tree. 0 or -ENOMEM. */
int profile_sum_tree(struct profile_count_table *table, const struct profile_node *nodes,
                     uint32_t nr);
/* profile_sum() for what was counted. 0 or -ENOMEM. */
int profile_sum_counts(struct profile *profile);

#endif
