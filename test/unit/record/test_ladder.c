#include "open_sampler.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf/events/event.h"
#include "symbolize/unwind/unwind.h"

/* A ladder of inherited events on threads that are older than it, and on one that is not. */

enum { NR_THREADS = 3, OLD = 2, ENOUGH = 5, PERIOD = 970793 };
/* Bytes of stack that the first rung copies, and the slower ones. */
enum { SMALL = 64, LARGE = 192 };

static int said[2], told[2];

static _Noreturn void spin(void)
{
	for (;;)
		__asm__ volatile("");
}

static void *tell_and_spin(void *arg)
{
	const pid_t tid = (pid_t)syscall(SYS_gettid);

	(void)arg;
	if (write(said[1], &tid, sizeof(tid)) == sizeof(tid))
		spin();
	return NULL;
}

/* Threads that run for ever: one is there at once, the first and another one begin when told to. */
static _Noreturn void target(void)
{
	pthread_t thread;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread, NULL, tell_and_spin, NULL);
	if (read(told[0], &byte, 1) == 1)
		pthread_create(&thread, NULL, tell_and_spin, NULL);
	spin();
}

struct count {
	pid_t tid;
	unsigned fresh, stale; /* of the rung in force, and of others after its time */
};

static struct count *count_of(struct count *counts, pid_t tid)
{
	for (unsigned i = 0; i < NR_THREADS; i++)
		if (counts[i].tid == tid)
			return &counts[i];
	return NULL;
}

static bool enough(const struct count *counts)
{
	for (unsigned i = 0; i < NR_THREADS; i++)
		if (counts[i].fresh < ENOUGH)
			return false;
	return true;
}

/* Drains until all threads were sampled by the rung that is in force since a time. */
static void await_samples(struct sampler *sampler, const pid_t *tids, unsigned rung, unsigned shift,
                          uint64_t since)
{
	struct count counts[NR_THREADS] = {{0}}, *count;
	struct sampler_origin origin;
	struct record record;

	for (unsigned i = 0; i < NR_THREADS; i++)
		counts[i].tid = tids[i];
	while (!enough(counts)) {
		usleep(2000);
		sampler_drain(sampler, false);
		while (sampler_next(sampler, &record, &origin)) {
			if (record.type != RECORD_SAMPLE || record.time <= since)
				continue;
			count = count_of(counts, (pid_t)record.tid);
			assert_non_null(count);
			assert_int_equal(origin.rung, rung);
			assert_int_equal(origin.shift, shift);
			assert_int_equal(record.sample.stack_size, rung ? LARGE : SMALL);
			assert_false(origin.stale);
			count->fresh++;
		}
	}
}

static uint32_t copy_size(const void *arg, uint64_t period, size_t room)
{
	const struct event *event = arg;

	assert_true(event->unit == EVENT_NS);
	assert_in_range(room, (64 << 10) / 2, (64 << 10) - 1);
	return period > PERIOD / 4 ? LARGE : SMALL;
}

static struct sampler *open_ladder(const struct event *event, const pid_t *tids, size_t nr,
                                   bool on_exec)
{
	const struct sampler_config config = {
		.way = SAMPLER_LADDER,
		.tasks = tids,
		.nr_tasks = nr,
		.on_exec = on_exec,
		.events = event,
		.nr_events = 1,
		.base_period = {PERIOD / 4},
		.spread = true,
		.stack_size = SMALL,
		.copy_size = copy_size,
		.copy_arg = event,
		.regs = unwind_regs_mask(),
		.ring_size = 64 << 10,
	};

	return open_sampler(&config);
}

static pid_t next_tid(void)
{
	pid_t tid;

	assert_int_equal(read(said[0], &tid, sizeof(tid)), sizeof(tid));
	return tid;
}

/* Starts a target, and samples the threads that it has at once. */
static struct sampler *open_on_target(struct event *event, pid_t tids[NR_THREADS])
{
	struct sampler *sampler;

	parse_clock(event);
	assert_int_equal(pipe(said) | pipe(told), 0);
	tids[0] = fork();
	if (!tids[0])
		target();
	tids[1] = next_tid();
	sampler = open_ladder(event, tids, OLD, false);
	assert_non_null(sampler);
	return sampler;
}

static void end_target(const pid_t tids[NR_THREADS])
{
	kill(tids[0], SIGKILL);
	assert_int_equal(waitpid(tids[0], NULL, 0), tids[0]);
}

