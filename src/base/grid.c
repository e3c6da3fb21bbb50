#include "base/grid.h"

#define EPOCH_NS      1000000000
#define EPOCH_PERIODS 1024
#define GOLDEN        0x9e3779b97f4a7c15 /* the golden ratio's fraction, of 2^64 */

static uint64_t period_of(const struct grid *grid)
{
	return grid->base << grid->shift;
}

uint64_t grid_epoch(const struct grid *grid, uint64_t time)
{
	uint64_t length = EPOCH_NS;

	while (length / EPOCH_PERIODS < period_of(grid) && length < INT64_MAX / 2)
		length *= 2;
	return time - time % length;
}

/* Successive multiples of the golden ratio stay far from each other, however many they are. */
static uint64_t offset_of(const struct grid *grid, uint64_t epoch)
{
	uint64_t fraction = epoch / EPOCH_NS * GOLDEN;

	return (uint64_t)((unsigned __int128)fraction * grid->base >> 64);
}

/* Returns the time since the last instant of the grid. */
static uint64_t phase_of(const struct grid *grid, uint64_t epoch, uint64_t time)
{
	uint64_t offset = offset_of(grid, epoch), period = period_of(grid);

	return time >= offset ? (time - offset) % period
	                      : (period - (offset - time) % period) % period;
}

int64_t grid_distance(const struct grid *grid, uint64_t epoch, uint64_t time)
{
	uint64_t phase = phase_of(grid, epoch, time), period = period_of(grid);

	return phase > period / 2 ? -(int64_t)(period - phase) : (int64_t)phase;
}

uint64_t grid_next(const struct grid *grid, uint64_t epoch, uint64_t time)
{
	uint64_t phase = phase_of(grid, epoch, time);

	return phase ? time + period_of(grid) - phase : time;
}

struct grid_tick grid_tick(const struct grid *grid, uint64_t time)
{
	uint64_t offset = offset_of(grid, grid_epoch(grid, time)), period = period_of(grid);
	uint64_t since = time + grid->base / 2 - offset, late = since % period;

	if (time + grid->base / 2 < offset) /* before the first instant of all */
		return (struct grid_tick){.end = offset - grid->base / 2};
	return (struct grid_tick){
		.number = since / period,
		.start = time > late ? time - late : 0,
		.end = time - late + period,
	};
}
