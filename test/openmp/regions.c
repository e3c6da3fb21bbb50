/*
 * Five parallel regions a step: an imbalance of 2:1, a barrier, a critical section, a loop with its
 * barrier, and equal work. Each thread measures its waits itself; they are printed as JSON.
 *
 *     regions STEPS [NS]     NS: a unit of work, 1 ms if not given; 0: no work
 *
 * Work is sleep, so that a busy machine changes little. It is C and C++.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MAX_THREADS 64

enum { IMBALANCE, BARRIER, CRITICAL, LOOP, EQUAL, NR_REGIONS };

static const char *const names[NR_REGIONS] = {"imbalance", "barrier", "critical", "loop", "equal"};

/* Measured by one thread, in ns. It is a cache line and more, so that threads do not share one. */
struct seen {
	uint64_t ends, barrier, critical, work;
	uint64_t room[12];
};

static struct seen seen[MAX_THREADS];
static long unit = 1000000;
static struct {
	int line;
	uint64_t count, time, idle, barrier, critical, longest, mean;
} regions[NR_REGIONS];

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void work(int units)
{
	struct timespec time = {0, units * unit};

	if (unit)
		nanosleep(&time, NULL);
}

static void work_ends(uint64_t begin)
{
	struct seen *own = &seen[omp_get_thread_num()];

	own->ends = now();
	own->work = own->ends - begin - own->barrier - own->critical;
}

/* Adds a region that has ended, whose threads have told what they saw. */
static void add(int region, uint64_t from, int nr)
{
	uint64_t to = now(), longest = 0, sum = 0;

	for (int i = 0; i < nr; i++) {
		regions[region].idle += to - seen[i].ends;
		regions[region].barrier += seen[i].barrier;
		regions[region].critical += seen[i].critical;
		longest = seen[i].work > longest ? seen[i].work : longest;
		sum += seen[i].work;
		seen[i].ends = seen[i].barrier = seen[i].critical = seen[i].work = 0;
	}
	regions[region].count++;
	regions[region].time += to - from;
	regions[region].longest += longest;
	regions[region].mean += sum / (uint64_t)nr;
}

static void step(int nr)
{
	uint64_t from = now();

	regions[IMBALANCE].line = __LINE__ + 1;
#pragma omp parallel
	{
		uint64_t begin = now();

		work(omp_get_thread_num() ? 1 : 2);
		work_ends(begin);
	}
	add(IMBALANCE, from, nr);

	from = now();
	regions[BARRIER].line = __LINE__ + 1;
#pragma omp parallel
	{
		uint64_t begin = now(), before;

		work(omp_get_thread_num() ? 1 : 2);
		before = now();
#pragma omp barrier
		seen[omp_get_thread_num()].barrier += now() - before;
		work(1);
		work_ends(begin);
	}
	add(BARRIER, from, nr);

	from = now();
	regions[CRITICAL].line = __LINE__ + 1;
#pragma omp parallel
	{
		uint64_t begin = now();

#pragma omp critical
		{
			seen[omp_get_thread_num()].critical += now() - begin;
			work(1);
		}
		work_ends(begin);
	}
	add(CRITICAL, from, nr);

	from = now();
	regions[LOOP].line = __LINE__ + 1;
#pragma omp parallel
	{
		uint64_t begin = now(), before = begin;

#pragma omp for schedule(dynamic)
		for (int i = 0; i < 2 * nr - 1; i++) {
			work(1);
			before = now();
		}
		seen[omp_get_thread_num()].barrier += now() - before;
		work_ends(begin);
	}
	add(LOOP, from, nr);

	from = now();
	regions[EQUAL].line = __LINE__ + 1;
#pragma omp parallel
	{
		uint64_t begin = now();

		work(1);
		work_ends(begin);
	}
	add(EQUAL, from, nr);
}

static void print(int steps, int nr, uint64_t serial)
{
	printf("{\"steps\":%d,\"threads\":%d,\"serial_ns\":%llu,\"regions\":[", steps, nr,
	       (unsigned long long)serial);
	for (int i = 0; i < NR_REGIONS; i++)
		printf("%s{\"name\":\"%s\",\"line\":%d,\"count\":%llu,\"time_ns\":%llu,"
		       "\"idle_ns\":%llu,\"barrier_wait_ns\":%llu,\"critical_wait_ns\":%llu,"
		       "\"imbalance\":%.4f}",
		       i ? "," : "", names[i], regions[i].line,
		       (unsigned long long)regions[i].count, (unsigned long long)regions[i].time,
		       (unsigned long long)regions[i].idle, (unsigned long long)regions[i].barrier,
		       (unsigned long long)regions[i].critical,
		       regions[i].longest ? (double)(regions[i].longest - regions[i].mean) /
		                                    (double)regions[i].longest
		                          : 0);
	printf("]}\n");
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 10, nr = omp_get_max_threads();
	uint64_t from = now(), parallel = 0;

	if (argc > 2)
		unit = atol(argv[2]);
	if (steps < 1 || nr > MAX_THREADS)
		return 2;
	for (int i = 0; i < steps; i++) {
		work(1); /* serial */
		step(nr);
	}
	for (int i = 0; i < NR_REGIONS; i++)
		parallel += regions[i].time;
	print(steps, nr, now() - from - parallel);
	return 0;
}