static void take_steps(struct sampler *sampler, pid_t tids[NR_THREADS])
{
	uint64_t total;

	assert_int_equal(sampler_enable(sampler), 0);
	assert_int_equal(write(told[1], "", 1), 1);
	tids[OLD] = next_tid();
	await_samples(sampler, tids, 0, 0, 0);
	/* The rungs lie two doublings apart: what is between is the buffer's. */
	assert_int_equal(sampler_follow(sampler, 0, 1), 0);
	assert_int_equal(sampler_follow(sampler, 0, 2), 2);
	await_samples(sampler, tids, 1, 2, sampler_now());
	/* Beyond the last rung nothing changes. */
	assert_int_equal(sampler_follow(sampler, 0, 60), sampler_follow(sampler, 0, 63));
	/* A restart reaches all threads as well. */
	total = sampler_total(sampler, 0);
	sampler_restart(sampler);
	assert_true(sampler_total(sampler, 0) < total);
	await_samples(sampler, tids, 0, 0, sampler_now());
	assert_int_equal(sampler_follow(sampler, 0, 2), 2);
}

static void a_step_reaches_all_threads_at_once(void **state)
{
	struct sampler *sampler;
	struct event event;
	pid_t tids[NR_THREADS];

	(void)state;
	sampler = open_on_target(&event, tids);
	take_steps(sampler, tids);
	/* No two CPUs march together. */
	for (unsigned c = 1; c < sampler_nr_cpus(sampler); c++)
		assert_int_not_equal(sampler_base_period(sampler, 0, c),
		                     sampler_base_period(sampler, 0, c - 1));
	sampler_close(sampler);
	end_target(tids);
}

enum { RUN_NS = 100000000 };

/* Adds the samples until all threads have run for some more time, and of each thread. */
static uint64_t sum_samples(struct sampler *sampler, const pid_t *tids,
                            unsigned by_thread[NR_THREADS])
{
	uint64_t end = sampler_total(sampler, 0) + RUN_NS, sum = 0;
	struct sampler_origin origin;
	struct record record;
	bool over = false;

	while (!over) {
		usleep(2000);
		over = sampler_total(sampler, 0) >= end;
		sampler_drain(sampler, over);
		while (sampler_next(sampler, &record, &origin)) {
			if (record.type != RECORD_SAMPLE || origin.stale)
				continue;
			sum += (PERIOD / 4) << origin.shift;
			for (unsigned i = 0; i < NR_THREADS; i++)
				by_thread[i] += tids[i] == (pid_t)record.tid;
		}
	}
	return sum;
}

static uint64_t rest(struct sampler *sampler)
{
	struct sampler_origin origin;
	struct record record;
	uint64_t sum = 0;

	sampler_drain(sampler, true);
	while (sampler_next(sampler, &record, &origin))
		if (record.type == RECORD_SAMPLE && !origin.stale)
			sum += (PERIOD / 4) << origin.shift;
	return sum;
}

/* Nothing is sampled until the pause is over. */
static void use_while_paused(struct sampler *sampler, uint64_t *sum)
{
	sampler_pause(sampler);
	*sum += rest(sampler);
	sampler_use_adopted(sampler);
	usleep(20000);
	assert_int_equal(rest(sampler), 0);
	assert_int_equal(sampler_resume(sampler), 0);
}

/* Without a gap, and without sampling anything twice, whichever events are in force. */
static void adopted_threads_are_sampled_once(void **state)
{
	unsigned by_thread[NR_THREADS] = {0};
	pid_t tids[NR_THREADS] = {0};
	struct sampler *sampler;
	struct event event;
	uint64_t sum, total;

	(void)state;
	sampler = open_on_target(&event, tids);
	assert_int_equal(sampler_enable(sampler), 0);
	sum = sum_samples(sampler, tids, by_thread);
	assert_int_equal(sampler_adopt(sampler, tids, 0), -ESRCH);
	assert_int_equal(sampler_adopt(sampler, tids, OLD), 0);
	assert_int_equal(sampler_adopt(sampler, tids, OLD), -EALREADY);
	sampler_drop_adopted(sampler);
	sum += sum_samples(sampler, tids, by_thread);
	assert_int_equal(sampler_adopt(sampler, tids, OLD), 0);
	sampler_use_adopted(sampler);
	/* It inherits its events from one that was adopted. */
	assert_int_equal(write(told[1], "", 1), 1);
	tids[OLD] = next_tid();
	memset(by_thread, 0, sizeof(by_thread));
	while (!by_thread[0] || !by_thread[1] || !by_thread[OLD])
		sum += sum_samples(sampler, tids, by_thread);
	assert_int_equal(sampler_adopt(sampler, tids, NR_THREADS), 0);
	use_while_paused(sampler, &sum);
	sum += sum_samples(sampler, tids, by_thread);
	assert_int_equal(sampler_follow(sampler, 0, 2), 2);
	sum += sum_samples(sampler, tids, by_thread);
	end_target(tids);
	sampler_disable(sampler);
	total = sampler_total(sampler, 0);
	sum += rest(sampler);
	sum += sampler_all_lost(sampler) * (PERIOD / 4);
	/* Each thread may end a last period on each CPU with each set and rung. */
	printf("%.1f of %.1f ms\n", (double)sum / 1e6, (double)total / 1e6);
	assert_in_range(sum, total / 10 * 9, total + total / 50);
	sampler_close(sampler);
}

