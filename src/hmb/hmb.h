/*
 * The hierarchical memory buffer: any run in one piece of memory of fixed size.
 *
 * Records are sorted on arrival by kind (samples of one event, or instrumentation events) and by
 * level (λ of the sample's ordinal, see lambda.h), into lists of bins (see arena.h). When a bin is
 * needed and none is free, the lowest level of the kind that holds most bytes is closed:
 *
 *     before                                     after close(0)             floor 0 → 1
 *     level 0  [■■■■][■■■■][■■■■][■■■ ]          level 0  closed
 *     level 1  [■■■■][■■■ ]                      level 1  [■■■■][■■■ ]
 *     level 2  [■■  ]                            level 2  [■■  ]
 *     level 3  [■   ]                            level 3  [■   ]
 *     free                                       free     [    ][    ][    ][    ]
 *
 * in constant time. Samples that still arrive below the floor are discarded, so what is stored is
 * at every moment what the slower sampling would have stored from the start.
 *
 * The calling-context tree lives in the same bins (see cct.h): a node lies in a bin of the level of
 * the highest sample below it, and leaves with that level.
 *
 * A kind can be cleared: all its lists are spliced at once, its floor falls to 0, and its counts
 * start again. The ledger keeps the number that the arena had given to bins until then, by which
 * everybody recognises the kind's bins of before as dead. A kind can also be added at any time.
 *
 * Always: taken == stored + reduced for every kind. Whole bins in lists, index pages, carved and
 * free add up to the arena. Every stored record's context resolves, and every live node is on the
 * path of a stored record.
 *
 * Nothing here allocates per sample, and putting a sample never fails; but of a level whose coding
 * finds no memory of its own all are discarded, as if it were closed. One thread uses a buffer.
 */
#ifndef HMB_HMB_H
#define HMB_HMB_H

#include "hmb/cct.h"
#include "hmb/lambda.h"

struct call;
struct call_encoder;
struct call_requests;
struct code_encoder;
struct counter_scale;

enum hmb_content {
	HMB_SAMPLES, /* coded samples with calling contexts, hmb_put() */
	HMB_CALLS,   /* coded calls of instrumentation, hmb_put_call() */
};

enum hmb_cause {
	HMB_CAUSE_MEMORY,   /* no bin was free */
	HMB_CAUSE_OVERHEAD, /* sampling cost more than allowed */
	HMB_CAUSE_SHARE, /* no bin was free, and instrumentation events had more than their share */
};

struct hmb_kind_config {
	enum hmb_content content;
	unsigned nr_counters;           /* HMB_SAMPLES: totals that every sample has; 0: none */
	enum stream_owner stream_owner; /* HMB_SAMPLES */
	unsigned time_shift;            /* times are stored in units of 1 << time_shift ns */
	/*
	 * Bytes; 0: unlimited. Once memory is short, a kind that has more than its share is the
	 * first victim. A kind with a share is never one below it.
	 */
	size_t share;
	/*
	 * Kinds with the same number have one share together, and the largest of them is the
	 * victim. 0: a share of its own.
	 */
	unsigned pool;
	bool by_level; /* it loses its lowest level then, else all its records for good */
};

struct hmb_config {
	void *memory; /* zeroed, page-aligned, kept by the caller for the buffer's whole life */
	size_t size;
	arena_reserve_fn *reserve;        /* NULL: all of the memory is usable */
	arena_page_fn *release, *restore; /* see struct arena */
	void *reserve_arg;
	struct hmb_ledger *ledger; /* zeroed, kept by the caller likewise; NULL: private */
	unsigned nr_kinds;
	struct hmb_kind_config kinds[HMB_MAX_KINDS];
	unsigned max_path;        /* the longest path a sample may have */
	uint64_t truncated_frame; /* stands for callees that found no room in the tree */
};

struct hmb_sample {
	unsigned kind, level;
	uint64_t time; /* ns */
	uint64_t step; /* ns from sample to sample of this level in this stream; 0: unknown */
	uint32_t thread, cpu;
	uint64_t leaf;        /* of a frame 48 bits count */
	const uint64_t *path; /* the callers' frames, innermost first */
	unsigned path_size;   /* above max_path: its outermost frames and truncated_frame stay */
	const uint64_t *counters; /* the running totals of its stream, where the kind has any */
};

