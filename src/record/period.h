/* Base periods: what sampling starts with, at shift 0. */
#ifndef RECORD_PERIOD_H
#define RECORD_PERIOD_H

#include "perf/events/event.h"

#define PERIOD_MAX    ((uint64_t)1 << 56) /* and it can still double */
#define FREQUENCY_MAX 100000              /* Hz */

/*
 * In the event's own occurrences, or in nanoseconds. A period in the event's own name goes before
 * `period`, and that before `frequency`; 0 means not given. A frequency in Hz (10 kHz by default)
 * is for clocks: the period is then a prime some 3 % below the round one, which is badly
 * approximable by simple fractions of it, so that a program that loops in round times is not met in
 * lockstep. Counters without a period get a guess. Clocks get no less than the kernel can do.
 */
uint64_t period_base(const struct event *event, double frequency, uint64_t period);

/* What was wished for, by the same arguments. */
struct period_choice {
	double frequency; /* Hz; of clocks */
	bool is_exact;    /* the base period is what was wished for */
	bool is_default;  /* no frequency was given */
};
struct period_choice period_choice(const struct event *event, double frequency, uint64_t period);

#endif
