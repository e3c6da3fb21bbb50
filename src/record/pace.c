#include "record/pace.h"

#include "base/grid.h"

#include <math.h>

#define FIRST    (PACE_LONGEST / 8)
#define QUARTER  0.25
#define LEAST_NS (PACE_SHORTEST / 2) /* shorter times say little about the rate */

void pace_begin(struct pace *pace, uint64_t now)
{
	*pace = (struct pace){.interval = FIRST, .drained = now};
}

uint64_t pace_interval(uint64_t most)
{
	uint64_t interval = PACE_LONGEST;

	while (interval > most && interval > PACE_SHORTEST)
		interval /= 2;
	return interval;
}

void pace_note_fill(struct pace *pace, double share, uint64_t now)
{
	uint64_t elapsed = now - pace->drained, interval = PACE_LONGEST;

	if (elapsed < LEAST_NS)
		return;
	pace->drained = now;
	if (share > 0)
		interval = pace_interval(
			(uint64_t)fmin(QUARTER / share * (double)elapsed, PACE_LONGEST));
	pace->interval = interval < 2 * pace->interval ? interval : 2 * pace->interval;
}

uint64_t pace_next(uint64_t interval, uint64_t period, uint64_t now)
{
	/* The first wake-up has to wait until there is something to see. */
	uint64_t soonest = now + interval / 10, next = soonest - soonest % interval + interval;
	const struct grid grid = {.base = period};

	/* Recorders with other intervals must come to the same decision. */
	if (!period || period > PACE_SHORTEST / 8)
		return next;
	return grid_next(&grid, grid_epoch(&grid, next), next) + period / 2;
}
