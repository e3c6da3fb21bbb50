#include "perf/sampler/steered_timer.h"

#include <stdlib.h>

#define FIRST_DELAY_NS   10000
#define LONGEST_DELAY_NS 200000
#define LESSON_NS        2000 /* as far as one restart corrects a delay */
#define SAME_NS          8000 /* within which samples have the same phase */
#define SETTLED          3    /* samples that tell of a phase */
#define RESTLESS         (65536 / 10)
#define MOST_SAVED       (4 * TIMER_PATIENCE)
#define MOST_FAILED      4 /* restarts in a row, before they become seldom */
#define MOST_PATIENCE    (8 * TIMER_PATIENCE)
#define STALE_NS         300000000 /* a CPU without samples for so long is idle */

void timer_init(struct steered_timer *timer, uint64_t tolerance)
{
	*timer = (struct steered_timer){
		.tolerance = tolerance,
		.patience = TIMER_PATIENCE,
		.saved = MOST_SAVED,
		.delays = {{.ns = FIRST_DELAY_NS}, {.ns = FIRST_DELAY_NS}},
	};
}

static uint64_t away(int64_t distance)
{
	return (uint64_t)llabs(distance);
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

static void begin_phase(struct steered_timer *timer, uint64_t time)
{
	timer->phase = time;
	timer->confirmed = 1;
	timer->strays = 0;
}

/* Returns how far a sample is behind the timer's phase, ns. */
static int64_t behind_phase(const struct steered_timer *timer, uint64_t time)
{
	uint64_t behind = (time - timer->phase) % timer->period;

	return behind > timer->period / 2 ? -(int64_t)(timer->period - behind) : (int64_t)behind;
}

/* Returns whether this sample shows that the phase has changed. */
static bool follow_phase(struct steered_timer *timer, uint64_t time)
{
	int64_t behind = behind_phase(timer, time);
	bool was_settled = timer->confirmed >= SETTLED;

	if (away(behind) <= SAME_NS) {
		/* Early samples tell more than late ones. */
		timer->phase = time - (uint64_t)(behind < 0 ? behind / 2 : behind - behind / 8);
		timer->confirmed++;
		timer->strays = 0;
		return false;
	}
	if (++timer->strays < SETTLED && (was_settled || behind > 0))
		return false;
	begin_phase(timer, time);
	return was_settled;
}

static void note_jump(struct steered_timer *timer, bool jumped)
{
	timer->jumps += (jumped ? 65536 / 64 : 0) - timer->jumps / 64;
}

int64_t timer_note(struct steered_timer *timer, const struct grid *grid, uint64_t time)
{
	int64_t distance = grid_distance(grid, grid_epoch(grid, time), time);
	uint64_t period = grid->base << grid->shift;

	if (!timer->samples || period != timer->period || time < timer->latest) {
		timer->period = period;
		begin_phase(timer, time);
	} else {
		note_jump(timer, follow_phase(timer, time));
	}
	timer->latest = time;
	timer->samples++;
	timer->taken++;
	timer->saved += timer->saved < MOST_SAVED || timer->saved < timer->patience;
	return distance;
}

void timer_moved(struct steered_timer *timer)
{
	note_jump(timer, true);
	timer_lost(timer);
}

bool timer_is_restless(const struct steered_timer *timer)
{
	return timer->jumps > RESTLESS;
}

/*
 * Corrects the delay by what the last restart achieved: by all of it at first, and when two
 * restarts missed by the same. Otherwise the machine may just have stood still for that time, as
 * virtual ones do.
 */
static void correct_delay(struct timer_delay *delay, int64_t distance)
{
	bool again = !delay->known || away(distance - delay->miss) <= SAME_NS;

	delay->known = true;
	delay->miss = distance;
	delay->ns =
		clamp(delay->ns + (again ? distance : clamp(distance / 2, -LESSON_NS, LESSON_NS)),
	              -LONGEST_DELAY_NS, LONGEST_DELAY_NS);
}

/* The first call with an unknown delay misses for that reason alone. */
static void note_miss(struct timer_delay *delay, bool missed)
{
	delay->missed += (missed && delay->known ? 128 : 0) - delay->missed / 4;
}

/* Restarts that fail again and again double the patience, and one that succeeds ends that. */
static void note_success(struct steered_timer *timer, bool succeeded)
{
	timer->nr_failed = succeeded ? 0 : timer->nr_failed + 1;
	if (succeeded)
		timer->patience = TIMER_PATIENCE;
	else if (timer->nr_failed > MOST_FAILED && timer->patience < MOST_PATIENCE)
		timer->patience *= 2;
}

static void learn(struct steered_timer *timer, int64_t distance)
{
	struct timer_delay *delay = &timer->delays[timer->from_own];
	bool missed = away(distance) > timer->tolerance;

	timer->learns = false;
	note_miss(delay, missed);
	/* Calls from elsewhere are tried again from time to time. */
	if (timer->from_own)
		timer->delays[false].missed -= timer->delays[false].missed / 64;
	if (away(distance) < LONGEST_DELAY_NS)
		correct_delay(delay, distance);
	note_success(timer, !missed);
}

bool timer_is_steady(struct steered_timer *timer, const struct grid *grid, uint64_t now)
{
	if (timer->confirmed < SETTLED || timer->latest + STALE_NS < now ||
	    timer_is_restless(timer))
		return false;
	if (timer->learns)
		learn(timer, grid_distance(grid, timer->epoch, timer->phase));
	return true;
}

bool timer_is_off(struct steered_timer *timer, const struct grid *grid, uint64_t now)
{
	return timer_is_steady(timer, grid, now) &&
	       away(grid_distance(grid, grid_epoch(grid, now), timer->phase)) > timer->tolerance;
}

unsigned timer_calls_paid(const struct steered_timer *timer)
{
	if (timer->saved < timer->patience)
		return 0;
	return 1 + (timer->saved - timer->patience) / TIMER_PATIENCE;
}

bool timer_is_missed(const struct steered_timer *timer)
{
	return timer->delays[false].missed >= 128;
}

uint64_t timer_call_time(const struct steered_timer *timer, const struct grid *grid, uint64_t now,
                         bool from_own)
{
	uint64_t delay = (uint64_t)timer->delays[from_own].ns;

	/* It may be negative: sums wrap around, and the result is right. */
	return grid_next(grid, grid_epoch(grid, now), now + delay) - delay;
}

void timer_lost(struct steered_timer *timer)
{
	timer->samples = 0;
	timer->confirmed = 0;
	timer->learns = false;
}

uint64_t timer_elapsed(const struct steered_timer *timer, uint64_t time)
{
	return timer->period ? (time - timer->phase) % timer->period : 0;
}

void timer_restarted(struct steered_timer *timer, const struct grid *grid, uint64_t now,
                     unsigned nr_calls, bool in_time, bool from_own)
{
	unsigned price = timer->patience + (nr_calls - 1) * TIMER_PATIENCE;

	timer_lost(timer);
	timer->from_own = from_own;
	timer->learns = in_time;
	timer->epoch = grid_epoch(grid, now);
	timer->saved -= price;
}
