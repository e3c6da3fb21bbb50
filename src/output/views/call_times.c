#include "output/views/call_times.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int call_times_add(struct call_times *times, uint64_t key, const struct trace_call_sum *sum)
{
	uint32_t number = map64_number(&times->numbers, key);
	const struct call_time fresh = {.thread = sum->thread, .region = sum->region};
	struct call_time *to;

	if (number == UINT32_MAX || (number >= times->nr && ARRAY_ADD(times->of, times->nr, fresh)))
		return -ENOMEM;
	to = &times->of[number];
	to->calls += sum->calls;
	to->time += sum->time;
	to->untimed += sum->untimed;
	to->extra += sum->extra;
	to->extra_time += sum->extra_time;
	to->extra_squares += sum->extra_squares;
	return 0;
}

void call_times_fini(struct call_times *times)
{
	map64_fini(&times->numbers);
	free(times->of);
	*times = (struct call_times){0};
}

/* Calls for each that the timed ones stand for. A trace may say anything. */
static double scale(const struct call_time *time)
{
	double stood_for = (double)time->calls - (double)time->untimed;

	return stood_for > 0 ? (double)time->calls / stood_for : 1;
}

uint64_t call_part_time(const struct call_time *whole, const struct call_time *part)
{
	double estimate = (double)part->time * scale(whole);

	if (!whole->untimed || !(estimate < (double)INT64_MAX))
		return part->time;
	return (uint64_t)llround(estimate);
}

/*
 * The sum of w * (w - 1) * r^2 over all calls, as of calls that are timed independently of each
 * other. r is t - mean for calls of the part and -mean for others, where the mean is the part's
 * time by the calls of the whole. Blocks make the error smaller, if anything.
 */
double call_part_variance(const struct call_time *whole, const struct call_time *part)
{
	double scaled = scale(whole), mean, sum;

	if (!(whole->extra > 0) || !whole->calls)
		return 0;
	mean = (double)part->time * scaled / (double)whole->calls;
	sum = part->extra_squares - 2 * mean * part->extra_time + mean * mean * whole->extra;
	return sum > 0 && isfinite(sum) ? scaled * scaled * sum : 0;
}

uint64_t call_time(const struct call_time *time)
{
	return call_part_time(time, time);
}

double call_time_variance(const struct call_time *time)
{
	return call_part_variance(time, time);
}
