/*
 * A binary heap of entries, ordered by time: the earliest is first. It merges sequences that are
 * each in the order of time.
 */
#ifndef BASE_TIME_HEAP_H
#define BASE_TIME_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct heap_entry {
	uint64_t time;
	uint32_t number; /* identifies the sequence; orders equal times */
};

struct time_heap {
	struct heap_entry *entries; /* memory of the caller with room for all of them */
	uint32_t nr;
};

/* Replaces the entry at this place, and moves the new one down until the heap is ordered again. */
static inline void time_heap_sink(struct time_heap *heap, uint32_t at, struct heap_entry entry)
{
	struct heap_entry *entries = heap->entries;

	for (uint32_t child = 2 * at + 1; child < heap->nr; child = 2 * at + 1) {
		const struct heap_entry *a = &entries[child], *b = &entries[child + 1];

		if (child + 1 < heap->nr &&
		    (b->time < a->time || (b->time == a->time && b->number < a->number)))
			a = &entries[++child];
		if (entry.time < a->time || (entry.time == a->time && entry.number < a->number))
			break;
		entries[at] = entries[child];
		at = child;
	}
	entries[at] = entry;
}

/* Builds the heap from entries in any order. */
static inline void time_heap_start(struct time_heap *heap)
{
	for (uint32_t i = heap->nr / 2; i-- > 0;)
		time_heap_sink(heap, i, heap->entries[i]);
}

/* Gives the first entry a later time, or removes it if there are no more. */
static inline void time_heap_next(struct time_heap *heap, bool more, uint64_t time)
{
	struct heap_entry entry = heap->entries[0];

	if (more)
		entry.time = time;
	else
		entry = heap->entries[--heap->nr];
	time_heap_sink(heap, 0, entry);
}

#endif
