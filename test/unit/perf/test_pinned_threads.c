#include "cases.h"
#include "perf/sampler/pinned_threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

struct call {
	unsigned count;
	int cpu;
	bool blocks_signals;
};

static void note_call(void *arg)
{
	struct call *call = arg;
	sigset_t mask;

	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	call->count++;
	call->cpu = sched_getcpu();
	call->blocks_signals = sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM);
}

/* The first two CPUs that this process may use; returns how many there are. */
static unsigned two_cpus(int cpus[2])
{
	cpu_set_t allowed;
	unsigned nr = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && nr < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[nr++] = cpu;
	return nr;
}

static void calls_are_made_on_their_cpu(void **state)
{
	int cpus[2];
	unsigned nr = two_cpus(cpus);
	struct pinned_threads *threads = pinned_threads_new(cpus, nr);
	struct call calls[2] = {{0}};

	(void)state;
	assert_non_null(threads);
	for (unsigned round = 1; round < 4; round++) {
		for (unsigned i = 0; i < nr; i++)
			assert_int_equal(pinned_threads_begin(threads, i, note_call, &calls[i]), 0);
		pinned_threads_wait(threads);
		for (unsigned i = 0; i < nr; i++) {
			assert_int_equal(calls[i].count, round);
			assert_int_equal(calls[i].cpu, cpus[i]);
			assert_true(calls[i].blocks_signals);
		}
	}
	pinned_threads_free(threads);
}

static void a_cpu_that_is_not_there_is_refused(void **state)
{
	const int cpus[] = {CPU_SETSIZE, CPU_SETSIZE - 1};
	struct pinned_threads *threads = pinned_threads_new(cpus, 2);
	struct call call = {0};

	(void)state;
	assert_true(pinned_threads_begin(threads, 0, note_call, &call) < 0);
	assert_true(pinned_threads_begin(threads, 1, note_call, &call) < 0);
	pinned_threads_wait(threads);
	assert_int_equal(call.count, 0);
	pinned_threads_free(threads);
}

static void unused_threads_are_freed(void **state)
{
	const int cpu = 0;

	(void)state;
	pinned_threads_free(pinned_threads_new(&cpu, 1));
	pinned_threads_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_made_on_their_cpu),
		cmocka_unit_test(a_cpu_that_is_not_there_is_refused),
		cmocka_unit_test(unused_threads_are_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
