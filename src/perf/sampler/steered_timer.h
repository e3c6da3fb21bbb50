/*
 * The timer of one event on one CPU, which is to expire on the grid.
 *
 * Restarting a timer is the only way to move it: it then expires one period after the call took
 * effect, so the call must take effect on the grid. How long that takes is learned from the samples
 * that follow. A timer leaves the grid whenever its event stops and continues, as the event of a
 * cgroup does while another task runs.
 *
 * A sample is taken some time after its timer expired: usually the same few us, now and then tens
 * of them. So the phase of a timer is the one that most of its samples have, and it has changed
 * when several samples in a row have none of it.
 *
 * A call for a restart costs as much as a sample, and drops the part of the period that is over. So
 * each must be paid for by TIMER_PATIENCE samples, and by more and more when several in a row have
 * failed. Some are paid for in advance, for what disturbs one often lasts no longer than that. The
 * timer of a CPU that tasks leave often is left alone: such a CPU is not coupled to others by
 * spinning.
 */
#ifndef PERF_SAMPLER_STEERED_TIMER_H
#define PERF_SAMPLER_STEERED_TIMER_H

#include "base/grid.h"

#include <stdbool.h>

#define TIMER_PATIENCE 50

struct steered_timer {
	uint64_t tolerance; /* ns off the grid that are not worth a restart */
	uint64_t period;    /* of the latest sample, ns */
	uint64_t phase;     /* a time at which the timer would have its usual phase */
	uint64_t latest;    /* time of the latest sample */
	unsigned confirmed; /* samples with that phase */
	unsigned strays;    /* latest samples in a row without it */
	uint64_t samples;   /* since the last restart */
	unsigned nr_failed; /* restarts in a row that missed the grid */
	unsigned patience;  /* samples that pay for the next restart */
	unsigned saved;     /* samples that have paid for none */
	uint64_t epoch;     /* the last restart aimed at the grid of this epoch */
	bool learns;        /* what the last restart achieved is not known yet */
	bool from_own;      /* the last restart was called for on the timer's own CPU */
	/* From a call until it takes effect, by from_own. */
	struct timer_delay {
		bool known;      /* a restart has told of it */
		int64_t ns;      /* known but for multiples of the period */
		int64_t miss;    /* distance from the grid after the last call */
		unsigned missed; /* share of the latest calls that missed the grid, in 1/256 */
	} delays[2];
	uint32_t jumps;   /* share of samples before which the phase changed, in 1/65536 */
	uint64_t taken;   /* samples in all */
	uint64_t dropped; /* ns of periods that restarts have cut off, in all */
};

void timer_init(struct steered_timer *timer, uint64_t tolerance);

/* Notes a sample. Returns how far it is off the grid, ns; negative: before its instant. */
int64_t timer_note(struct steered_timer *timer, const struct grid *grid, uint64_t time);

/*
 * Notes that the timer's task goes on with another CPU's event, which has a phase of its own. To
 * be called before timer_note().
 */
void timer_moved(struct steered_timer *timer);

/* Whether tasks leave the CPU so often that steering is no use. */
bool timer_is_restless(const struct steered_timer *timer);

/*
 * Returns whether the timer's phase is known and it may be steered. Learns what the last restart
 * achieved.
 */
bool timer_is_steady(struct steered_timer *timer, const struct grid *grid, uint64_t now);
/* Returns whether the timer is off the grid and may be steered, if not now then soon. */
bool timer_is_off(struct steered_timer *timer, const struct grid *grid, uint64_t now);
/* Returns how many calls for a restart samples pay for. */
unsigned timer_calls_paid(const struct steered_timer *timer);

/* Returns whether calls from other CPUs mostly missed the grid of late. */
bool timer_is_missed(const struct steered_timer *timer);

/*
 * Returns when to call for a restart, which is at or after `now` and not a period later. from_own:
 * the call is made on the timer's own CPU.
 */
uint64_t timer_call_time(const struct steered_timer *timer, const struct grid *grid, uint64_t now,
                         bool from_own);
/* Returns how much of the period is over at a time, ns: what a restart then drops. */
uint64_t timer_elapsed(const struct steered_timer *timer, uint64_t time);
/* Notes that so many calls were made, and whether the last took effect at the right time. */
void timer_restarted(struct steered_timer *timer, const struct grid *grid, uint64_t now,
                     unsigned nr_calls, bool in_time, bool from_own);
/* Notes that the timer was restarted for another reason, without regard to the grid. */
void timer_lost(struct steered_timer *timer);

#endif
