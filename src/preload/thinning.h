/*
 * Chooses the calls that read the clock where the recorder asks for fewer readings, see
 * call_ring.h.
 *
 * The calls of a region come in blocks of 1 << shift calls. One call of each block, at a random
 * place, is timed and stands for all of them. The first calls of a region are all timed, and blocks
 * grow with their number, so that rare calls keep exact times.
 */
#ifndef PRELOAD_THINNING_H
#define PRELOAD_THINNING_H

#include "preload/preload.h"

/* The calls of a region, or of few regions whose numbers are alike. */
struct thin_cell {
	uint32_t left;   /* calls before the next one that is timed */
	uint32_t rest;   /* calls of the block behind that one */
	uint32_t weight; /* of that one; 0: the cell was never used */
	uint32_t calls;  /* in all blocks so far, at most THIN_MANY */
};

#define THIN_CELLS 2048
#define THIN_ALL   64 /* so many calls of a region are all timed */
#define THIN_MANY  (UINT32_C(1) << 24)

/* Numbers below RING_USER_REGIONS have cells of their own. */
static inline uint32_t thin_cell_of(uint32_t region)
{
	return region < RING_USER_REGIONS
	               ? region
	               : RING_USER_REGIONS + region % (THIN_CELLS - RING_USER_REGIONS);
}

/* Begins the next block of a cell. Returns the weight of the call that is being made. */
RARE uint32_t thin_next(struct thread *thread, struct thin_cell *cell, unsigned shift);

/* The same as process_wants_moment(), and notes whether the thread is in a moment that is wanted.
 */
RARE bool thin_wants_moment(struct thread *thread, uint64_t enter, uint64_t leave, uint32_t thin);

/* Returns the weight of the call that is being made; 0: the clock is not read for it. */
uint32_t thread_weigh_thinned(struct thread *thread, uint32_t region, uint32_t thin);
static inline uint32_t thread_weigh(struct thread *thread, uint32_t region)
{
	uint32_t thin = __atomic_load_n(&thread->ring->thin, __ATOMIC_RELAXED);

	return likely(!thin) ? 1 : thread_weigh_thinned(thread, region, thin);
}

/* Tells whether a timed call with these times touches a moment that is wanted. */
static inline bool thread_wants_times(struct thread *thread, uint64_t enter, uint64_t leave)
{
	uint32_t floor = __atomic_load_n(&process.shared->floor, __ATOMIC_RELAXED);
	uint32_t thin = __atomic_load_n(&thread->ring->thin, __ATOMIC_RELAXED);

	return likely(!(floor | thin)) || thin_wants_moment(thread, enter, leave, thin);
}

#endif
