/*
 * The coding of samples inside a bin: a few bytes each, and every bin decodable without the records
 * of others.
 *
 * A sample is who (thread and CPU), when, and where (calling context and leaf address). Both sides
 * keep the same small model of the bin so far, and a record only says how reality differs:
 *
 *   who    The next stream (a CPU, or a thread where events are inherited) is expected to be the
 *          one that followed the present one last time, at first itself, and on that CPU the
 *          thread, or under that thread the CPU, that was there last time. Otherwise one byte names
 *          both, the *site of execution*.
 *   when   Counted in units of 2^time_shift ns. Samples of a level are expected one step (period ·
 *          2^(level+1)) after the last of the same stream, and not before the last of all.
 *   where  The (context, leaf) pairs get numbers in order of appearance, and so do contexts and
 *          leaves. Numbers below 240 take one byte; a pair or a context with a higher one that is
 *          met again changes places with one of these, each in turn. Contexts that have none come
 *          on two *trails*: nodes that were made for the samples of this bin, one soon after the
 *          other, and between them older ones, from anywhere, but often from *vicinities* of 256
 *          nodes where others came from. Leaves that have none mostly lie near the caller, whose
 *          frame the context's node tells, or in a *block* of 64 KiB where others lie.
 *
 *     record = [switch] control where
 *     control: 6 bits zigzag(time - expected), or time - that of the last record where the stream
 *              is overdue, r below 49; 49 … 59: r = 49 + (it - 49) · 256 + the next byte; 60, 61:
 *              r = 2865 + (it - 60) · 64 Ki + 2 more bytes; 62: 3 more bytes hold r - 2865; 63: a
 *              varint
 *              2 bits WHERE_PAIR: number of the pair | WHERE_CONTEXT: number of the context + 1,
 *              or 0: that of the last record; near | WHERE_RAW: context, leaf | WHERE_SWITCH: see
 *              below
 *     number:  one byte below 240, else 240 + high bits, low byte
 *     leaf:    a byte, below 32: number of a leaf that was written out before; 32 … 39: 32 + high
 *              bits, low byte of such a number; 40 … 119, 120 … 167: high bits, 1, 2 bytes of
 *              zigzag(leaf - frame of the caller) in the same module; 168 … 231: in the last seen
 *              of the blocks with this number modulo 64; 232 … 251: in a new one, of one of the
 *              last 4 modules, number · 5 + high bits, low byte of zigzag(block - the module's last
 *              new one); 255: in any block, varint module, varint offset / 64 Ki; then, for leaves
 *              in blocks, 2 bytes offset % 64 Ki
 *     near:    varint number · 2 + 1 of a leaf that was written out before; or zigzag(offset -
 *              offset of the context's first leaf, or of the last record) · 2 in the same module;
 *              or 0 and a leaf as above
 *     context: a byte, below 64: zigzag(node number - last one of a trail) · 2, + 1 for the trail
 *              that was not followed last; 64 … 151: in the last seen of the vicinities with
 *              this number modulo 88, low byte of the node number; 152 … 251, 252 … 254: high
 *              bits, 2, 3 bytes of the node number; 255: its 4 bytes
 *     switch:  control with WHERE_SWITCH; its 6 bits are the age of the site of execution, that
 *              is how many are newer; 30: age in the next byte; 31 … 62: a new one: (thread - that
 *              of the last new one + 3) · 2, on the CPU that is expected next, + 1: on that of the
 *              last record, or, where that is the same, on its number XOR 1; 63: a new one: varint
 *              zigzag(thread - that of the last new one) · 2, + 1 and varint CPU where that is not
 *              the expected one; then, where the new one's stream has no record yet, varint step
 *              XOR that of the last new stream
 *
 * Behind it stand the counters, in bins that have any: see counter_code.h.
 *
 * The page adaptrace-trace(5) specifies the same for other readers.
 */
#ifndef HMB_CODE_H
#define HMB_CODE_H

#include "hmb/arena.h"
#include "hmb/counter_code.h"

#define CODE_MAX_PAIRS  4096
#define CODE_MAX_LEAVES 2048
#define CODE_BLOCKS     64
#define CODE_MODULES    4
#define CODE_MAX_SITES  256
#define CODE_STREAMS    256 /* that are told apart, by their low bits */
#define CODE_VICINITIES 88
#define CODE_MAX_RECORD 64 /* no record is longer, but for its counters */

enum code_where { WHERE_PAIR, WHERE_CONTEXT, WHERE_RAW, WHERE_SWITCH };

/*
 * Where contexts have their nodes: frame() gives that of one, 0 where there is none. Records tell
 * leaves by their distance from it, so whoever reads them needs the same nodes.
 */
struct code_nodes {
	uint64_t (*frame)(const void *of, uint32_t context);
	const void *of;
};

static inline struct code_nodes arena_nodes(const struct arena *arena)
{
	return (struct code_nodes){arena_frame, arena};
}

