/*
 * Converts the ticks that targets read to the clock of the samples. Both clocks are read together
 * from time to time, and times between two readings are interpolated. If there are too many points,
 * every second one is removed.
 */
#ifndef RECORD_CALLS_CALLS_CLOCK_H
#define RECORD_CALLS_CALLS_CLOCK_H

#include "preload/call_ring.h"

#define CALLS_CLOCK_POINTS 1024

struct calls_clock {
	enum ring_clock source;
	uint64_t now; /* for RING_CLOCK_MONOTONIC: the last reading, ns */
	/* points; the last one is replaced until it is far enough from the one before */
	unsigned nr;
	uint64_t distance; /* minimum distance of two points, ns */
	uint64_t error;    /* longest time that reading both clocks together took, ns */
	struct calls_point {
		uint64_t ticks, ns;
		double rate; /* ns per tick, up to the next point */
	} points[CALLS_CLOCK_POINTS];
};

/* Chooses the processor's time stamp counter if it is invariant and the kernel uses it, too. */
void calls_clock_init(struct calls_clock *clock);
/* Reads both clocks. Times to convert should not be later than the last reading. */
void calls_clock_read(struct calls_clock *clock);
/*
 * Converts ticks to ns. Between two readings the result never decreases with ticks, and it is never
 * later than the last reading.
 */
uint64_t calls_clock_ns(const struct calls_clock *clock, uint64_t ticks);

/* Returns the latest instant that was read; rate 0: that of ticks is unknown yet. */
struct ring_instant calls_clock_instant(const struct calls_clock *clock);

/* Returns the ns of a tick, on average over the whole recording; 0: it is unknown yet. */
double calls_clock_rate(const struct calls_clock *clock);
/* Converts a number of ticks. It may be any: what cannot be a time of the recording is cut. */
static inline uint64_t calls_clock_duration(double rate, uint64_t ticks)
{
	double ns = rate * (double)ticks;

	return ns < (double)INT64_MAX ? (uint64_t)(ns + 0.5) : INT64_MAX;
}

/*
 * Converts many times faster: it covers the ticks since the last but one point and is valid until
 * the next reading.
 */
struct calls_stretch {
	const struct calls_clock *clock;
	struct calls_point from;
	uint64_t ticks; /* length of the stretch; 0: it is empty */
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

/* Converts a time that many ticks after the begin of the stretch, and before its end. */
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

/* Enters a reading of both clocks; for tests. */
void calls_clock_note(struct calls_clock *clock, uint64_t ticks, uint64_t ns);

#endif
