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

static inline uint64_t call_times_key(const struct trace_call_sum *sum)
{
	return (uint64_t)sum->thread << 32 | sum->region;
}

/*
 * Adds a row to the entry of a key: call_times_key(), or another one for a part of the rows of a
 * thread and region. Returns 0 or -ENOMEM.
 */
int call_times_add(struct call_times *times, uint64_t key, const struct trace_call_sum *sum);
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

/*
 * The same of a part of these calls. The calls of the whole are known and scale it, so that the
 * parts add up to the whole but for rounding. How many of the part were timed is by chance, which
 * the variance has, too.
 */
uint64_t call_part_time(const struct call_time *whole, const struct call_time *part);
double call_part_variance(const struct call_time *whole, const struct call_time *part);

#endif
