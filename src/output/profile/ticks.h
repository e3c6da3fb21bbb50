/*
 * Ticks: of a recording in step, samples of all CPUs that were taken at the same instant. They are
 * no more independent of each other than the CPUs are.
 *
 * A tick lasts as long as the final period. What reductions left of samples that were taken at a
 * shorter period is one sample of each CPU in a tick, and each CPU keeps other instants.
 */
#ifndef OUTPUT_PROFILE_TICKS_H
#define OUTPUT_PROFILE_TICKS_H

#include "base/grid.h"
#include "trace/trace.h"

struct ticks {
	struct grid grid;      /* base 0: the event was not sampled in step */
	struct grid_tick last; /* that was asked for */
};

void ticks_init(struct ticks *ticks, const struct trace *trace, uint32_t event);

static inline bool ticks_known(const struct ticks *ticks)
{
	return ticks->grid.base;
}

/* Returns the number of the tick that a time is in. Only where ticks are known. */
static inline uint64_t ticks_at(struct ticks *ticks, uint64_t time)
{
	if (time < ticks->last.start || time >= ticks->last.end)
		ticks->last = grid_tick(&ticks->grid, time);
	return ticks->last.number;
}

/* How many samples the ticks had, where ticks are known. */
struct tick_sizes {
	uint64_t tick, nr; /* the latest tick, and its samples so far */
	double squares;    /* of the numbers of the ticks before */
};

static inline void tick_sizes_end(struct tick_sizes *sizes)
{
	sizes->squares += (double)sizes->nr * (double)sizes->nr;
	sizes->nr = 0;
}

/* Counts a sample. All samples of a tick must come one after the other. */
static inline void tick_sizes_add(struct tick_sizes *sizes, uint64_t tick)
{
	if (tick != sizes->tick)
		tick_sizes_end(sizes);
	sizes->tick = tick;
	sizes->nr++;
}

#endif
