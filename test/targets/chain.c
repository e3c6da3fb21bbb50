/*
 * chain HOW COUNT US: a chain of COUNT links that use US microseconds of CPU time each.
 *
 *     exec     each executes the next in its place
 *     fork     each forks the next, and waits for it
 *     vfork    each starts the next with vfork and exec, and waits for it
 *     threads  threads, one after the other, 20 at a time
 *
 * Each process says at its end what it and those behind it used, and what its threads used before
 * they ended:
 *
 *     used SECONDS
 *     life SECONDS
 */
#include "burn.h"

#include <pthread.h>
#include <string.h>

static uint64_t ns, threads_ns; /* of each link; of all threads that ended */

static void *link_thread(void *arg)
{
	prctl(PR_SET_NAME, "link");
	burn_until(ns);
	__atomic_fetch_add(&threads_ns, thread_ns(), __ATOMIC_RELAXED);
	return arg;
}

static int threads(unsigned count)
{
	pthread_t running[20];

	for (unsigned i = 0; i < count + 20; i++) {
		if (i >= 20)
			pthread_join(running[i % 20], NULL);
		if (i < count && pthread_create(&running[i % 20], NULL, link_thread, NULL))
			return 1;
	}
	return 0;
}

static void say(void)
{
	print_used();
	printf("life %.6f\n", (double)(thread_ns() + threads_ns) / 1e9);
}

static int wait_for_next(void)
{
	int status = 0;

	if (wait(&status) < 0)
		return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int next(char **argv, unsigned count)
{
	char left[16];
	char *args[] = {argv[0], argv[1], left, argv[3], NULL};

	snprintf(left, sizeof(left), "%u", count - 1);
	if (!strcmp(argv[1], "exec"))
		return execv("/proc/self/exe", args);
	if (!strcmp(argv[1], "vfork")) {
		if (!vfork()) {
			execv("/proc/self/exe", args);
			_exit(127);
		}
		return wait_for_next();
	}
	while (count-- > 1) {
		if (fork())
			break;
		burn_until(ns);
	}
	return wait_for_next();
}

int main(int argc, char **argv)
{
	unsigned count = argc > 3 ? (unsigned)atoi(argv[2]) : 1;
	int status = 0;

	ns = argc > 3 ? strtoull(argv[3], NULL, 10) * 1000 : 0;
	if (argc > 3 && !strcmp(argv[1], "threads")) {
		status = threads(count);
		say();
		return status;
	}
	burn(ns); /* exec keeps the time of the thread */
	if (count > 1)
		status = next(argv, count);
	say();
	return status;
}
