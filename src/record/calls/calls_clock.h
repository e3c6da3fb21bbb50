/*
 * From the ticks that targets read to the clock of the samples. Both are read together now and
 * then; in between, time runs straight. The points are kept at growing distances: when there are
 * too many, every second goes.
 */
#ifndef RECORD_CALLS_CALLS_CLOCK_H
#define RECORD_CALLS_CALLS_CLOCK_H

#include "preload/call_ring.h"

#define CALLS_CLOCK_POINTS 1024

struct calls_clock {
	enum ring_clock source;
	uint64_t now; /* RING_CLOCK_MONOTONIC: the last reading, ns */
	unsigned nr;  /* points; the last one moves until it is far enough from the one before */
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
/* Never decreasing in ticks between two readings, and never later than the last. */
uint64_t calls_clock_ns(const struct calls_clock *clock, uint64_t ticks);

/* The same for many times, most of them since the last point that stays; until the next reading. */
struct calls_stretch {
	const struct calls_clock *clock;
	struct calls_point from;
	uint64_t ticks; /* how far it goes; 0: nowhere */
};

static inline struct calls_stretch calls_clock_stretch(const struct calls_clock *clock)
{
	struct calls_stretch stretch = {.clock = clock};

	if (clock->source == RING_CLOCK_MONOTONIC || clock->nr < 2)
		return stretch;
	stretch.from = clock->points[clock->nr - 2];
	stretch.ticks = clock->points[clock->nr - 1].ticks - stretch.from.ticks;
	return stretch;
}

/* So many ticks after its begin, and before its end. */
static inline uint64_t calls_stretch_after(const struct calls_stretch *stretch, uint64_t ticks)
{
	return stretch->from.ns + (uint64_t)(int64_t)((double)(int64_t)ticks * stretch->from.rate);
}

static inline uint64_t calls_stretch_ns(const struct calls_stretch *stretch, uint64_t ticks)
{
	uint64_t after = ticks - stretch->from.ticks;

	if (after >= stretch->ticks)
		return calls_clock_ns(stretch->clock, ticks);
	return calls_stretch_after(stretch, after);
}

/* Two readings, for tests. */
void calls_clock_note(struct calls_clock *clock, uint64_t ticks, uint64_t ns);

#endif
