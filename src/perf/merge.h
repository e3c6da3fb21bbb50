/* A merge of rings by time: a binary heap over the oldest record of each. */
#ifndef PERF_MERGE_H
#define PERF_MERGE_H

#include "perf/record.h"
#include "perf/ring.h"

struct merge_ring {
	struct ring ring;
	const struct record_format *format;
	unsigned cpu;  /* index */
	size_t peeked; /* size of the record handed out, to be consumed */
	uint64_t unreleased;
};

struct merge {
	struct merge_ring *rings;
	unsigned nr_rings;
	struct merge_head {
		uint64_t time;
		unsigned ring;
	} * heap;
	unsigned nr_heads;
	uint64_t horizon; /* only records before it come out */
	uint64_t front;   /* the newest time that came out */
	uint64_t late;
	uint64_t broken; /* rings of which the rest had to be skipped */
	struct merge_ring *current;
};

/* rings[0 … nr) are the caller's, mapped and with their formats set. 0 or -ENOMEM. */
int merge_init(struct merge *merge, struct merge_ring *rings, unsigned nr);
void merge_fini(struct merge *merge);

/* Looks at all rings and begins to deliver what was written before the horizon. */
void merge_begin(struct merge *merge, uint64_t horizon);

/* The oldest raw record, valid until the next call; NULL: the drain is over. */
const void *merge_next(struct merge *merge, size_t *size, const struct merge_ring **from);

#endif
