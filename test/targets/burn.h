/* Using up CPU time: exactly so much of it, however long that takes on a busy machine. */
#ifndef TARGETS_BURN_H
#define TARGETS_BURN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, unused))

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static inline uint64_t thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* One or two us. */
NOINLINE static uint64_t burn_step(uint64_t x)
{
	for (unsigned i = 0; i < 1000; i++)
		x = x * 6364136223846793005 + 1442695040888963407;
	return x;
}

/*
 * CPU time that passed in leaps: the machine stood still, as virtual ones do, and no clock ticked.
 * Of this process and all that it forks.
 */
static uint64_t *stalled;

__attribute__((constructor)) static void share_stalled(void)
{
	stalled = mmap(NULL, sizeof(*stalled), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	               -1, 0);
	if (stalled == MAP_FAILED)
		abort();
}

#define LEAP_NS 4000000

/* The CPU time of this thread, which is looked at often. */
static uint64_t look(void)
{
	static __thread uint64_t before;
	uint64_t now = thread_ns();

	/* A forked process begins anew. */
	if (before && now > before + LEAP_NS)
		__atomic_fetch_add(stalled, now - before, __ATOMIC_RELAXED);
	before = now;
	return now;
}

/* Until this thread has used so much CPU time since it began. The clock is read every half ms. */
NOINLINE static void burn_until(uint64_t ns)
{
	volatile uint64_t x = 1;
	uint64_t now;

	while ((now = look()) < ns) {
		uint64_t steps = (ns - now) / 4000;

		for (steps = steps < 1 ? 1 : steps > 250 ? 250 : steps; steps; steps--)
			x = burn_step(x);
	}
}

NOINLINE static void burn(uint64_t ns)
{
	burn_until(thread_ns() + ns);
}

static inline double usage_seconds(const struct rusage *usage)
{
	return (double)usage->ru_utime.tv_sec + (double)usage->ru_utime.tv_usec / 1e6 +
	       (double)usage->ru_stime.tv_sec + (double)usage->ru_stime.tv_usec / 1e6;
}

/* This process and its children that have been waited for. */
static inline void print_used(void)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	printf("used %.6f\n", usage_seconds(&self) + usage_seconds(&children));
	printf("stalled %.6f\n", (double)*stalled / 1e9);
}

#endif
