/*
 * Times of calls from exact sums, where not every call was timed.
 *
 * Of the calls of one thread and region a random part was timed, so that the rows of all their
 * peers belong together: their mean is estimated from the timed calls, and their number is exact.
 */
#ifndef OUTPUT_VIEWS_CALL_TIMES_H
#define OUTPUT_VIEWS_CALL_TIMES_H

#include "base/map64.h"
#include "trace/trace.h"

#define CALL_ERROR_DEVIATIONS 2.1 /* of a 95 % error */

/* Sums over the rows of a thread and region: see struct trace_call_sum. */
struct call_time {
	uint32_t thread, region;
	uint64_t calls, time;
	int64_t untimed;
	double extra, extra_time, extra_squares;
};

struct call_times {
	struct call_time *of;
	uint32_t nr;
	struct map64 numbers;
};

/* Adds a row. Returns 0 or -ENOMEM. */
int call_times_add(struct call_times *times, const struct trace_call_sum *sum);
void call_times_fini(struct call_times *times);

/* Returns the time of all calls, ns. */
uint64_t call_time(const struct call_time *time);
/* Tells whether that is an estimate: not all calls were timed. */
static inline bool call_time_thinned(const struct call_time *time)
{
	return time->untimed || time->extra > 0;
}

/* Returns the variance of the time, ns^2. */
double call_time_variance(const struct call_time *time);

#endif
