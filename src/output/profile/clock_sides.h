/*
 * Which side of the system a clock was sampled on. The kernel counts a clock in full, whatever is
 * left out of its samples: then the total says little of them.
 */
#ifndef OUTPUT_PROFILE_CLOCK_SIDES_H
#define OUTPUT_PROFILE_CLOCK_SIDES_H

#include "trace/trace.h"

enum clock_sides {
	CLOCK_USER = 1,
	CLOCK_KERNEL = 2,
	CLOCK_BOTH = CLOCK_USER | CLOCK_KERNEL,
};

/* CLOCK_BOTH for an event that is no clock: it is counted where it is sampled. */
enum clock_sides clock_sides(const struct trace *trace, const struct trace_event *event);

#endif
