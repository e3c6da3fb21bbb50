/* The kernel's records of switches tell what a task used, to its end. */
#include "open_sampler.h"

#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAPS = 20, BUSY_NS = 2000000 };

static uint64_t used(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Begins when it is told to, and says what it used. */
static void work(int told, int said)
{
	uint64_t before;
	char go;

	if (read(told, &go, 1) != 1 || fork())
		_exit(wait(NULL) < 0);
	for (unsigned i = 0; i < NAPS; i++) {
		for (before = used(); used() - before < BUSY_NS;)
			continue;
		usleep(1000);
	}
	before = used();
	_exit(write(said, &before, sizeof(before)) != sizeof(before));
}

static struct sampler *open_on(pid_t pid, const struct event *event)
{
	const struct sampler_config config = {
		.way = SAMPLER_LADDER,
		.tasks = &pid,
		.nr_tasks = 1,
		.totals = SAMPLER_TOTALS_BY_SWITCHES,
		.events = event,
		.nr_events = 1,
		.base_period = {10000019},
		.ring_size = 64 << 10,
	};

	return open_sampler(&config);
}

/* Of the first task that came. */
static uint64_t sum_of_runs(struct sampler *sampler)
{
	struct sampler_origin origin;
	struct record record;
	uint64_t sum = 0, since = 0;
	uint32_t tid = 0;

	sampler_drain(sampler, true);
	while (sampler_next(sampler, &record, &origin)) {
		if (record.type == RECORD_FORK)
			tid = record.tid;
		if (!tid || record.tid != tid)
			continue;
		if (record.type == RECORD_RUN)
			since = record.time;
		if (since && (record.type == RECORD_STOP || record.type == RECORD_EXIT)) {
			sum += record.time - since;
			since = 0;
		}
	}
	assert_int_not_equal(tid, 0);
	return sum;
}

static void runs_are_what_was_used(void **state)
{
	struct sampler *sampler;
	struct event event;
	int told[2], said[2];
	uint64_t expected, sum;
	pid_t pid;

	(void)state;
	parse_clock(&event);
	assert_int_equal(pipe(told) | pipe(said), 0);
	pid = fork();
	if (!pid)
		work(told[0], said[1]);
	sampler = open_on(pid, &event);
	assert_non_null(sampler);
	assert_int_equal(sampler_enable(sampler), 0);
	assert_int_equal(write(told[1], "", 1), 1);
	assert_int_equal(read(said[0], &expected, sizeof(expected)), sizeof(expected));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	sum = sum_of_runs(sampler);
	printf("%llu of %llu ns\n", (unsigned long long)sum, (unsigned long long)expected);
	assert_in_range(sum, expected / 10 * 9, expected / 2 * 3);
	sampler_close(sampler);
}

/* Of what is no time the kernel tells at the end of a task, or nobody does. */
static void only_time_is_known_by_switches(void **state)
{
	struct event event;
	char why[WHY_SIZE];

	(void)state;
	assert_int_equal(event_parse(&event, "page-faults", why), 0);
	assert_int_equal(sampler_possible_totals(&event), SAMPLER_TOTALS_AT_EXIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_what_was_used),
		cmocka_unit_test(only_time_is_known_by_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
