/*
 * Timing for the benchmarks. The machine may be shared and noisy, so what is measured and its
 * yardstick take turns in one run. Of many short turns the minimum counts for each where they
 * compute, and the median where they write to much memory: once in a thousand turns the caches
 * happen to have taken away all of it before.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* Does a thing many times and returns the time for one, in ns. */
typedef double bench_run(void *arg);

/* Returns the time of a clock, ns. */
static inline uint64_t bench_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static inline uint64_t bench_now(void)
{
	return bench_clock(CLOCK_MONOTONIC);
}

/* The value was needed: the compiler must not leave its computation out. */
#define BENCH_KEEP(value) __asm__ volatile("" : "+r"(value))

static inline double bench_least(bench_run *run, void *arg, double least)
{
	double ns = run(arg);

	return ns < least ? ns : least;
}

#define BENCH_TURNS 1001

struct bench_series {
	double ns[BENCH_TURNS];
	unsigned nr;
};

/* One more turn, of BENCH_TURNS. */
static inline void bench_turn(bench_run *run, void *arg, struct bench_series *series)
{
	series->ns[series->nr++] = run(arg);
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double bench_median(struct bench_series *series)
{
	qsort(series->ns, series->nr, sizeof(*series->ns), bench_compare);
	return series->ns[series->nr / 2];
}

/* Zeroed, touched memory, so that no page fault is part of a figure. */
static inline void *bench_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED) {
		perror("bench: mmap");
		exit(1);
	}
	return memory;
}

static inline void bench_head(const char *name, const char *unit)
{
	printf("%s\n  %-46s %10s   %-34s %10s %8s   %s\n", name, "", unit, "yardstick", unit,
	       "ratio", "goal");
}

/* One line. A yardstick of 0: there is none. */
static inline void bench_figure(const char *what, double measured, const char *yardstick,
                                double yard, const char *goal)
{
	printf("  %-46s %10.2f   %-34s ", what, measured, yardstick);
	if (yard > 0)
		printf("%10.2f %8.3g   %s\n", yard, measured / yard, goal);
	else
		printf("%10s %8s   %s\n", "", "", goal);
}

#endif
