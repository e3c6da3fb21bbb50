/*
 * The arena: one piece of memory of exactly the budget, cut into bins.
 *
 *     budget   |  bin  |  bin  |  bin  | sub sub sub … |  bin  | …
 *
 *     a bin    | header | records → …            … ← nodes |
 *
 * A bin is free, a page of the context tree's index, or holds samples: records that grow up, and
 * nodes of the calling-context tree that grow down until the two meet. A bin that holds samples
 * belongs to one (kind, level) list and is decodable without the records of others. Some bins are
 * carved into sub-bins, because the many high levels hold few samples each: the first bin of a list
 * is a sub-bin.
 *
 * The header says everything, so that the bins are the trace: they are written to the file as they
 * are, and a recorder that was killed leaves a readable arena behind.
 *
 * A list is given back in O(1): it is spliced onto the free list, and its bins are recognised as
 * dead by their level, which is below the kind's floor, or by their sequence, if the kind was
 * cleared. Nothing in them is touched.
 */
#ifndef HMB_ARENA_H
#define HMB_ARENA_H

#include "hmb/limits.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_MIN_SIZE ((size_t)64 << 10)
#define ARENA_MAX_SIZE ((size_t)64 << 30) /* where 32-bit node numbers end */

/* Bins and nodes are named by their place in the arena, in units of these many bytes. */
#define BIN_UNIT  256
#define NODE_UNIT 16

#define BIN_NONE UINT32_MAX

enum bin_use {
	BIN_FREE, /* never used yet, or given back singly */
	BIN_SAMPLES,
	BIN_INDEX,
	BIN_CALLS = 4, /* instrumented calls, see call_code.h; no tree */
};

/*
 * The owner of a stream. Times and totals of samples are predicted from the previous sample of the
 * same stream: see lambda.h.
 */
enum stream_owner {
	STREAM_OF_CPU,
	STREAM_OF_THREAD, /* where events are inherited */
};

/* The header of a bin, in memory and in a trace file. Little-endian, as all of a trace. */
struct bin {
	uint32_t next; /* the next bin of its list, as bin_ref(); BIN_NONE: the last */
	uint8_t use;   /* enum bin_use */
	uint8_t kind;
	uint8_t level;      /* BIN_INDEX: the number of hash bits that its entries share */
	uint8_t size_shift; /* its size is 1 << size_shift bytes */
	uint32_t sequence;  /* bins of one list are in this order */
	uint32_t record_bytes;
	uint32_t node_bytes;
	uint32_t nr_records; /* BIN_INDEX: occupied slots */
	/*
	 * BIN_SAMPLES: the time of the first record, in units of 1 << time_shift ns. BIN_INDEX:
	 * what had removed nodes when the bin was cleaned last.
	 */
	uint64_t base_time;
	uint8_t time_shift;
	uint8_t nr_counters;  /* totals behind every record, see counter_code.h; 0: none */
	uint8_t stream_owner; /* enum stream_owner */
	uint8_t reserved[5];
};
static_assert(sizeof(struct bin) == 40, "the trace format fixes this");

#define NODE_FRAME_BITS 48

/*
 * A node of the calling-context tree: a frame and its caller's node. The tag is the top of a hash
 * over the whole path, and with the frame identifies the node in the index.
 */
struct node {
	uint64_t frame : NODE_FRAME_BITS;
	uint64_t tag_high : 16;
	uint32_t tag_low;
	uint32_t parent; /* node number; NODE_NONE: this frame is a root */
};
static_assert(sizeof(struct node) == 16, "the trace format fixes this");

struct bin_list {
	uint32_t first, last; /* BIN_NONE: empty */
};

/* Makes the first `size` bytes of the memory usable. Returns 0 if they are. */
typedef int arena_reserve_fn(void *arg, size_t size);

/* Gives the memory of whole pages back, which then read as zeros, or gets it again. 0 or -errno. */
typedef int arena_page_fn(void *arg, size_t offset, size_t size);

