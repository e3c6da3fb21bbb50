/*
 * What OpenMP has beside parallel regions: tasks, some of which have large or copied data, or run
 * after the work of their thread, groups and loops of tasks, sections, ordered and single sections,
 * reductions, nested regions, cancellation, a device, and a task outside of all regions.
 *
 *     tasks STEPS       prints a number that tells whether all were executed
 *     tasks STEPS MS    steps of six tasks that last MS each, and nothing else
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long fibonacci(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a) if (n > 10)
	a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 10)
	b = fibonacci(n - 2);
#pragma omp taskwait
	return a + b;
}

static void last(int ms)
{
	struct timespec time = {0, ms * 1000000L};

	nanosleep(&time, NULL);
}

/* Executed at the barrier of single, at the join, and in a taskwait. */
static void lasting(int ms)
{
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 2; i++) {
#pragma omp task
		last(ms);
	}
#pragma omp parallel
#pragma omp master
	for (int i = 0; i < 2; i++) {
#pragma omp task
		last(ms);
	}
#pragma omp parallel
#pragma omp single
	{
		for (int i = 0; i < 2; i++) {
#pragma omp task
			last(ms);
		}
#pragma omp taskwait
	}
}

static long with_data(void)
{
	struct {
		char bytes[5000];
	} large = {{0}};
	_Alignas(64) char aligned[64] = {0};
	long sum = 0;

	large.bytes[4999] = 3;
	aligned[63] = 4;
#pragma omp parallel
#pragma omp single
	{
#pragma omp task firstprivate(large) shared(sum)
#pragma omp atomic
		sum += large.bytes[4999];
#pragma omp task firstprivate(aligned) shared(sum)
#pragma omp atomic
		sum += aligned[63] + (long)((size_t)aligned % 64);
		memset(&large, 9, sizeof(large));
		memset(aligned, 9, sizeof(aligned));
	}
	return sum;
}

static long worksharing(void)
{
	long loop = 0, ordered = 0, sections = 0, nested = 0;

#pragma omp parallel for reduction(+ : loop) schedule(dynamic, 3)
	for (int i = 0; i < 100; i++)
		loop += i;
#pragma omp parallel sections reduction(+ : sections)
	{
#pragma omp section
		sections += 1;
#pragma omp section
		sections += 2;
	}
#pragma omp parallel for ordered schedule(static, 1)
	for (int i = 0; i < 20; i++) {
#pragma omp ordered
		ordered = ordered * 3 % 1000 + i;
	}
#pragma omp parallel num_threads(2)
	{
#pragma omp parallel num_threads(2)
		{
#pragma omp atomic
			nested += 1;
}
}
#pragma omp parallel
{
#pragma omp for
	for (int i = 0; i < 1000; i++) {
		if (i == 500) {
#pragma omp cancel for
		}
	}
}
return loop + ordered + sections + (nested >= 2);
}

static long tasks(void)
{
	long found = 0, looped = 0, reduced = 0, yielded = 0, device = 0;

#pragma omp parallel
#pragma omp single
	found = fibonacci(14);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
#pragma omp taskloop grainsize(5) shared(looped)
	for (int i = 0; i < 50; i++) {
#pragma omp atomic
		looped += i;
	}
#pragma omp parallel reduction(task, + : reduced)
	{
#pragma omp single
#pragma omp task in_reduction(+ : reduced)
		reduced += 5;
	}
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 50; i++) {
#pragma omp task untied shared(yielded)
		{
#pragma omp atomic
			yielded += 1;
#pragma omp taskyield
#pragma omp task shared(yielded)
#pragma omp atomic
			yielded += 1;
#pragma omp taskwait
		}
	}
#pragma omp target map(tofrom : device)
	device = 7;
#pragma omp task shared(device)
	device += 1;
#pragma omp taskwait
	return found + looped + reduced + yielded + device;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 1;
	long sum = 0;

	for (int i = 0; i < steps; i++)
		if (argc > 2)
			lasting(atoi(argv[2]));
		else
			sum += with_data() + worksharing() + tasks();
	printf("%ld\n", sum);
	return 0;
}
