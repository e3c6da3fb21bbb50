/*
 * A profile: the samples of one event added up, by function and by call path.
 *
 *     sample → subset (thread, command, CPU: as asked for)
 *            → node: a call path, in one tree for all subsets
 *            → sum: (node, subset)     what the subset spent there
 *            → row: (subset, name)     what it spent in the function itself
 *
 * So what only called is held once, however many subsets there are; the trees and totals of one
 * subset are made of its sums when they are looked at, see profile_trees.h.
 *
 * Weights are in the event's unit; a sample stands for its period times 2^floor of them.
 * Errors of rows: see error_bars.h.
 */
#ifndef OUTPUT_PROFILE_PROFILE_H
#define OUTPUT_PROFILE_PROFILE_H

#include "output/profile/path_tree.h"

enum profile_keys {
	PROFILE_BY_SYMBOL = FRAME_BY_SYMBOL,
	PROFILE_BY_MODULE = FRAME_BY_MODULE,
	PROFILE_BY_THREAD = 4,
	PROFILE_BY_COMM = 8,
	PROFILE_BY_CPU = 16,
	PROFILE_BY_FILE = FRAME_BY_FILE,
	PROFILE_BY_LINE = FRAME_BY_LINE,
	PROFILE_BY_PROCESS = 256,
	/* of memory accesses: ACCESS_BY_LEVEL and so on */
	PROFILE_BY_MEM = 512,
	PROFILE_BY_TLB = 1024,
	PROFILE_BY_SNOOP = 2048,
	PROFILE_BY_LATENCY = 4096,
	PROFILE_BY_OPERATION = 8192,
	PROFILE_INLINED = FRAME_INLINED, /* inlined functions have rows and nodes, too */
};

#define PROFILE_MEMORY_KEYS                                                        \
	(PROFILE_BY_MEM | PROFILE_BY_TLB | PROFILE_BY_SNOOP | PROFILE_BY_LATENCY | \
	 PROFILE_BY_OPERATION)

/* The keys that tell functions apart. */
#define PROFILE_NAME_KEYS \
	(PROFILE_BY_SYMBOL | PROFILE_BY_MODULE | PROFILE_BY_FILE | PROFILE_BY_LINE)

/* The keys that tell subsets apart. */
#define PROFILE_CLASS_KEYS                                                           \
	(PROFILE_BY_THREAD | PROFILE_BY_PROCESS | PROFILE_BY_COMM | PROFILE_BY_CPU | \
	 PROFILE_MEMORY_KEYS)

/* The fields of a class of memory accesses that such keys ask for. */
static inline unsigned profile_memory_fields(unsigned keys)
{
	return (keys & PROFILE_MEMORY_KEYS) / PROFILE_BY_MEM;
}

struct profile_config {
	uint32_t event;
	unsigned keys;                     /* enum profile_keys: what makes rows different */
	const struct selection *selection; /* the samples; NULL: all. As long as the profile */
	bool scale;         /* commands to their exact totals, where samples cover most of these */
	bool self_alone;    /* callers make no difference: rows of what only called are not made */
	bool sampled_alone; /* exact totals of commands make neither rows nor scales */
};

#define PROFILE_NONE UINT32_MAX
/*
 * Levels above the floor; the last takes all higher ones. In a recording in step they are levels of
 * the ticks, which are the same for all CPUs.
 */
#define PROFILE_NR_BUCKETS 8

struct profile_subset {
	uint32_t thread, cpu; /* PROFILE_NONE where they make no difference */
	uint32_t process;     /* the same: see processes.h */
	uint32_t comm;        /* string; 0 where it makes no difference */
	uint32_t memory;      /* access_class_part() of what is asked for; 0 the same */
	uint64_t weight;      /* of all its samples; in a view, of those in the tree */
};

struct profile_row {
	uint32_t subset, name; /* name: PROFILE_NONE: not sampled, see profile_unsampled */
	uint64_t self;
	uint64_t samples;
	double variance;                     /* of self */
	uint8_t buckets[PROFILE_NR_BUCKETS]; /* of samples; full ones are in profile.carried */
};

/* The weight of a subset in a node. */
struct profile_sum {
	uint32_t node;
	uint32_t row; /* one of the subset's: of the node's function, unless in a view */
	uint64_t self;
};

/* A command whose exact total is known, and is more than its samples stand for. */
struct profile_unsampled {
	uint32_t comm; /* string */
	uint32_t row;
	uint64_t sampled, exact;
	enum profile_why {
		PROFILE_UNSAMPLED,
		PROFILE_KERNEL,     /* was not sampled, and its time is in the total */
		PROFILE_IDLE,       /* CPUs: sampled is 0, exact what the kernel says */
		PROFILE_UNOBSERVED, /* by the kernel: sampled is 0, exact what was used meanwhile */
	} why;
};

