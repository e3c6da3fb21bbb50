#include "hmb/period.h"

#include <stdbool.h>
#include <string.h>

enum { LANES = 8 };

/* 16 bytes: registers of SSE2 and of NEON. */
typedef uint16_t lanes __attribute__((vector_size(2 * LANES)));

/* Room for so many events beyond the longest delay; then the past is moved back. */
static uint32_t past_size(uint32_t delays)
{
	return 2 * delays + LANES + PERIOD_BATCH;
}

size_t period_bytes(uint32_t delays)
{
	return sizeof(uint16_t) * ((size_t)delays + past_size(delays));
}

void period_init(struct period *period, uint32_t delays, uint32_t least, void *memory)
{
	*period = (struct period){
		.run = memory,
		.past = (uint16_t *)memory + delays,
		.delays = delays,
		.least = least,
	};
	period_reset(period);
}

void period_reset(struct period *period)
{
	memset(period->run, 0, period_bytes(period->delays));
	period->newest = period->past + past_size(period->delays) - period->delays - LANES;
	period->nr_next = 0;
}

static lanes load(const uint16_t *at)
{
	lanes value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static bool any(lanes mask)
{
	uint64_t half[2];

	memcpy(half, &mask, sizeof(half));
	return half[0] | half[1];
}

static lanes all(uint16_t value)
{
	return (lanes){0} + value;
}

static lanes least_of(lanes a, lanes b)
{
	lanes is_less = (lanes)(a < b);

	return (a & is_less) | (b & ~is_less);
}

/* Puts the batch before the past, which is moved to the end of its room when it reaches the front.
 */
static void add_batch(struct period *period)
{
	if (period->newest < period->past + PERIOD_BATCH) {
		uint16_t *moved = period->past + past_size(period->delays) - period->delays - LANES;

		memmove(moved, period->newest, period->delays * sizeof(*moved));
		period->newest = moved;
	}
	period->newest -= PERIOD_BATCH;
	for (unsigned i = 0; i < PERIOD_BATCH; i++)
		period->newest[i] = period->next[PERIOD_BATCH - 1 - i];
}

/*
 * run(m) after the batch, for eight delays from m on. The events themselves and the run lengths
 * stay in registers. A run that would overflow during the batch is shortened before it.
 */
static inline __attribute__((always_inline)) lanes step(const struct period *period,
                                                        const lanes event[PERIOD_BATCH], uint32_t m)
{
	const uint16_t *before = period->newest + PERIOD_BATCH - 1 + m;
	lanes run = least_of(load(&period->run[m - 1]), all(PERIOD_MAX_RUN));

#pragma GCC unroll 8
	for (unsigned i = 0; i < PERIOD_BATCH; i++) {
		lanes is_equal = (lanes)(load(before - i) == event[i]);

		run = (run - is_equal) & is_equal;
	}
	memcpy(&period->run[m - 1], &run, sizeof(run));
	return run;
}

/* Returns the first delay that repeats for long enough, or 0. */
static uint32_t first_repeated(const struct period *period)
{
	for (uint32_t m = 1; m <= period->delays; m++)
		if (period->run[m - 1] >= 2 * m && period->run[m - 1] >= period->least)
			return m;
	return 0;
}

static uint32_t take_batch(struct period *period)
{
	lanes event[PERIOD_BATCH], found = all(0);
	lanes wanted = {1, 2, 3, 4, 5, 6, 7, 8};

	wanted *= 2;
	for (unsigned i = 0; i < PERIOD_BATCH; i++)
		event[i] = all(period->next[i]);
	add_batch(period);
	for (uint32_t m = 1; m <= period->delays; m += LANES) {
		found |= (lanes)(step(period, event, m) >= wanted);
		wanted += 2 * LANES;
	}
	return any(found) ? first_repeated(period) : 0;
}

uint32_t period_put(struct period *period, uint16_t event)
{
	period->next[period->nr_next++] = event;
	if (period->nr_next < PERIOD_BATCH)
		return 0;
	period->nr_next = 0;
	return take_batch(period);
}
