#include "record/calls/calls_thin.h"

#include "base/clock.h"

#include <math.h>
#include <time.h>

#define STRETCH_NS  100000000
#define LEAST_CALLS 1000 /* in a stretch: fewer cost nothing that matters */
#define LESS        0.7  /* of the limit: what less thinning may cost, so that it stays so */

/* Besides the clock, measured by test/bench/bench_call.py. */
#define UNTIMED_NS 15
#define RECORD_NS  40

/* --- prices ----------------------------------------------------------------------------------- */

/* Returns the least of several, because others may run meanwhile. */
static double clock_price(enum ring_clock clock)
{
	enum { READINGS = 1000, TURNS = 10 };
	double least = INFINITY;

	for (int turn = 0; turn < TURNS; turn++) {
		uint64_t start = ring_ticks(RING_CLOCK_MONOTONIC), end, sum = 0;

		for (int i = 0; i < READINGS; i++)
			sum |= ring_ticks(clock);
		end = ring_ticks(RING_CLOCK_MONOTONIC);
		if (sum)
			least = fmin(least, (double)(end - start) / READINGS);
	}
	return isfinite(least) ? least : 0;
}

struct calls_price calls_price_measure(enum ring_clock clock)
{
	return (struct calls_price){UNTIMED_NS, UNTIMED_NS + RECORD_NS + 2 * clock_price(clock)};
}

uint64_t calls_cpu_time(pid_t pid)
{
	clockid_t clock;
	struct timespec time;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return UINT64_MAX;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* --- thinning --------------------------------------------------------------------------------- */

static unsigned halvings(double price, double limit, unsigned most)
{
	unsigned n = 1;

	while (n < most && ldexp(price, -(int)n) > limit)
		n++;
	return n;
}

/* Beyond an eighth of what a call costs in any case there is nothing to gain. */
struct calls_thinning calls_thinning_for(const struct calls_price *price, double affordable)
{
	double spare = fmax(affordable - price->untimed, price->untimed / 8);
	double more = price->timed - price->untimed;

	if (affordable >= price->timed)
		return (struct calls_thinning){0};
	return (struct calls_thinning){halvings(more, spare / 2, RING_MAX_THIN),
	                               halvings(more, spare / 2, THIN_MAX_LEVEL)};
}

/* Thins at once where that is needed, and less again where there is room for that. */
static void judge(struct calls_thread_cost *cost, const struct calls_price *price,
                  double affordable)
{
	struct calls_thinning needed = calls_thinning_for(price, affordable);

	if (needed.shift < cost->thinning.shift)
		needed = calls_thinning_for(price, affordable * LESS);
	if (needed.shift != cost->thinning.shift || needed.level > cost->thinning.level)
		cost->thinning = needed;
}

/* Returns the ns that each call of the stretch may cost. Threads that wait pay for less time. */
static double affordable(const struct calls_thread_cost *cost, const struct calls_look *look)
{
	double time = (double)(look->now - cost->since);
	double nr = (double)(look->calls - cost->calls);

	if (look->cpu != UINT64_MAX && cost->cpu != UINT64_MAX)
		time = fmin(time, (double)(look->cpu - cost->cpu));
	return look->share > 0 && nr >= LEAST_CALLS ? look->share * time / nr : INFINITY;
}

/* The target counts: what is more than its time is cut. */
static uint64_t price_of(const struct calls_price *price, uint64_t nr, uint64_t untimed,
                         uint64_t most)
{
	double ns = price->untimed * (double)nr;

	if (untimed < nr)
		ns += (price->timed - price->untimed) * (double)(nr - untimed);
	return ns < (double)most ? (uint64_t)ns : most;
}

static void begin_stretch(struct calls_thread_cost *cost, const struct calls_look *look)
{
	cost->since = look->now;
	cost->cpu = look->cpu;
	cost->calls = look->calls;
	cost->untimed = look->untimed;
}

uint64_t calls_thread_look(struct calls_thread_cost *cost, const struct calls_price *price,
                           const struct calls_look *look)
{
	uint64_t ns;

	if (!cost->since) {
		begin_stretch(cost, look);
		cost->changed = look->now;
	}
	if (look->calls != cost->seen)
		cost->changed = look->now;
	cost->seen = look->calls;
	if (look->now < cost->since + STRETCH_NS && !look->last)
		return 0;
	ns = price_of(price, look->calls - cost->calls, look->untimed - cost->untimed,
	              look->now - cost->since);
	judge(cost, price, affordable(cost, look));
	begin_stretch(cost, look);
	return ns;
}