/* Its events may take the place of others meanwhile. */
static void an_event_that_is_off_stays_off(void **state)
{
	unsigned by_thread[NR_THREADS] = {0};
	pid_t tids[NR_THREADS] = {0};
	struct sampler *sampler;
	struct event event;

	(void)state;
	sampler = open_on_target(&event, tids);
	assert_int_equal(sampler_enable(sampler), 0);
	sampler_switch_event(sampler, 0, false);
	rest(sampler);
	assert_int_equal(sampler_adopt(sampler, tids, OLD), 0);
	sampler_use_adopted(sampler);
	usleep(20000);
	assert_int_equal(rest(sampler), 0);
	sampler_switch_event(sampler, 0, true);
	while (!by_thread[1])
		sum_samples(sampler, tids, by_thread);
	end_target(tids);
	sampler_close(sampler);
}

/* Lets a sibling take its place, whose program executes another one when it is told to. */
static _Noreturn void shell(void)
{
	char byte;

	dup2(told[0], STDIN_FILENO);
	if (read(STDIN_FILENO, &byte, 1) == 1 &&
	    !syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) &&
	    read(STDIN_FILENO, &byte, 1) == 1)
		execl("/bin/sh", "sh", "-c",
		      "read line; sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done'; :",
		      NULL);
	_exit(127);
}

static unsigned count_in_step(struct sampler *sampler, uint64_t since)
{
	struct sampler_origin origin;
	struct record record;
	unsigned nr = 0;

	while (sampler_next(sampler, &record, &origin)) {
		if (record.type != RECORD_SAMPLE || record.time <= since)
			continue;
		assert_false(origin.stale);
		nr++;
	}
	return nr;
}

static void step_before_a_program(struct sampler *sampler, pid_t pid)
{
	unsigned nr = 0;
	bool ended = false;
	uint64_t since;

	assert_int_equal(write(told[1], "", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(sampler_enable(sampler), 0);
	assert_int_equal(write(told[1], "", 1), 1);
	usleep(20000);
	assert_int_equal(sampler_follow(sampler, 0, 2), 2);
	since = sampler_now();
	assert_int_equal(write(told[1], "\n", 1), 1);
	while (!ended) {
		usleep(2000);
		ended = waitpid(-1, NULL, WNOHANG) > 0;
		sampler_drain(sampler, ended);
		nr += count_in_step(sampler, since);
	}
	assert_true(nr >= ENOUGH);
}

/*
 * An event that begins with an exec is enabled anew in every child that executes something, unless
 * the kernel gave the process that we opened it for the context of the one that executed first.
 */
static void programs_that_begin_after_a_step_are_in_step(void **state)
{
	struct event event;

	(void)state;
	parse_clock(&event);
	assert_int_equal(pipe(told), 0);
	for (unsigned round = 0; round < 6; round++) {
		pid_t pid = fork();
		struct sampler *sampler;

		if (!pid)
			shell();
		sampler = open_ladder(&event, &pid, 1, true);
		assert_non_null(sampler);
		step_before_a_program(sampler, pid);
		sampler_close(sampler);
	}
}

enum { NR_FAULTS = 16384 };

static uint64_t count_samples(struct sampler *sampler)
{
	struct sampler_origin origin;
	struct record record;
	uint64_t nr = 0;

	sampler_drain(sampler, true);
	while (sampler_next(sampler, &record, &origin))
		nr += record.type == RECORD_SAMPLE;
	return nr;
}

static void fault(void)
{
	size_t size = (size_t)NR_FAULTS * 4096;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
	munmap(memory, size);
}

/* Since Linux 6.0, also of a ring that nothing more comes to, where a record could tell it. */
static void what_finds_no_room_is_counted(void **state)
{
	const pid_t tid = getpid();
	struct event event;
	const struct sampler_config config = {
		.way = SAMPLER_LADDER,
		.tasks = &tid,
		.nr_tasks = 1,
		.events = &event,
		.nr_events = 1,
		.base_period = {1},
		.ring_size = 64 << 10,
	};
	struct sampler *sampler;
	struct utsname name;
	char why[WHY_SIZE];
	uint64_t lost;

	(void)state;
	parse_clock(&event);
	assert_int_equal(event_parse(&event, "page-faults:u", why), 0);
	sampler = open_sampler(&config);
	assert_non_null(sampler);
	assert_int_equal(sampler_enable(sampler), 0);
	fault();
	sampler_disable(sampler);
	lost = sampler_all_lost(sampler);
	if (!uname(&name) && strtol(name.release, NULL, 10) >= 6) {
		assert_true(lost > 0);
		assert_int_equal(count_samples(sampler) + lost, sampler_total(sampler, 0));
	}
	sampler_close(sampler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_reaches_all_threads_at_once),
		cmocka_unit_test(adopted_threads_are_sampled_once),
		cmocka_unit_test(an_event_that_is_off_stays_off),
		cmocka_unit_test(programs_that_begin_after_a_step_are_in_step),
		cmocka_unit_test(what_finds_no_room_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
