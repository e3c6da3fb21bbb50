/* How a profile is made; for the files profile*.c alone. */
#ifndef OUTPUT_PROFILE_BUILD_H
#define OUTPUT_PROFILE_BUILD_H

#include "output/error_bars.h"
#include "output/node_table.h"
#include "output/profile.h"

#define CHAIN_SIZE (1 << 13) /* the deepest stack: a file may pretend that one is endless */

/* The search for a sample's node before its turn. PROFILE_NONE stands for what is not known. */
struct errand {
	uint32_t node;         /* where it ends */
	uint32_t number;       /* of its context */
	uint32_t parent, name; /* where a new part of the path would begin */
	uint32_t hash;         /* of these */
	uint32_t near;         /* the node that may be there */
	bool whole;            /* it would be the leaf */
	bool wanted;           /* the caller says whether the sample counts */
};

#define PROFILE_MAX_NR 0x3fffffff

/* Sums by node and class: nodes know their first one, and most have no more. */
struct sum_table {
	struct profile_sum *sums;
	uint32_t nr, room;
	struct node_table more;
};

struct builder {
	struct profile *profile;
	uint32_t classes_room, rows_room, nodes_room;
	struct node_table children, rows, classes; /* rows: by class and name */
	struct sum_table sums;
	uint32_t *context_nodes;                                 /* by trace_node_number(): + 1 */
	uint32_t last_thread, last_cpu, last_memory, last_class; /* the last sample's */
	uint32_t *places; /* where the latest sample with a place led: node + 1, see trace_sample */
	uint32_t nr_places;
	bool one_class; /* all samples are of the same */
	bool by_caller; /* nodes: the way to a sample makes a difference */
	struct error_bars bars;
	uint64_t *by_thread; /* weights */
	/* What stands for threads and their processes, see processes.h; NULL: not asked for. */
	uint32_t *process_of, *thread_of;
	uint32_t nr_threads;
	uint32_t lowest; /* level that was kept in the end */
	struct chain_link {
		uint64_t frame;
		uint32_t context;
	} * chain; /* on the way up */
};

/* Finds what stands for threads and processes. 0 or -ENOMEM. */
int builder_init_classes(struct builder *builder);
/* The class of a sample; PROFILE_NONE: no memory. */
uint32_t builder_class(struct builder *builder, const struct trace_sample *sample);

/* Adds all samples of the event that count. 0, -ENOMEM, -EBADMSG. */
int builder_add_samples(struct builder *builder);

/* The node of a sample's stack; PROFILE_NONE: no memory. known: the node, or PROFILE_NONE. */
uint32_t builder_leaf(struct builder *builder, const struct trace_sample *sample, uint32_t known);
/* For a sample that does not count. */
void builder_pass(struct builder *builder, const struct trace_sample *sample);

/*
 * Asks for the memory that builder_leaf() will need for the samples, whose turns come next in this
 * order, and finds the nodes that are there already.
 */
void builder_look_ahead(struct builder *builder, const struct trace_sample *samples, unsigned nr,
                        struct errand *errands);

static inline uint32_t *builder_place(const struct builder *builder,
                                      const struct trace_sample *sample)
{
	return sample->place < builder->nr_places ? &builder->places[sample->place] : NULL;
}

/* The node of a context by its trace_node_number(); PROFILE_NONE: it has none yet. */
static inline uint32_t builder_known_context(const struct builder *builder, uint32_t number)
{
	return number == UINT32_MAX ? PROFILE_NONE : builder->context_nodes[number] - 1;
}

/* Zeroed, and made for look-ups here and there; to be freed. NULL: no memory. */
void *memory_new(size_t nr, size_t size);
/* Doubles an array that is full; returns the number of a new zeroed entry, or PROFILE_NONE. */
uint32_t memory_add(void **entries, uint32_t *nr, uint32_t *room, size_t size);

/* Room for so many nodes, as far as it can be had: without, it grows. */
void builder_reserve_nodes(struct builder *builder, uint64_t nr);

/* All of these: PROFILE_NONE: no memory. The root is the first node. */
uint32_t builder_add_root(struct builder *builder);
uint32_t builder_add_class(struct builder *builder);
uint32_t builder_add_row(struct builder *builder, uint32_t class, uint32_t name);
/* The row of a name in a class, new where there is none yet. */
uint32_t builder_row(struct builder *builder, uint32_t class, uint32_t name);
/* The node of a name below a parent, likewise. */
uint32_t builder_child(struct builder *builder, uint32_t parent, uint32_t name);

/* Asks for the memory that sum_table_guess() will need. */
void sum_table_prefetch(const struct sum_table *table, uint32_t node, uint32_t class);
/* What probably is the sum of a node and a class, or PROFILE_NONE; asks for its memory. */
uint32_t sum_table_guess(const struct sum_table *table, const struct profile_node *nodes,
                         uint32_t node, uint32_t class);
/* The number of the sum of a node and a class; PROFILE_NONE: there is none yet. */
uint32_t sum_table_find(const struct sum_table *table, const struct profile_node *nodes,
                        const struct profile_row *rows, uint32_t node, uint32_t class,
                        uint32_t guess);
/* A new one, for the class of a row; PROFILE_NONE: no memory. */
uint32_t sum_table_add(struct sum_table *table, struct profile_node *nodes,
                       const struct profile_row *rows, uint32_t node, uint32_t row);
/* Adds to that of a node and the class of a row, be it a new one; its number, or PROFILE_NONE. */
uint32_t sum_table_weigh(struct sum_table *table, struct profile_node *nodes,
                         const struct profile_row *rows, uint32_t node, uint32_t row,
                         uint64_t weight);
/* Lets a profile have them, and nodes know of none. */
void sum_table_give(struct sum_table *table, struct profile *profile);
void sum_table_fini(struct sum_table *table);

/* Finds the factors: before the samples are added. 0 or a negative errno. */
int builder_scale(struct builder *builder);
/* Adds rows for what the kernel counted and no sample stands for: after all samples. Likewise. */
int builder_add_unsampled(struct builder *builder);

/*
 * A bucket of a row began anew at 0: most rows have few samples, and little room to count them. 0
 * or -ENOMEM.
 */
int profile_carry(struct profile *profile, uint32_t row, unsigned bucket);

/* Adds up what is below every node; parents come before their children. */
void profile_sum_nodes(struct profile_node *nodes, uint32_t nr);
/* Lets sums that are of one class alone be what nodes have. 0 or -ENOMEM. */
int profile_settle_sums(struct profile *profile);

/*
 * Adds what was counted with a sample: to the sum or node of that number, and a row. goes_on: the
 * row has the stream's sample before it, too. 0 or -ENOMEM.
 */
int profile_count(struct profile *profile, const struct trace_sample *sample, uint32_t number,
                  uint32_t row, bool goes_on);
/* Adds what was counted in an entry to the self of another; NULL: nothing. 0 or -ENOMEM. */
int profile_count_more(struct profile_count_table *table, uint32_t number,
                       const struct profile_counts *counts);
/* Adds up what was counted below every node of a tree. 0 or -ENOMEM. */
int profile_sum_counts(struct profile_count_table *table, const struct profile_node *nodes,
                       uint32_t nr);
/* Lets nodes weigh what was counted in them, if the profile's weights are those of a counter. */
void profile_weigh_nodes(const struct profile *profile, struct profile_node *nodes, uint32_t nr,
                         const struct profile_count_table *counts);

#endif
