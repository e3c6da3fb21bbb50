#include "record/calls/calls_clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define FIRST_DISTANCE 100000000 /* ns */

static uint64_t monotonic_ns(void)
{
	return ring_ticks(RING_CLOCK_MONOTONIC);
}

#if defined(__x86_64__)
/* The kernel has looked whether the counters of all CPUs agree. */
static bool kernel_trusts_counter(void)
{
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char name[16] = "";
	bool read;

	if (!f)
		return false;
	read = fgets(name, sizeof(name), f);
	fclose(f);
	return read && !strncmp(name, "tsc", 3);
}

static bool counter_invariant(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && edx >> 8 & 1 &&
	       kernel_trusts_counter();
}
#elif defined(__aarch64__)
static bool counter_invariant(void)
{
	return true; /* the architecture promises it */
}
#else
static bool counter_invariant(void)
{
	return false;
}
#endif

void calls_clock_init(struct calls_clock *clock)
{
	clock->nr = 0;
	clock->distance = FIRST_DISTANCE;
	clock->error = 0;
	clock->source = counter_invariant() ? RING_CLOCK_COUNTER : RING_CLOCK_MONOTONIC;
	calls_clock_read(clock);
}

static void thin(struct calls_clock *clock)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < clock->nr; i += 2)
		clock->points[kept++] = clock->points[i];
	clock->points[kept] = clock->points[clock->nr - 1];
	clock->nr = kept + 1;
	clock->distance *= 2;
	for (unsigned i = 0; i + 1 < clock->nr; i++) {
		struct calls_point *point = &clock->points[i];

		point->rate =
			(double)(point[1].ns - point->ns) / (double)(point[1].ticks - point->ticks);
	}
}

void calls_clock_note(struct calls_clock *clock, uint64_t ticks, uint64_t ns)
{
	struct calls_point *last = &clock->points[clock->nr ? clock->nr - 1 : 0];

	if (clock->nr && (ticks <= last->ticks || ns < last->ns))
		return;
	/* The last point stays where it is once it is far enough from the one before. */
	if (clock->nr < 2 || last->ns - last[-1].ns >= clock->distance)
		clock->nr++;
	last = &clock->points[clock->nr - 1];
	*last = (struct calls_point){ticks, ns, 0};
	if (clock->nr > 1)
		last[-1].rate = (double)(ns - last[-1].ns) / (double)(ticks - last[-1].ticks);
	if (clock->nr == CALLS_CLOCK_POINTS)
		thin(clock);
}

/* The reading of both that was least disturbed. */
void calls_clock_read(struct calls_clock *clock)
{
	uint64_t best = UINT64_MAX, ticks = 0, ns = 0;

	if (clock->source == RING_CLOCK_MONOTONIC) {
		clock->now = monotonic_ns();
		return;
	}
	for (unsigned i = 0; i < 4; i++) {
		uint64_t before = monotonic_ns(), now = ring_counter(), after = monotonic_ns();

		if (after - before >= best)
			continue;
		best = after - before;
		ticks = now;
		ns = before + best / 2;
	}
	if (best > clock->error)
		clock->error = best;
	calls_clock_note(clock, ticks, ns);
}

uint64_t calls_clock_ns(const struct calls_clock *clock, uint64_t ticks)
{
	const struct calls_point *point;
	unsigned i = clock->nr - 1;

	if (clock->source == RING_CLOCK_MONOTONIC)
		return ticks < clock->now ? ticks : clock->now;
	point = &clock->points[i];
	if (ticks >= point->ticks)
		return point->ns;
	while (i > 0 && clock->points[i].ticks > ticks)
		i--;
	point = &clock->points[i];
	if (ticks <= point->ticks)
		return point->ns;
	return point->ns + (uint64_t)((double)(ticks - point->ticks) * point->rate);
}

double calls_clock_rate(const struct calls_clock *clock)
{
	const struct calls_point *first = clock->points, *last = &clock->points[clock->nr - 1];

	if (clock->source == RING_CLOCK_MONOTONIC)
		return 1;
	if (clock->nr < 2)
		return 0;
	return (double)(last->ns - first->ns) / (double)(last->ticks - first->ticks);
}

struct ring_instant calls_clock_instant(const struct calls_clock *clock)
{
	const struct calls_point *last = &clock->points[clock->nr - 1];

	if (clock->source == RING_CLOCK_MONOTONIC)
		return (struct ring_instant){clock->now, clock->now, 1};
	return (struct ring_instant){last->ticks, last->ns, calls_clock_rate(clock)};
}
