/*
 * A binary heap of turns, ordered by time: it yields whose turn is next. The earliest turn is
 * first.
 */
#ifndef BASE_TIME_HEAP_H
#define BASE_TIME_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct turn {
	uint64_t time;
	uint32_t number; /* identifies whose turn it is; orders equal times */
};

struct turns {
	struct turn *heap; /* memory of the caller with room for all turns */
	uint32_t nr;
};

/* Replaces the turn at this place, and moves the new turn down until the heap is ordered again. */
static inline void turns_sink(struct turns *turns, uint32_t at, struct turn turn)
{
	struct turn *heap = turns->heap;

	for (uint32_t child = 2 * at + 1; child < turns->nr; child = 2 * at + 1) {
		const struct turn *a = &heap[child], *b = &heap[child + 1];

		if (child + 1 < turns->nr &&
		    (b->time < a->time || (b->time == a->time && b->number < a->number)))
			a = &heap[++child];
		if (turn.time < a->time || (turn.time == a->time && turn.number < a->number))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = turn;
}

/* Builds the heap from turns in any order. */
static inline void turns_start(struct turns *turns)
{
	for (uint32_t i = turns->nr / 2; i-- > 0;)
		turns_sink(turns, i, turns->heap[i]);
}

/* Gives the first turn a later time, or removes it if there are no more. */
static inline void turns_next(struct turns *turns, bool more, uint64_t time)
{
	struct turn turn = turns->heap[0];

	if (more)
		turn.time = time;
	else
		turn = turns->heap[--turns->nr];
	turns_sink(turns, 0, turn);
}

#endif
