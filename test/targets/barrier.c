/*
 * barrier THREADS [MICROSECONDS [SECONDS]]: threads, each bound to a CPU, that work so long, wait
 * for each other in a loop that spins, and work again. Prints how many thousand rounds a second
 * they made: whatever stops one of them stops all.
 */
#include "burn.h"

#include <pthread.h>
#include <sched.h>

#define MOST 1024

static unsigned nr_threads, steps;
static uint64_t end;
static struct {
	_Alignas(128) unsigned arrived;
	_Alignas(128) unsigned round;
	_Alignas(128) bool over;
} barrier;

/* Binds the calling thread to the CPU with this index among those it may run on. */
static void bind_to(unsigned index)
{
	cpu_set_t allowed, one;
	unsigned cpu = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (index %= (unsigned)CPU_COUNT(&allowed); index || !CPU_ISSET(cpu, &allowed); cpu++)
		index -= CPU_ISSET(cpu, &allowed);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* The last that arrives looks at the clock now and then. */
static void wait_for_all(unsigned round)
{
	if (__atomic_add_fetch(&barrier.arrived, 1, __ATOMIC_ACQ_REL) == nr_threads) {
		barrier.arrived = 0;
		barrier.over = round % 64 == 0 && clock_ns(CLOCK_MONOTONIC) >= end;
		__atomic_store_n(&barrier.round, round, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&barrier.round, __ATOMIC_ACQUIRE) != round)
		continue;
}

static uint64_t do_steps(unsigned nr)
{
	uint64_t x = 1;

	for (unsigned i = 0; i < nr; i++)
		x = x * 6364136223846793005 + 1442695040888963407;
	return x;
}

NOINLINE static void *work(void *arg)
{
	volatile uint64_t result;
	unsigned round = 0;

	bind_to((unsigned)(uintptr_t)arg);
	do {
		result = do_steps(steps);
		wait_for_all(++round);
	} while (!barrier.over);
	return (void *)(uintptr_t)(result & 0);
}

/* Returns how many steps take a microsecond: as measured where nothing disturbed it. */
static double steps_per_us(void)
{
	volatile uint64_t result;
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < 200; i++) {
		uint64_t start = clock_ns(CLOCK_MONOTONIC), took;

		result = do_steps(20000);
		took = clock_ns(CLOCK_MONOTONIC) - start;
		least = took < least ? took : least;
	}
	return 20000e3 / (double)(least + (result & 0));
}

int main(int argc, char **argv)
{
	double us = argc > 2 ? atof(argv[2]) : 3.4, seconds = argc > 3 ? atof(argv[3]) : 1;
	pthread_t threads[MOST];
	struct rusage usage;
	uint64_t start;

	nr_threads = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
	nr_threads = nr_threads < 1 ? 1 : nr_threads > MOST ? MOST : nr_threads;
	steps = (unsigned)(us * steps_per_us());
	start = clock_ns(CLOCK_MONOTONIC);
	end = start + (uint64_t)(seconds * 1e9);
	for (unsigned i = 0; i < nr_threads; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i))
			abort();
	for (unsigned i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	printf("rate %.3f\n", barrier.round / ((double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e6));
	getrusage(RUSAGE_SELF, &usage);
	printf("preempted %ld\n", usage.ru_nivcsw);
	return 0;
}
