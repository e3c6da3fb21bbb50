/* Base periods: the sampling periods at shift 0. */
#ifndef RECORD_PERIOD_H
#define RECORD_PERIOD_H

#include "perf/events/event.h"

#define PERIOD_MAX    ((uint64_t)1 << 56) /* twice this still fits */
#define FREQUENCY_MAX 100000              /* Hz */

/*
 * Returns the base period in occurrences of the event or, for clocks, in ns. A period in the
 * event's own name takes precedence over `period`, and `period` over `frequency`; 0 means not
 * given.
 *
 * A frequency (in Hz, by default 10 kHz) applies to clocks. The period is then a prime about 3 %
 * below the exact one. This prime is badly approximated by simple fractions of the exact period, so
 * that a program that loops in round times is not sampled in lockstep. Counters without a period
 * get an estimated one. Clocks get no period shorter than the kernel's minimum.
 */
uint64_t period_base(const struct event *event, double frequency, uint64_t period);

/* Describes the requested period, from the same arguments. */
struct period_choice {
	double frequency; /* Hz; for clocks */
	bool is_exact;    /* the base period equals the requested one */
	bool is_default;  /* no frequency was given */
};
struct period_choice period_choice(const struct event *event, double frequency, uint64_t period);

#endif
