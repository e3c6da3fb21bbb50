/*
 * From the ticks that targets read to the clock of the samples. Both are read together now and
 * then; in between, time runs straight. The points are kept at growing distances: when there are
 * too many, every second goes.
 */
#ifndef CLI_CALLS_CLOCK_H
#define CLI_CALLS_CLOCK_H

#include "preload/ring.h"

#define CALLS_CLOCK_POINTS 1024

struct calls_clock {
	enum ring_clock source;
	unsigned nr; /* points; the last one moves until it is far enough from the one before */
	uint64_t distance; /* ns */
	uint64_t error;    /* the longest that reading both clocks together took, ns */
	struct calls_point {
		uint64_t ticks, ns;
		double rate; /* ns per tick, up to the next point */
	} points[CALLS_CLOCK_POINTS];
};

/* Chooses the processor's counter where it is invariant and the kernel trusts it, too. */
void calls_clock_init(struct calls_clock *clock);
/* Reads both clocks. What is converted should be of before the last time. */
void calls_clock_read(struct calls_clock *clock);
/* The same of times that may be older than the last point but one. */
uint64_t calls_clock_search(const struct calls_clock *clock, uint64_t ticks);

/* Never decreasing in ticks between two readings. */
static inline uint64_t calls_clock_ns(const struct calls_clock *clock, uint64_t ticks)
{
	const struct calls_point *point = &clock->points[clock->nr > 1 ? clock->nr - 2 : 0];

	if (clock->source == RING_CLOCK_MONOTONIC)
		return ticks;
	if (clock->nr > 1 && ticks - point->ticks < point[1].ticks - point->ticks)
		return point->ns +
		       (uint64_t)(int64_t)((double)(int64_t)(ticks - point->ticks) * point->rate);
	return calls_clock_search(clock, ticks);
}

/* Two readings, for tests. */
void calls_clock_note(struct calls_clock *clock, uint64_t ticks, uint64_t ns);

#endif
