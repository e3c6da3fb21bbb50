/* What processes use that no event observes: in full up to their end, or said to be missing. */
#include "tables_folder.h"

#include "record/tasks/process_times.h"
#include "record/tasks/unobserved.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUDGET  (1 << 20)
#define BURN_NS 12000000

struct world {
	char folder[64];
	struct tables *tables;
	struct unobserved_list list;
	uint32_t comm;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->tables = tables_in_folder(w->folder, BUDGET);
	w->comm = tables_comm(w->tables, "setuid");
	unobserved_init(&w->list);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	unobserved_fini(&w->list);
	tables_free(w->tables);
	rmdir(w->folder);
	free(w);
	return 0;
}

static uint64_t used(const struct world *w)
{
	return tables_command(w->tables, w->comm)->unobserved;
}

static bool wants_counting(const struct world *w)
{
	struct pollfd pollfd = {.fd = w->list.poll_fd, .events = POLLIN};

	return poll(&pollfd, 1, 10000) == 1;
}

/* A process that waits to be told, uses some time and ends. */
static pid_t start(int *go)
{
	int ends[2];
	clock_t until;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (read(ends[0], &byte, 1) == 1)
			for (until = clock() + BURN_NS / 1000; clock() < until;)
				continue;
		_exit(0);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void end(pid_t pid, int go, int options)
{
	siginfo_t info;

	assert_int_equal(write(go, "", 1), 1);
	close(go);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, options), 0);
}

static uint64_t clock_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void what_has_ended_is_counted_to_the_nanosecond(void **state)
{
	struct world *w = *state;
	uint64_t before = 1000, all;
	int go;
	pid_t pid = start(&go);

	unobserved_add(&w->list, pid, w->comm, before);
	end(pid, go, WEXITED | WNOWAIT);
	all = clock_of(pid);
	assert_true(all >= BURN_NS);
	assert_true(wants_counting(w));
	unobserved_count(&w->list, w->tables);
	assert_int_equal(used(w), all - before);
	assert_null(w->list.first);
	assert_int_equal(w->list.missed, 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void nothing_is_counted_twice(void **state)
{
	struct world *w = *state;
	int go;
	pid_t pid = start(&go);

	unobserved_add(&w->list, pid, w->comm, 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(wants_counting(w)); /* there is a tick while it runs */
		unobserved_count(&w->list, w->tables);
		assert_non_null(w->list.first);
		assert_true(used(w) <= clock_of(pid));
	}
	end(pid, go, WEXITED | WNOWAIT);
	unobserved_count(&w->list, w->tables);
	assert_int_equal(used(w), clock_of(pid));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A thread's clock is read later than asked for. */
static void what_a_thread_used_by_some_time(void **state)
{
	uint64_t before = clock_of(getpid()), now, own = 0, children;
	struct timespec time;

	(void)state;
	for (clock_t until = clock() + BURN_NS / 1000; clock() < until;)
		continue;
	clock_gettime(CLOCK_MONOTONIC, &time);
	now = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	assert_true(process_cpu_time(getpid(), now, &own, &children));
	assert_in_range(own, before + BURN_NS / 2, clock_of(getpid()));
	assert_true(thread_used_by(getpid(), now) <= clock_of(getpid()));
	assert_true(thread_used_by(getpid(), now - BURN_NS / 2) <=
	            clock_of(getpid()) - BURN_NS / 2);
	assert_int_equal(thread_used_by(getpid(), now - clock_of(getpid()) - BURN_NS), 0);
	assert_int_equal(thread_used_by(0x40000000, now), 0);
	assert_true(clock_of(getpid()) >= before + BURN_NS / 2);
}

/* A process may call itself what it likes. */
static void a_name_hides_nobody(void **state)
{
	uint64_t own, children;
	char before[16];

	(void)state;
	assert_int_equal(prctl(PR_GET_NAME, before), 0);
	assert_int_equal(prctl(PR_SET_NAME, "a\n) b\\ (c"), 0);
	assert_true(process_is_there(getpid(), UINT64_MAX));
	assert_true(process_cpu_time(getpid(), UINT64_MAX, &own, &children));
	assert_int_equal(prctl(PR_SET_NAME, before), 0);
}

static void what_was_waited_for_may_be_missing(void **state)
{
	struct world *w = *state;
	int go;
	pid_t pid = start(&go);

	unobserved_add(&w->list, pid, w->comm, 0);
	end(pid, go, WEXITED);
	unobserved_count(&w->list, w->tables);
	assert_null(w->list.first);
	assert_int_equal(used(w), 0);
	assert_true(w->list.missed >= BURN_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_has_ended_is_counted_to_the_nanosecond),
		TEST(nothing_is_counted_twice),
		cmocka_unit_test(what_a_thread_used_by_some_time),
		cmocka_unit_test(a_name_hides_nobody),
		TEST(what_was_waited_for_may_be_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
