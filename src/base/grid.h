/*
 * The grid: the instants at which timers in step expire.
 *
 * A sample interrupts one CPU. Where CPUs wait for each other, all of them wait for that one, so
 * interruptions at different times add up and interruptions at the same time do not. The timers of
 * all CPUs therefore expire at the same instants: multiples of the period in CLOCK_MONOTONIC, plus
 * an offset that depends on the time alone. Recorders of the same node share the instants without
 * knowing of each other.
 *
 * The offset changes from one epoch to the next, or a program that repeats itself after exactly one
 * period would be seen at the same place by all CPUs for its whole run. An epoch is a second, or
 * as many as 1024 periods take.
 *
 * The offset lies within the base period, so the grid of a period that has doubled is a part of the
 * grid before, as long as their epochs are equally long.
 */
#ifndef BASE_GRID_H
#define BASE_GRID_H

#include <stdint.h>

struct grid {
	uint64_t base; /* period at shift 0, ns */
	unsigned shift;
};

/* Returns the start of the epoch that this time is in. */
uint64_t grid_epoch(const struct grid *grid, uint64_t time);

/*
 * Returns how far a time is behind the nearest instant of an epoch's grid, ns; it is negative where
 * the time is ahead of that instant.
 */
int64_t grid_distance(const struct grid *grid, uint64_t epoch, uint64_t time);

/* Returns the first instant of an epoch's grid at or after a time. */
uint64_t grid_next(const struct grid *grid, uint64_t epoch, uint64_t time);

/*
 * One period. It begins half a base period before an instant of its epoch's grid, so samples that
 * were taken at the same instant of this or a faster grid are in the same tick, even if they are a
 * little late or early.
 */
struct grid_tick {
	uint64_t number; /* successive ones have successive numbers */
	uint64_t start, end;
};

/* Returns the tick that a time is in. base << shift must not be 0 nor exceed 2^56. */
struct grid_tick grid_tick(const struct grid *grid, uint64_t time);

#endif
