/*
 * quarters THREADS SECONDS: threads that all begin at once and use SECONDS of CPU time each, the
 * first of them the process' own. Says when each had used a quarter, a half and so on of it:
 *
 *     quarter THREAD TID NUMBER CLOCK_MONOTONIC-ns CPU-ns
 *     used SECONDS
 */
#include "burn.h"

#include <pthread.h>
#include <sys/syscall.h>

static uint64_t each;

static void say(unsigned thread, unsigned quarter)
{
	printf("quarter %u %ld %u %llu %llu\n", thread, syscall(SYS_gettid), quarter,
	       (unsigned long long)clock_ns(CLOCK_MONOTONIC), (unsigned long long)thread_ns());
}

static void *work(void *arg)
{
	unsigned thread = (unsigned)(uintptr_t)arg;

	say(thread, 0);
	for (unsigned quarter = 1; quarter <= 4; quarter++) {
		burn_until(each * quarter / 4);
		say(thread, quarter);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned nr = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
	pthread_t threads[64];

	each = (uint64_t)(atof(argc > 2 ? argv[2] : "1") * 1e9);
	nr = nr < 1 ? 1 : nr > 64 ? 64 : nr;
	for (unsigned i = 1; i < nr; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
	work(NULL);
	for (unsigned i = 1; i < nr; i++)
		pthread_join(threads[i], NULL);
	print_used();
	return 0;
}
