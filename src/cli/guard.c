#include "cli/guard.h"

#include <time.h>

#define WINDOW_NS 1000000000
/* More than taking in and unwinding a sample ever costs for long. */
#define MOST_SAMPLE_NS 50000
#define MOST_LOST      100 /* one in so many */

uint64_t guard_cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void guard_init(struct guard *guard, double max_overhead, uint64_t price)
{
	*guard = (struct guard){.max_overhead = max_overhead, .price = price};
}

unsigned guard_initial_shift(const struct guard *guard, uint64_t base_period)
{
	unsigned shift = 0;

	if (guard->max_overhead <= 0)
		return 0;
	while (shift < 20 &&
	       2.0 * (double)guard->price > guard->max_overhead * (double)(base_period << shift))
		shift++;
	return shift;
}

/*
 * The recorder's CPU time that fewer samples could save. Tasks and mappings cost as well, and a
 * target that floods us with them must not lose its samples for it.
 */
static double own_cost(const struct guard *guard, uint64_t cpu)
{
	double own = (double)(cpu - guard->cpu_since) - (double)guard->others_ns;
	double most = (double)guard->samples * MOST_SAMPLE_NS;

	return own < most ? own : most;
}

void guard_target_time(struct guard *guard, uint64_t target_ns)
{
	if (!guard->told_since)
		guard->told_since = target_ns;
	guard->target_ns = target_ns - guard->told_since;
}

/* A period that doubled stays so: not for a few samples that a crowded moment cost. */
static bool has_trouble(const struct guard *guard)
{
	return guard->throttled || guard->lost > guard->samples / MOST_LOST;
}

bool guard_exceeded(struct guard *guard, uint64_t now, unsigned nr_cpus)
{
	uint64_t cpu = guard_cpu_time();
	double target, price;
	bool exceeded;

	if (guard->max_overhead <= 0 || now - guard->since < WINDOW_NS)
		return false;
	/* Where no clock tells the target's time, the machine's stands for it. */
	target = guard->target_ns ? (double)guard->target_ns
	                          : (double)(now - guard->since) * nr_cpus;
	price = 2.0 * (double)guard->price * (double)guard->unbounded;
	/* A target that mostly waits is not disturbed: what it used must be worth a judgement. */
	exceeded = has_trouble(guard) || (target > 0.1 * WINDOW_NS &&
	                                  (own_cost(guard, cpu) > guard->max_overhead * target ||
	                                   price > guard->max_overhead * target));
	*guard = (struct guard){
		.max_overhead = guard->max_overhead,
		.price = guard->price,
		.since = now,
		.cpu_since = cpu,
		.told_since = guard->told_since ? guard->told_since + guard->target_ns : 0,
	};
	return exceeded;
}
