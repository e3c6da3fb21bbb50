/*
 * Attaching to a process that starts threads meanwhile, which this test is itself, and to one that
 * ends just then.
 */
#include "cases.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/session.h"

enum { MOST_TRIES = 20, FOR_EVER = 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static bool over;
static pthread_t threads[MOST_TRIES];
static unsigned nr_threads;

/* What is expected of the kernel, and what was asked of it. */
static struct {
	unsigned busy_tries; /* in which a thread is born, and too late to be among the tasks */
	int err;             /* of opening */
	pid_t ends;          /* a child that ends as it is opened */
	unsigned nr_opened, nr_closed, nr_looked_at;
	size_t nr_tasks[MOST_TRIES];
	bool first_seen; /* this process's first thread was among the tasks each time */
} kernel;

/* The number of notices that the session gave, by topic. */
static unsigned nr_noticed[NOTICE_CUT_STACKS + 1];

static void count_notice(void *arg, const struct notice *notice)
{
	(void)arg;
	nr_noticed[notice->topic]++;
}

static const struct session_watcher watcher = {.notice = count_notice};

static unsigned noticed(enum notice_topic topic)
{
	unsigned nr = nr_noticed[topic];

	memset(nr_noticed, 0, sizeof(nr_noticed));
	return nr;
}

static void *wait_for_the_end(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!over)
		pthread_cond_wait(&done, &lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

static bool is_among(const pid_t *tasks, size_t nr, pid_t tid)
{
	for (size_t i = 0; i < nr; i++)
		if (tasks[i] == tid)
			return true;
	return false;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int __wrap_session_open_sampler(struct session *s, const pid_t *tasks, size_t nr);
int __wrap_session_open_sampler(struct session *s, const pid_t *tasks, size_t nr)
{
	assert_true(kernel.nr_opened < MOST_TRIES);
	kernel.first_seen &= is_among(tasks, nr, getpid());
	kernel.nr_tasks[kernel.nr_opened++] = nr;
	if (kernel.ends)
		end(kernel.ends);
	if (kernel.err)
		return kernel.err;
	s->sampler = (struct sampler *)&kernel;
	if (kernel.nr_opened <= kernel.busy_tries)
		assert_int_equal(
			pthread_create(&threads[nr_threads++], NULL, wait_for_the_end, NULL), 0);
	return 0;
}

void __wrap_sampler_close(struct sampler *sampler);
void __wrap_sampler_close(struct sampler *sampler)
{
	kernel.nr_closed += sampler != NULL;
}

int __wrap_tasks_add_running(struct tasks *tasks, pid_t pid);
int __wrap_tasks_add_running(struct tasks *tasks, pid_t pid)
{
	(void)tasks;
	kernel.nr_looked_at++;
	return pid == kernel.ends ? -ENOENT : 0;
}

static int attach_while(unsigned busy_tries, int err)
{
	struct record_config config = {.attach = {getpid()}, .nr_attach = 1};
	struct session *s = calloc(1, sizeof(*s));
	int result;

	assert_non_null(s);
	memset(&kernel, 0, sizeof(kernel));
	kernel.busy_tries = busy_tries;
	kernel.err = err;
	kernel.first_seen = true;
	over = false;
	nr_threads = 0;
	s->config = &config;
	s->watcher = &watcher;
	result = session_attach(s);
	close(s->attached_fd);
	free(s);
	pthread_mutex_lock(&lock);
	over = true;
	pthread_cond_broadcast(&done);
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	return result;
}

static void a_quiet_process_is_opened_once(void **state)
{
	(void)state;
	assert_int_equal(attach_while(0, 0), 0);
	assert_int_equal(kernel.nr_opened, 1);
	assert_int_equal(kernel.nr_closed, 0);
	assert_int_equal(kernel.nr_looked_at, 1);
	assert_true(kernel.first_seen);
}

/* A thread that came between the list and the events has none: all is opened anew, with it. */
static void who_came_meanwhile_is_not_left_out(void **state)
{
	(void)state;
	assert_int_equal(attach_while(2, 0), 0);
	assert_int_equal(kernel.nr_opened, 3);
	assert_int_equal(kernel.nr_closed, 2);
	assert_int_equal(kernel.nr_looked_at, 1);
	assert_int_equal(kernel.nr_tasks[1], kernel.nr_tasks[0] + 1);
	assert_int_equal(kernel.nr_tasks[2], kernel.nr_tasks[0] + 2);
	assert_true(kernel.first_seen);
	assert_int_equal(noticed(NOTICE_THREADS_MISSED), 0);
}

/* One that never holds still is taken as it is. */
static void tries_come_to_an_end(void **state)
{
	(void)state;
	assert_int_equal(attach_while(FOR_EVER, 0), 0);
	assert_int_equal(kernel.nr_opened, 5);
	assert_int_equal(kernel.nr_closed, 4);
	assert_int_equal(kernel.nr_looked_at, 1);
	assert_int_equal(noticed(NOTICE_THREADS_MISSED), 1);
}

static void what_cannot_be_opened_is_not_tried_again(void **state)
{
	(void)state;
	assert_int_equal(attach_while(0, -EMFILE), -EMFILE);
	assert_int_equal(kernel.nr_opened, 1);
	assert_int_equal(kernel.nr_looked_at, 0);
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static bool is_readable(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	return poll(&poll_fd, 1, 0) == 1;
}

static void the_last_of_several_is_the_end(void **state)
{
	struct record_config config = {.attach = {sleeper(), getpid(), sleeper()}, .nr_attach = 3};
	struct session *s = calloc(1, sizeof(*s));

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	s->config = &config;
	s->watcher = &watcher;
	assert_int_equal(session_attach(s), 0);
	assert_int_equal(kernel.nr_tasks[0], 3);
	assert_int_equal(kernel.nr_looked_at, 3);
	assert_int_equal(s->nr_attached, 3);
	assert_false(s->over || is_readable(s->attached_fd));
	for (unsigned i = 0; i < 3; i += 2) {
		end(config.attach[i]);
		assert_true(is_readable(s->attached_fd));
		assert_false(session_attached_ended(s));
		assert_false(is_readable(s->attached_fd));
	}
	assert_int_equal(s->nr_attached, 1);
	close(s->attached_fd);
	free(s);
}

static void who_ends_meanwhile_is_no_error(void **state)
{
	struct record_config config = {.attach = {sleeper(), sleeper()}, .nr_attach = 2};
	struct session *s = calloc(1, sizeof(*s));

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	kernel.ends = config.attach[0];
	s->config = &config;
	s->watcher = &watcher;
	assert_int_equal(session_attach(s), 0);
	assert_int_equal(kernel.nr_opened, 1);
	assert_int_equal(s->nr_attached, 1);
	end(config.attach[1]);
	assert_true(session_attached_ended(s));
	close(s->attached_fd);
	free(s);
}

/* Before anything is opened. */
static void one_that_is_gone_refuses_all(void **state)
{
	struct record_config config = {.attach = {getpid(), sleeper()}, .nr_attach = 2};
	struct session *s = calloc(1, sizeof(*s));

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	end(config.attach[1]);
	s->config = &config;
	s->watcher = &watcher;
	assert_int_equal(session_attach(s), -ESRCH);
	assert_int_equal(kernel.nr_opened, 0);
	assert_int_equal(noticed(NOTICE_PROCESS_MISSING), 1);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_process_is_opened_once),
		cmocka_unit_test(who_came_meanwhile_is_not_left_out),
		cmocka_unit_test(tries_come_to_an_end),
		cmocka_unit_test(what_cannot_be_opened_is_not_tried_again),
		cmocka_unit_test(the_last_of_several_is_the_end),
		cmocka_unit_test(who_ends_meanwhile_is_no_error),
		cmocka_unit_test(one_that_is_gone_refuses_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
