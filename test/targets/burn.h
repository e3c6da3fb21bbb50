/* Using up CPU time: exactly so much of it, however long that takes on a busy machine. */
#ifndef TARGETS_BURN_H
#define TARGETS_BURN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* About 2 us. */
NOINLINE static uint64_t burn_step(uint64_t x)
{
	for (unsigned i = 0; i < 1000; i++)
		x = x * 6364136223846793005 + 1442695040888963407;
	return x;
}

/* Until this thread has used so much CPU time since it began. */
NOINLINE static void burn_until(uint64_t ns)
{
	volatile uint64_t x = 1;

	while (thread_ns() < ns)
		x = burn_step(x);
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

/* Of this process and its children that have been waited for. */
static inline double used_seconds(void)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	return usage_seconds(&self) + usage_seconds(&children);
}

#endif
