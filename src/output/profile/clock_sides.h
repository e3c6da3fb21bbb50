/*
 * Finds whether a clock was sampled in user code, in the kernel, or in both. The kernel's total of
 * a clock counts both sides even if samples of one side are excluded, so such a total does not
 * measure the samples.
 */
#ifndef OUTPUT_PROFILE_CLOCK_SIDES_H
#define OUTPUT_PROFILE_CLOCK_SIDES_H

#include "trace/trace.h"

enum clock_sides {
	CLOCK_USER = 1,
	CLOCK_KERNEL = 2,
	CLOCK_BOTH = CLOCK_USER | CLOCK_KERNEL,
};

/*
 * Returns CLOCK_BOTH for an event that is no clock: such an event is counted on the same side as it
 * is sampled.
 */
enum clock_sides clock_sides(const struct trace *trace, const struct trace_event *event);

#endif
