/*
 * When the recorder wakes.
 *
 * It wakes at multiples of 100 ms / 2^n of CLOCK_MONOTONIC: so seldom that no ring for samples
 * fills by more than a quarter meanwhile. The recorders of all ranks on a node then interrupt their
 * ranks at the same instants, and a recorder with fuller rings at those and at some in between. A
 * ring that is half full wakes the recorder at once: that is for emergencies.
 *
 * Where samples are taken in step and at more than 5 kHz at first, these instants are moved by up
 * to two periods, halfway between two instants of the grid, because the recorder would delay
 * samples there.
 */
#ifndef RECORD_PACE_H
#define RECORD_PACE_H

#include <stdint.h>

#define PACE_LONGEST  UINT64_C(100000000) /* ns */
#define PACE_SHORTEST (PACE_LONGEST / 64)

struct pace {
	uint64_t interval; /* ns that a quarter of the fullest ring lasts, of those allowed */
	uint64_t drained;  /* time of the last drain, ns */
};

/* Starts as if nothing was known of the rings. */
void pace_begin(struct pace *pace, uint64_t now);

/*
 * Notes how much of the fullest ring was used when a drain began. The interval shortens at once,
 * and lengthens by one step at most.
 */
void pace_note_fill(struct pace *pace, double share, uint64_t now);

/* Returns the longest allowed interval that is no longer than `most`, or the shortest one. */
uint64_t pace_interval(uint64_t most);

/* Returns the next instant at such intervals. period: of the grid at shift 0, ns; 0: no grid. */
uint64_t pace_next(uint64_t interval, uint64_t period, uint64_t now);

#endif
