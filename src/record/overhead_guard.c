#include "record/overhead_guard.h"

#include "base/clock.h"

#include <math.h>

#define INTERVAL_NS 1000000000
#define LEAST_NS    100000000 /* of an interval that ends early */
/* More than taking in and unwinding a sample ever costs for long. */
#define MOST_SAMPLE_NS 50000
#define MOST_LOST      100 /* one in so many */
#define LEAST_SHARE    0.5 /* of the time that may be lost, for samples */
#define MANY_LOST      256 /* no stall of a moment */

uint64_t overhead_guard_cpu_time(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void overhead_guard_init(struct overhead_guard *guard, double max_overhead, uint64_t price)
{
	*guard = (struct overhead_guard){
		.max_overhead = max_overhead, .price = price, .nr_clocks = 1};
}

/*
 * The kernel counts the samples between two of its ticks, of which there are up to 1000 a second,
 * and one or two more come between some.
 */
static double permitted_rate(const struct overhead_guard *guard)
{
	double most = (double)guard->max_rate, spare = 2000;

	return most < 2 * spare ? most / 2 : most - spare;
}

bool overhead_guard_affords(const struct overhead_guard *guard, double period)
{
	return guard->max_overhead <= 0 ||
	       2.0 * (double)guard->price * guard->nr_clocks <= guard->max_overhead * period;
}

static bool may_start(const struct overhead_guard *guard, double period)
{
	if (guard->max_rate && permitted_rate(guard) * period < 1e9)
		return false;
	return overhead_guard_affords(guard, period);
}

unsigned overhead_guard_initial_shift(const struct overhead_guard *guard, uint64_t base_period)
{
	unsigned shift = 0;

	while (shift < 20 && !may_start(guard, (double)(base_period << shift)))
		shift++;
	return shift;
}

/*
 * The recorder's CPU time that fewer samples could save. Tasks and mappings cost as well, and a
 * target that floods us with them must not lose its samples for it.
 */
static double own_cost(const struct overhead_guard *guard, uint64_t cpu)
{
	double own = (double)(cpu - guard->cpu_since) - (double)guard->others_ns;
	double most = (double)guard->samples * MOST_SAMPLE_NS;

	return own < most ? own : most;
}

void overhead_guard_target_time(struct overhead_guard *guard, uint64_t target_ns)
{
	if (!guard->told_since)
		guard->told_since = target_ns;
	if (target_ns > guard->told_since)
		guard->target_ns = target_ns - guard->told_since;
}

/* A period that doubled stays so: not for a few samples that a crowded moment cost. */
static bool has_trouble(const struct overhead_guard *guard)
{
	return guard->throttled || guard->lost > guard->samples / MOST_LOST;
}

/*
 * Estimates the time taken by counter samples, at the price that is assumed for a clock sample. The
 * rate of counter samples has no bound.
 */
static double counters_price(const struct overhead_guard *guard)
{
	return 2.0 * (double)guard->price * (double)guard->unbounded;
}

/*
 * Whether what else stops the target leaves too little time for its samples. The price of samples
 * alone was judged before the start.
 */
static bool leaves_too_little(const struct overhead_guard *guard, uint64_t cpu, double allowed)
{
	double spread = (double)(guard->spread < guard->price ? guard->spread : guard->price);
	double calls = (double)guard->calls_ns;
	double beside = fmin((double)guard->beside_ns, own_cost(guard, cpu)) +
	                (double)guard->samples * spread;
	double samples = (double)guard->samples * (double)guard->price;

	return beside + calls > 0 &&
	       samples + beside > fmax(allowed - calls, allowed * LEAST_SHARE);
}

double overhead_guard_left_for_calls(const struct overhead_guard *guard)
{
	double cost =
		(double)guard->all_samples * (double)guard->price + (double)guard->all_beside_ns;
	double share = guard->all_target_ns ? cost / (double)guard->all_target_ns : 0;

	return fmax(guard->max_overhead - share, guard->max_overhead * (1 - LEAST_SHARE));
}

/* The interval need not be over: what it may cost is used up, or most samples are lost. */
static bool is_evident(const struct overhead_guard *guard, uint64_t elapsed, double target)
{
	double whole = target / (double)elapsed * INTERVAL_NS;

	return elapsed >= LEAST_NS && (counters_price(guard) > guard->max_overhead * whole ||
	                               guard->lost >= guard->samples + MANY_LOST);
}

/* A target that mostly waits is not disturbed: what it used must be worth a judgement. */
static bool is_too_much(const struct overhead_guard *guard, uint64_t cpu, uint64_t elapsed,
                        double target)
{
	double allowed = guard->max_overhead * target;

	return has_trouble(guard) ||
	       (target > 0.1 * (double)elapsed &&
	        (own_cost(guard, cpu) > allowed || counters_price(guard) > allowed ||
	         leaves_too_little(guard, cpu, allowed)));
}

void overhead_guard_restart(struct overhead_guard *guard)
{
	*guard = (struct overhead_guard){
		.max_overhead = guard->max_overhead,
		.price = guard->price,
		.nr_clocks = guard->nr_clocks,
		.max_rate = guard->max_rate,
		.spread = guard->spread,
		.told_since = guard->told_since ? guard->told_since + guard->target_ns : 0,
		.slowed = guard->slowed,
	};
}

void overhead_guard_begin_interval(struct overhead_guard *guard, uint64_t now)
{
	*guard = (struct overhead_guard){
		.max_overhead = guard->max_overhead,
		.price = guard->price,
		.nr_clocks = guard->nr_clocks,
		.max_rate = guard->max_rate,
		.all_samples = guard->all_samples,
		.all_target_ns = guard->all_target_ns,
		.all_beside_ns = guard->all_beside_ns,
		.spread = guard->spread,
		.since = now,
		.cpu_since = overhead_guard_cpu_time(),
		.told_since = guard->told_since ? guard->told_since + guard->target_ns : 0,
		.slowed = guard->slowed,
	};
}

bool overhead_guard_exceeded(struct overhead_guard *guard, uint64_t now, unsigned nr_cpus)
{
	uint64_t cpu = overhead_guard_cpu_time(), elapsed = now - guard->since;
	double target = (double)guard->target_ns;
	bool exceeded;

	/* Where no clock tells the target's time, that of the CPUs stands for it. */
	if (!guard->target_ns)
		target = (double)elapsed * nr_cpus;
	if (guard->max_overhead <= 0 ||
	    (elapsed < INTERVAL_NS && !is_evident(guard, elapsed, target)))
		return false;
	exceeded = is_too_much(guard, cpu, elapsed, target);
	overhead_guard_begin_interval(guard, now);
	if (exceeded)
		guard->slowed = now;
	return exceeded;
}
