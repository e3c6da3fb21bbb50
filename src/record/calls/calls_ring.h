/* A target's ring as it is read in one round. The target may write into it meanwhile. */
#ifndef RECORD_CALLS_CALLS_RING_H
#define RECORD_CALLS_CALLS_RING_H

#include "record/calls/calls_process.h"

#include <string.h>

struct calls_ring {
	const uint64_t *words;
	uint64_t size, head, tail;
};

static inline struct calls_ring calls_ring_open(struct calls_process *process,
                                                const struct ring_ends *ring, size_t offset,
                                                size_t size, uint64_t head)
{
	struct calls_ring view = {
		.words = (const uint64_t *)(const void *)((const char *)process->shared + offset),
		.size = size,
		.head = head,
		.tail = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED),
	};

	if (head - view.tail > size) {
		process->malformed++;
		view.tail = head;
	}
	return view;
}

/* Returns the first word of the next record. head and tail must differ. */
static inline uint64_t calls_ring_peek(const struct calls_ring *ring)
{
	return __atomic_load_n(&ring->words[ring->tail & (ring->size - 1)], __ATOMIC_RELAXED);
}

/*
 * Copies the next record, of at most RING_MAX_RECORD words. Returns its length, or 0 if there is no
 * more. An invalid record ends the round: the rest of the ring is discarded.
 */
static inline size_t calls_ring_next(struct calls_process *process, struct calls_ring *ring,
                                     uint64_t *record)
{
	while (ring->head != ring->tail) {
		uint64_t at = ring->tail & (ring->size - 1), left = ring->size - at;
		uint64_t first = calls_ring_peek(ring);
		size_t nr = ring_head_words(first);

		if (ring_head_record(first) == RING_PAD)
			nr = left;
		if (!nr || nr > left || nr > ring->head - ring->tail) {
			process->malformed++;
			ring->tail = ring->head;
			return 0;
		}
		ring->tail += nr;
		if (ring_head_record(first) == RING_PAD)
			continue;
		memcpy(record, &ring->words[at], nr * sizeof(*record));
		record[0] = first;
		return nr;
	}
	return 0;
}

#endif
