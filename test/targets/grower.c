/*
 * grower THREADS: threads called "early" that work in slices until told to end, so that somebody
 * can attach in the meantime. It says "ready" once they run. SIGUSR1: starts one more thread,
 * called "later", that uses half a second of CPU time, and says "later done" after it. SIGUSR2:
 * ends and says how much CPU time it used.
 */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_bool stop;

static void *early(void *arg)
{
	prctl(PR_SET_NAME, "early");
	while (!stop) {
		burn(1000000);
		usleep(1000);
	}
	return arg;
}

static void *later(void *arg)
{
	prctl(PR_SET_NAME, "later");
	burn_until(500000000);
	puts("later done");
	return arg;
}

int main(int argc, char **argv)
{
	unsigned nr = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
	pthread_t threads[64], more;
	sigset_t mask;
	int signal;

	alarm(300); /* a test that was killed tells nobody to end */
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	nr = nr > 64 ? 64 : nr;
	for (unsigned i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, early, NULL);
	puts("ready");
	while (!sigwait(&mask, &signal) && signal == SIGUSR1) {
		pthread_create(&more, NULL, later, NULL);
		pthread_join(more, NULL);
	}
	stop = true;
	for (unsigned i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	print_used();
	return 0;
}