/* A level that was closed. */
struct hmb_reduction {
	uint64_t time; /* of the sample that needed room, ns */
	uint32_t kind;
	uint32_t cause; /* enum hmb_cause */
	uint32_t floor; /* the kind's lowest open level since then */
	uint32_t bins;  /* given back, sub-bins included */
};

#define HMB_MAX_REDUCTIONS (HMB_MAX_KINDS * NR_LEVELS)

/*
 * The data that is needed to interpret the bins. It and the arena must outlive a killed recorder.
 */
struct hmb_ledger {
	uint32_t nr_kinds;             /* one more than the highest number of a kind */
	uint32_t nr_reductions;        /* levels closed so far; clearing does not subtract any */
	uint32_t nr_bins;              /* of the arena, that were ever taken */
	uint32_t floor[HMB_MAX_KINDS]; /* lowest open level; NR_LEVELS: all are closed */
	/* Sequence of the arena when the kind was cleared last: bins up to this one are dead. */
	uint32_t since[HMB_MAX_KINDS];
	uint32_t cleared; /* the largest of these */
	/* Since then: taken == stored + reduced. */
	uint64_t taken[HMB_MAX_KINDS], reduced[HMB_MAX_KINDS];
	/* How the levels below the floor were closed, and their order. The rest is not in use. */
	struct hmb_reduction reductions[HMB_MAX_KINDS][NR_LEVELS];
	uint32_t order[HMB_MAX_KINDS][NR_LEVELS];
};

/*
 * Tells whether a bin of the arena holds records of a kind that are stored: its level is open, and
 * it was taken after the kind was cleared last.
 */
static inline bool hmb_ledger_has(const struct hmb_ledger *ledger, const struct bin *bin)
{
	return bin->kind < ledger->nr_kinds && bin->level < NR_LEVELS &&
	       bin->level >= ledger->floor[bin->kind] && bin->sequence > ledger->since[bin->kind];
}

/* Collects the reductions since the kinds were cleared, in their order. Returns their number. */
uint32_t hmb_reductions(const struct hmb_ledger *ledger,
                        struct hmb_reduction to[HMB_MAX_REDUCTIONS]);

#define HMB_MAX_SPARE 32

struct hmb_level {
	struct bin_list bins, sub_bins;
	uint32_t nr_bins, nr_sub_bins;
	struct bin *open;   /* the bin that is being filled; NULL: none yet */
	uint32_t full;      /* from as many bytes on, the next record must take the long way */
	uint64_t nr_before; /* records of the bins before it, less those that another continues */
	uint64_t nr_nodes;
	union {                               /* made with the first bin */
		struct code_encoder *encoder; /* HMB_SAMPLES */
		struct call_encoder *calls;   /* HMB_CALLS */
	};
};

struct hmb_kind {
	struct hmb_kind_config config;
	bool used;                   /* else it is empty, and nothing is put into it */
	uint64_t bytes;              /* of its bins */
	struct counter_scale *scale; /* with counters */
	struct hmb_level levels[NR_LEVELS];
};

struct hmb {
	struct arena arena;
	struct cct cct;
	unsigned nr_kinds; /* all that are used have lower numbers */
	struct hmb_kind kinds[HMB_MAX_KINDS];
	struct hmb_ledger *ledger, *own_ledger;
	/* Encoders of levels that were closed, by enum hmb_content; each is used again. */
	struct hmb_spare {
		void *encoders[HMB_MAX_SPARE];
		unsigned nr;
	} spare[2];
	uint64_t truncated; /* samples whose context was cut for want of room in the tree */
};

/* NULL with errno: EINVAL for sizes and counts out of range, ENOMEM. */
struct hmb *hmb_new(const struct hmb_config *config);
void hmb_free(struct hmb *hmb);

/*
 * Stores a sample, or discards it because its level is closed. Room is made where needed. Returns
 * whether it was stored.
 */
bool hmb_put(struct hmb *hmb, const struct hmb_sample *sample);

/* The same for one whose node cct_intern() gave, when its level was open. */
bool hmb_put_at(struct hmb *hmb, const struct hmb_sample *sample, uint32_t context);

/*
 * The same for a call of an HMB_CALLS kind, in as many records as its parts need: all of them are
 * of its level, and leave together. A call is one in all counts.
 */
