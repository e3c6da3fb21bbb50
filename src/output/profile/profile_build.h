/* How a profile is made; for the files profile*.c alone. */
#ifndef OUTPUT_PROFILE_PROFILE_BUILD_H
#define OUTPUT_PROFILE_PROFILE_BUILD_H

#include "output/profile/error_bars.h"
#include "output/profile/profile.h"

/*
 * Sums by node and subset. The number of a node's first one, + 1, is kept apart from them, by node
 * (0: none), for most have no more.
 */
struct sum_table {
	struct profile_sum *sums;
	uint32_t nr, room;
	struct hash_slots more;
};

struct builder {
	struct profile *profile;
	struct path_tree tree;
	uint32_t subsets_room, rows_room;
	struct hash_slots rows, subsets; /* rows: by subset and name */
	struct sum_table sums;
	uint32_t last_thread, last_cpu, last_memory, last_subset; /* the last sample's */
	bool one_subset;                                          /* all samples are of the same */
	struct error_bars bars;
	struct tick_sizes tick_sizes;
	uint64_t *by_thread; /* weights */
	/*
	 * The representatives of threads and processes, see processes.h; NULL: they are not needed.
	 */
	uint32_t *process_of, *thread_of;
	uint32_t nr_threads;
	uint32_t lowest; /* level that was kept in the end */
};

/* Finds what stands for threads and processes. 0 or -ENOMEM. */
int builder_init_subsets(struct builder *builder);
/* The subset of a sample; PROFILE_NONE: no memory. */
uint32_t builder_subset(struct builder *builder, const struct trace_sample *sample);

/* Adds all samples of the event that count. 0, -ENOMEM, -EBADMSG. */
int builder_add_samples(struct builder *builder);

/* All of these: PROFILE_NONE: no memory. */
uint32_t builder_add_subset(struct builder *builder);
uint32_t builder_add_row(struct builder *builder, uint32_t subset, uint32_t name);
/* The row of a name in a subset, new where there is none yet. */
uint32_t builder_row(struct builder *builder, uint32_t subset, uint32_t name);

/* Asks for the memory that sum_table_guess() will need. */
void sum_table_prefetch(const struct sum_table *table, uint32_t node, uint32_t subset);
/*
 * Returns the probable number of the sum of a node and a subset, or PROFILE_NONE, and prefetches
 * the sum.
 */
uint32_t sum_table_guess(const struct sum_table *table, const uint64_t *firsts, uint32_t node,
                         uint32_t subset);
/* The number of the sum of a node and a subset; PROFILE_NONE: there is none yet. */
uint32_t sum_table_find(const struct sum_table *table, const uint64_t *firsts,
                        const struct profile_row *rows, uint32_t node, uint32_t subset,
                        uint32_t guess);
/* A new one, for the subset of a row; PROFILE_NONE: no memory. */
uint32_t sum_table_add(struct sum_table *table, uint64_t *firsts, const struct profile_row *rows,
                       uint32_t node, uint32_t row);
/* Adds to that of a node and the subset of a row, be it a new one; its number, or PROFILE_NONE. */
uint32_t sum_table_weigh(struct sum_table *table, uint64_t *firsts, const struct profile_row *rows,
                         uint32_t node, uint32_t row, uint64_t weight);
/* Lets a profile have them, whose own `self` knew the first ones, and knows none then. */
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
void profile_sum_nodes(struct path_node *nodes, const uint64_t *self, uint32_t nr);
/* Lets sums that are of one subset alone be what nodes have. 0 or -ENOMEM. */
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
int profile_sum_counts(struct profile_count_table *table, const struct path_node *nodes,
                       uint32_t nr);
/* Lets nodes weigh what was counted in them, if the profile's weights are those of a counter. */
void profile_weigh_nodes(const struct profile *profile, struct path_node *nodes, uint64_t *self,
                         uint32_t nr, const struct profile_count_table *counts);

#endif
