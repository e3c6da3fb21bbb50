/* A merge of rings by time: a binary heap over the oldest record of each. */
#ifndef PERF_SAMPLER_RING_MERGE_H
#define PERF_SAMPLER_RING_MERGE_H

#include "perf/sampler/record.h"
#include "perf/sampler/kernel_ring.h"

struct merged_ring {
	struct ring ring;
	const struct record_format *format;
	unsigned cpu;  /* index */
	size_t peeked; /* size of the record handed out, to be consumed */
	uint64_t unreleased;
};

struct ring_merge {
	struct merged_ring *rings;
	unsigned nr_rings;
	struct ring_merge_head {
		uint64_t time;
		unsigned ring;
	} * heap;
	unsigned nr_heads;
	uint64_t horizon; /* only records before it come out */
	uint64_t front;   /* the newest time that came out */
	uint64_t late;
	uint64_t broken; /* rings of which the rest had to be skipped */
	struct merged_ring *current;
};

/* rings[0 … nr) are the caller's, mapped and with their formats set. 0 or -ENOMEM. */
int ring_merge_init(struct ring_merge *merge, struct merged_ring *rings, unsigned nr);
void ring_merge_fini(struct ring_merge *merge);

/* Looks at all rings and begins to deliver what was written before the horizon. */
void ring_merge_begin(struct ring_merge *merge, uint64_t horizon);

/* The oldest raw record, valid until the next call; NULL: the drain is over. */
const void *ring_merge_next(struct ring_merge *merge, size_t *size,
                            const struct merged_ring **from);

#endif