static inline const char *profile_unsampled_name(const struct profile_unsampled *unsampled)
{
	static const char *const names[] = {"[unsampled]", "[kernel or unsampled]", "[idle]",
	                                    "[unobserved]"};

	return names[unsampled->why];
}

/* Returns the name of unsampled weight in all profiles of a trace. */
const char *profile_unsampled_in(const struct trace *trace);

/* Counts that were read with samples: first of their event, then of its counters. */
struct profile_counts {
	uint64_t self[COUNTER_MAX], total[COUNTER_MAX];
};

/* Counts by index of a row, node or sum; grows on demand, and stays empty without counters. */
struct profile_count_table {
	struct profile_counts *at;
	uint32_t room;
};

/* A command whose samples weigh as much together as its exact total. */
struct profile_scaled {
	uint32_t comm;           /* string */
	uint64_t sampled, exact; /* what they stand for by themselves */
};

struct profile {
	const struct trace *trace;
	struct profile_config config;
	struct frame_names names;
	struct profile_subset *subsets;
	struct profile_row *rows;
	struct path_node *nodes;
	uint64_t *self; /* by node: 0 where there are sums */
	/* In order of arrival. NULL: there is one subset, and the sums are those of the nodes. */
	struct profile_sum *sums;
	struct profile_unsampled *unsampled;
	struct profile_scaled *scaled;
	double *factors; /* of weights, by thread; NULL: all are 1 */
	uint32_t nr_subsets, nr_rows, nr_nodes, nr_sums, nr_unsampled, nr_scaled;
	struct profile_count_table row_counts, counts; /* counts: by sum, else by node */
	uint32_t weighed_by;           /* the counter that weights are of, + 1; 0: of the event */
	uint64_t counted[COUNTER_MAX]; /* in all rows */
	uint64_t between[COUNTER_MAX]; /* of that, where the stream's last sample was in another */
	uint64_t samples, sampled;     /* in all rows; sampled: weight, not scaled */
	uint64_t total;                /* weight, what was not sampled included */
	uint64_t idle;                 /* of that, of the CPUs' idle tasks */
	uint64_t max_weight;           /* of one sample */
	uint64_t latest;               /* time of the latest sample */
	uint64_t buckets[PROFILE_NR_BUCKETS]; /* samples in all rows */
	struct map64 carried; /* how often a bucket of a row overflowed, see profile_carry() */
	bool has_all;         /* every occurrence of the event is a sample */
	bool in_step;         /* all CPUs were sampled at the same instants */
	/* In step: the number of samples in the tick of a sample, on average over all samples. */
	double samples_in_tick;
};

/* NULL with errno: ENOMEM, EBADMSG where the trace's records make no sense. */
struct profile *profile_new(const struct trace *trace, const struct profile_config *config);
void profile_free(struct profile *profile);

/* Returns the weight that a sample adds to its row, scaled. */
static inline uint64_t profile_weight(const struct profile *profile,
                                      const struct trace_sample *sample)
{
	if (!profile->factors || sample->thread >= trace_nr(profile->trace, TRACE_THREADS))
		return sample->weight;
	return (uint64_t)((double)sample->weight * profile->factors[sample->thread] + 0.5);
}

/*
 * Makes a counter the weights of all rows and nodes, scaled where it had to share the hardware:
 * what was spent is what it counted. Errors and rows of what was not sampled are gone then.
 */
void profile_weigh_by(struct profile *profile, uint32_t counter);

/* Returns the counts of a row or node, and of all below a node; zeros where there are none. */
const struct profile_counts *profile_counts_of(const struct profile_count_table *table,
                                               uint32_t number);

/* Returns half the width of the 95 % interval of a row's self. */
double profile_error(const struct profile_row *row);
/*
 * Adds the variance of a row to that of a sum of rows. In a recording in step, rows of several
 * threads or modules may depend on each other: then it is the most that the sum's variance can be.
 */
void profile_add_variance(const struct profile *profile, double *sum, double variance);
/*
 * Returns the kernel's exact total for the samples, where it is known and is not yet in rows; else
 * 0.
 */
uint64_t profile_exact(const struct profile *profile);
/*
 * Returns the factor that makes weights add up to profile_exact(); 1 where samples cover too little
 * of it.
 */
double profile_exact_factor(const struct profile *profile);
/*
 * Returns the variance of a function without samples: it may have spent nearly as much as the
 * largest weight of one sample.
 */
double profile_unmet_variance(const struct profile *profile);

/*
 * Whether the levels, each of which samples the whole run evenly, tell different things of a row:
 * then the samples march in step with the program and neither weight nor error is to be believed.
 * Rows with few samples are never blamed.
 */
bool profile_in_lockstep(const struct profile *profile, const struct profile_row *row);

#endif