bool hmb_put_call(struct hmb *hmb, unsigned kind, unsigned level, const struct call *call);

struct call_run;

/*
 * Begins a run of calls of one thread on one level, to be ended before anything else is done with
 * the buffer. false: put a call alone first. See call_run_begin().
 */
bool hmb_begin_run(struct hmb *hmb, unsigned kind, unsigned level, struct call_run *run,
                   uint32_t thread, uint64_t time, const struct call_requests *requests);
void hmb_end_run(struct hmb *hmb, unsigned kind, const struct call_run *run);

/* Closes the kind's lowest open level for a reason of the caller's. */
void hmb_close_lowest(struct hmb *hmb, unsigned kind, uint64_t time, enum hmb_cause cause);

/*
 * Removes all records of the kind and opens all its levels: from then on it is as it was in a new
 * buffer. This takes a time that depends on the number of levels, not on that of records.
 */
void hmb_clear(struct hmb *hmb, unsigned kind);

/*
 * Adds an empty kind with the lowest number that is free, or with the highest one. Returns its
 * number; -ENOSPC: there are as many as there can be, -EINVAL, -ENOMEM.
 */
int hmb_add_kind(struct hmb *hmb, const struct hmb_kind_config *config);
int hmb_add_last_kind(struct hmb *hmb, const struct hmb_kind_config *config);
/* Gives back the memory in which records of the kind were coded. Further records take it anew. */
void hmb_rest(struct hmb *hmb, unsigned kind);

#define HMB_LEAST_BINS 16

/*
 * Limits the memory that bins may take from now on to `size` bytes, or less than one whole bin
 * fewer, but no more than the buffer had at first. Levels are closed until what is stored fits, and
 * shares become smaller or larger with the limit. 0, or -EINVAL: size is less than HMB_LEAST_BINS
 * bins.
 */
int hmb_set_limit(struct hmb *hmb, size_t size, uint64_t time);
/* The limit, which is the size at first. */
static inline size_t hmb_limit(const struct hmb *hmb)
{
	return hmb->arena.limit;
}
/* The least size that hmb_set_limit() takes. */
size_t hmb_least_limit(const struct hmb *hmb);

static inline unsigned hmb_floor(const struct hmb *hmb, unsigned kind)
{
	return hmb->ledger->floor[kind];
}

/* The number of stored samples, records or calls of a kind. */
uint64_t hmb_stored(const struct hmb *hmb, unsigned kind);
/* The number of them in the kind's lowest open level alone. */
uint64_t hmb_stored_lowest(const struct hmb *hmb, unsigned kind);
/*
 * The memory that bins may take, in bytes: whole bins of the budget, or less after memory was
 * refused.
 */
size_t hmb_size(const struct hmb *hmb);
/*
 * The memory that bins take, in bytes: whole bins that are not free. It never exceeds the budget.
 */
size_t hmb_used(const struct hmb *hmb);
/* The bytes of records alone. The function walks all bins. */
size_t hmb_record_bytes(const struct hmb *hmb);
/* The bytes of context tree nodes and their index. */
size_t hmb_context_bytes(const struct hmb *hmb);

/* Tells whether a bin of the arena holds samples that are stored. */
static inline bool hmb_bin_live(const struct hmb *hmb, const struct bin *bin)
{
	return bin->use == BIN_SAMPLES && hmb_ledger_has(hmb->ledger, bin);
}

/* For the parts of the buffer: another bin for this list, as hmb_room() below. */
struct bin *hmb_next_bin(struct hmb *hmb, unsigned kind, unsigned level, uint64_t time);

/*
 * A bin of this list with at least `room` bytes between records and nodes, for which levels may be
 * closed. NULL: this level was among them, or finds no memory to code records.
 */
static inline struct bin *hmb_room(struct hmb *hmb, unsigned kind, unsigned level, size_t room,
                                   uint64_t time)
{
	struct bin *bin = hmb->kinds[kind].levels[level].open;

	return bin && bin_room(bin) >= room ? bin : hmb_next_bin(hmb, kind, level, time);
}

/* A bin for the index, likewise. NULL: the level named was closed to get it. */
struct bin *hmb_take_index(struct hmb *hmb, unsigned kind, unsigned level, uint64_t time);

#endif
