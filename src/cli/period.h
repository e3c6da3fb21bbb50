/* Base periods: what sampling starts with, at shift 0. */
#ifndef CLI_PERIOD_H
#define CLI_PERIOD_H

#include "perf/event.h"

/*
 * In the event's unit. Clocks: for `frequency` in Hz, 0 means 10 kHz. The period is a prime some
 * 3 % below the round one, which is badly approximable by simple fractions of it: a program that
 * loops in round times is not met in lockstep; at least some 10 us, the kernel's own limit.
 * Counters: `period` as it is, 0 means a guess. What the event's own name says goes before both.
 */
uint64_t period_base(const struct event *event, double frequency, uint64_t period);

#endif
