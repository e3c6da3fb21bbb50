/*
 * The sums of a thread's calls, in the memory that it shares with the recorder: see struct
 * ring_sum.
 *
 * A call adds itself to one row, the row of the first message that it sent or received, and each
 * message with another peer to the row of that peer.
 */
#ifndef PRELOAD_SUMS_H
#define PRELOAD_SUMS_H

#include "preload/preload.h"

#include <string.h>

#define SUM_PLACES ((size_t)2 * RING_LARGE_SUMS) /* of an index of rows; a power of two */

/* An addition to a row by a call, besides its time. */
struct sum_step {
	struct ring_sum *row;
	uint64_t moved[NR_RING_MOVED];
};

/*
 * Finds the rows that the record that is being made adds to. steps has room for one more than the
 * record has parts. Returns the number of steps; the first one is for the call itself.
 */
unsigned sums_find(const struct thread *thread, struct sum_step *steps);

/* Returns the row of a region's calls without messages. */
struct ring_sum *sums_region(const struct thread *thread, uint32_t region);

/* Adds the record that is being made to the sums. */
RARE void sums_add(struct thread *thread, uint64_t enter, uint64_t leave);

/* Adds the time of a call that stands for several, or for which the clock was not read. */
RARE void sums_add_weighted(const struct thread *thread, struct ring_sum *row, uint64_t duration);

/* Adds the time of a call. The parts of one that has several records are added one by one. */
static inline void sums_add_time(const struct thread *thread, struct ring_sum *row,
                                 uint64_t duration)
{
	row->calls++;
	row->polls += thread->idle;
	if (!thread->weight) {
		row->untimed++;
		thread->ring->untimed++;
		return;
	}
	if (unlikely(thread->weight > 1)) {
		sums_add_weighted(thread, row, duration);
		return;
	}
	row->ticks += duration;
	if (duration > row->longest)
		row->longest = duration;
}

static inline void sums_add_moved(const struct sum_step *step)
{
	for (unsigned i = 0; i < NR_RING_MOVED; i++)
		step->row->moved[i] += step->moved[i];
}

/* Adds a call whose steps are known. */
static inline void sums_add_steps(const struct thread *thread, const struct sum_step *steps,
                                  unsigned nr, uint64_t duration)
{
	sums_add_time(thread, steps[0].row, duration);
	for (unsigned i = 0; i < nr; i++)
		sums_add_moved(&steps[i]);
}

#endif