struct code_sample {
	uint64_t time; /* ns; decoded: rounded down to a multiple of 1 << time_shift */
	uint64_t step; /* ns from sample to sample of this level; 0: not known; not decoded */
	uint64_t leaf; /* frame of the interrupted instruction */
	uint32_t thread, cpu;
	uint32_t context;         /* node of the caller's frame; NODE_NONE: there is no caller */
	const uint64_t *counters; /* as many as the bin has; decoded: until the next call; or NULL
	                           */
	/*
	 * Decoded: the number of (context, leaf), below CODE_MAX_PAIRS, in the bin, and whether an
	 * earlier record of the bin had the same; CODE_MAX_PAIRS: it got none.
	 */
	uint16_t pair;
	bool again;
};

struct code_pair {
	uint64_t leaf;
	uint32_t context;
	/* Used by the encoder only: */
	uint16_t number;
	uint16_t context_number; /* of the first pair of a context */
};

/* A thread and a CPU as one number, for comparisons. */
static inline uint64_t code_who(uint32_t thread, uint32_t cpu)
{
	return (uint64_t)cpu << 32 | thread;
}

struct code_stream {
	uint64_t who;  /* code_who() of its last record */
	uint64_t step; /* in time units */
	uint64_t last; /* in time units */
	uint32_t next; /* the stream that followed */
	bool known;    /* it has a record */
};

/*
 * The state of the prediction after the latest record of a bin. Encoder and decoder keep identical
 * models.
 */
struct code_model {
	struct code_pair last;             /* of the last record */
	uint32_t trails[2];                /* contexts written out: the last one of each trail */
	uint32_t new_blocks[CODE_MODULES]; /* the last one written out, of as many modules */
	uint32_t nr_leaves, nr_pairs, nr_contexts;
	uint32_t nr_modules, nr_sites; /* go on counting: the ring's oldest is replaced */
	/* Whole words: processors forward shorter stores to loads late. */
	uint32_t trail; /* the one that was followed last */
	uint32_t stream;
	uint32_t stream_shift;                    /* of a code_who(), for what its stream is of */
	uint32_t turn, context_turn;              /* the number that changes places next */
	uint32_t thread;                          /* of the last new site */
	uint64_t step;                            /* of the last new stream, in time units */
	uint64_t now;                             /* of the last record, likewise */
	struct code_stream streams[CODE_STREAMS]; /* the first ones beside what is above */
	uint64_t sites[CODE_MAX_SITES];           /* code_who() */
	uint16_t order[CODE_MAX_PAIRS];           /* the pair that has a number */
	uint32_t blocks[CODE_BLOCKS];             /* that leaves were written out in */
	uint32_t vicinities[CODE_VICINITIES];     /* vicinities of contexts written out */
	uint16_t contexts[CODE_MAX_PAIRS];        /* the first pair of the one that has a number */
	uint64_t leaves[CODE_MAX_LEAVES];
	struct code_pair pairs[CODE_MAX_PAIRS];
};

#define CODE_SLOTS (2 * CODE_MAX_PAIRS)

/* The model with hash tables over it: 156 KiB, and 38 KiB for counters. */
struct code_encoder {
	struct code_nodes nodes;
	struct code_model model;
	/* Numbers + 1 by hashes; 0: empty. */
	uint16_t pair_slots[CODE_SLOTS];
	uint16_t context_slots[CODE_SLOTS]; /* of first pairs */
	uint16_t leaf_slots[CODE_SLOTS];
	uint16_t site_slots[2 * CODE_MAX_SITES]; /* by (thread, CPU): a hint, to be checked */
	struct counter_model counters;
};

/* Prepares for the first record of a bin and sets the bin's base time. */
void code_begin(struct code_encoder *encoder, struct bin *bin, uint64_t time, unsigned time_shift,
                enum stream_owner owner, struct code_nodes nodes);
/* Call this after code_begin() for a bin whose records have counters, with their units. */
void code_begin_counters(struct code_encoder *encoder, struct bin *bin, unsigned nr,
                         const uint8_t shifts[COUNTER_MAX]);

/* code_put() in code_put.h appends a sample. */

/* A walk over the records of one bin, which may come from a file and be anything. */
struct code_cursor {
	const unsigned char *at, *end;
	unsigned time_shift;
	enum stream_owner owner;
	uint32_t left; /* records */
	bool first;    /* none was read yet */
	struct code_nodes nodes;
	struct code_model model;
	struct counter_model counters;
	uint64_t totals[COUNTER_MAX];
};

/*
 * Whether the header of a bin does not contradict itself, so that its records and nodes lie inside
 * it; size is that of the memory behind bin.
 */
bool code_bin_plausible(const struct bin *bin, size_t size);

/*
 * A cursor at the end of nothing, to be freed; NULL: no memory. Most of it is never touched where
 * bins say little, and merging a job has one for each level of each trace.
 */
struct code_cursor *code_cursor_new(void);

/*
 * Starts at a bin in `size` bytes of memory. Returns 0, or -EBADMSG if its header contradicts
 * itself.
 */
int code_open(struct code_cursor *cursor, const struct bin *bin, size_t size,
              struct code_nodes nodes);

/* Returns 1 with the next sample, 0 at the end, or -EBADMSG for invalid bytes. */
int code_next(struct code_cursor *cursor, struct code_sample *sample);

#endif
