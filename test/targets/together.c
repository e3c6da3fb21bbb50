/*
 * together THREADS SECONDS together|apart SEED: threads that spend phases of 0.1 to 0.5 ms in
 * one(), two() or three(), by chance. Together: all in the same function at the same time; apart:
 * each as its own chance has it. Says how much CPU time all threads used in each function:
 *
 *     one SECONDS
 */
#include "burn.h"

#include <pthread.h>
#include <string.h>

enum { NR = 3, MAX_THREADS = 256, SHORTEST_NS = 100000, LONGER_NS = 400000 };

struct worker {
	pthread_t thread;
	uint64_t random, start, end;
	uint64_t used[NR];
};

static volatile uint64_t sink;

/* Works until that time, to within a few microseconds. */
static inline void work_until(uint64_t end)
{
	uint64_t x = sink;

	while (clock_ns(CLOCK_MONOTONIC) < end)
		for (unsigned i = 0; i < 1000; i++)
			x = x * 6364136223846793005 + 1442695040888963407;
	sink = x;
}

NOINLINE static void one(uint64_t end)
{
	work_until(end);
	__asm__ volatile("");
}

NOINLINE static void two(uint64_t end)
{
	work_until(end);
	__asm__ volatile("");
}

NOINLINE static void three(uint64_t end)
{
	work_until(end);
	__asm__ volatile("");
}

static unsigned next_random(struct worker *worker)
{
	worker->random = worker->random * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(worker->random >> 33);
}

/* The phases are the same for workers with the same random number, whatever CPU time they get. */
static void *run(void *arg)
{
	static void (*const functions[NR])(uint64_t) = {one, two, three};
	struct worker *worker = arg;
	uint64_t end = worker->start, before, now = thread_ns();

	while (end < worker->end) {
		unsigned function = next_random(worker) % 10;

		function = function < 6 ? 0 : function < 9 ? 1 : 2;
		end += SHORTEST_NS + next_random(worker) % LONGER_NS;
		before = now;
		functions[function](end < worker->end ? end : worker->end);
		now = thread_ns();
		worker->used[function] += now - before;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const names[NR] = {"one", "two", "three"};
	static struct worker workers[MAX_THREADS];
	unsigned nr = argc > 4 ? (unsigned)atoi(argv[1]) : 0;
	uint64_t start = clock_ns(CLOCK_MONOTONIC) + 2000000;

	if (nr < 1 || nr > MAX_THREADS)
		return 2;
	for (unsigned i = 0; i < nr; i++) {
		bool apart = !strcmp(argv[3], "apart");

		workers[i].random = strtoull(argv[4], NULL, 10) + (apart ? i * 7919UL : 0);
		for (unsigned k = 0; k < 10; k++)
			next_random(&workers[i]);
		workers[i].start = start;
		workers[i].end = start + (uint64_t)(atof(argv[2]) * 1e9);
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]))
			return 1;
	}
	for (unsigned i = 0; i < nr; i++)
		pthread_join(workers[i].thread, NULL);
	for (unsigned k = 0; k < NR; k++) {
		uint64_t used = 0;

		for (unsigned i = 0; i < nr; i++)
			used += workers[i].used[k];
		printf("%s %.9f\n", names[k], (double)used / 1e9);
	}
	return 0;
}