struct arena {
	unsigned char *memory;
	size_t size;
	arena_reserve_fn *reserve; /* NULL: all of the memory is usable */
	void *arg;
	size_t usable;
	unsigned bin_shift, sub_shift;
	uint32_t nr_bins; /* whole bins that may be in use */
	uint32_t fresh;   /* whole bins that were never taken: [fresh, fresh_end) */
	uint32_t fresh_end;
	uint32_t sequence; /* of the bin taken last */
	struct bin_list free, free_sub;
	uint32_t nr_free, nr_free_sub; /* fresh ones included */
	uint32_t nr_carved;            /* whole bins that are cut into sub-bins */
	/* Free whole bins beyond the limit, of which only the first page has memory. */
	struct bin_list away;
	uint32_t nr_away;
	size_t limit;                     /* bytes that bins may take: the size, or less */
	arena_page_fn *release, *restore; /* NULL: the memory of bins that are away is kept */
};

/*
 * Lays an arena over zeroed memory, which stays the caller's. size is at least ARENA_MIN_SIZE and
 * at most ARENA_MAX_SIZE; what does not fill a bin at the end stays unused. Where `reserve` is set
 * afterwards, it is asked before bins are taken for the first time; once it refuses, there are no
 * more bins than were taken by then.
 */
void arena_init(struct arena *arena, void *memory, size_t size);

/*
 * A bin with an empty header of the given use; whole or sub-bin. NULL: none is free, and the
 * caller must give one back first.
 */
struct bin *arena_take(struct arena *arena, enum bin_use use, bool sub);

/* Gives a single bin back. */
void arena_give(struct arena *arena, struct bin *bin);

/* Gives a whole list back, in O(1), and leaves it empty; counts are those of its bins. */
void arena_splice(struct arena *arena, struct bin_list *list, bool sub, uint32_t nr);

/*
 * Limits the whole bins that may be in use to nr, or to those that are in use now if these are
 * more. A higher limit reaches as far as there is memory.
 */
void arena_set_limit(struct arena *arena, uint32_t nr);

/* Appends a bin that was taken and is in no list. */
void bin_list_append(struct arena *arena, struct bin_list *list, struct bin *bin);

static inline size_t bin_size(const struct bin *bin)
{
	return (size_t)1 << bin->size_shift;
}

static inline uint32_t bin_ref(const struct arena *arena, const struct bin *bin)
{
	return (uint32_t)((size_t)((const unsigned char *)bin - arena->memory) / BIN_UNIT);
}

static inline struct bin *bin_at(const struct arena *arena, uint32_t ref)
{
	return (struct bin *)(void *)(arena->memory + (size_t)ref * BIN_UNIT);
}

static inline unsigned char *bin_records(const struct bin *bin)
{
	return (unsigned char *)bin + sizeof(*bin);
}

/* Returns how many bytes are free between the records and the nodes. */
static inline size_t bin_room(const struct bin *bin)
{
	return bin_size(bin) - sizeof(*bin) - bin->record_bytes - bin->node_bytes;
}

static inline struct node *node_at(const struct arena *arena, uint32_t node)
{
	return (struct node *)(void *)(arena->memory + (size_t)node * NODE_UNIT);
}

/* Returns the bin that a node lies in. */
static inline struct bin *node_bin(const struct arena *arena, uint32_t node)
{
	size_t offset = (size_t)node * NODE_UNIT;
	struct bin *bin =
		(void *)(arena->memory + (offset & ~(((size_t)1 << arena->bin_shift) - 1)));

	if (bin->size_shift != arena->bin_shift)
		bin = (void *)(arena->memory + (offset & ~(((size_t)1 << arena->sub_shift) - 1)));
	return bin;
}

/* Returns the frame of a node, which must exist. */
uint64_t arena_frame(const void *arena, uint32_t node);

/* Adds a node to a bin, which must have room for it. */
uint32_t bin_add_node(struct arena *arena, struct bin *bin, const struct node *node);

#endif
