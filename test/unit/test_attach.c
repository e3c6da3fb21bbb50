/* Attaching to a process that starts threads meanwhile, which this test is itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session.h"

enum { MOST_TRIES = 20, FOR_EVER = 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static bool over;
static pthread_t threads[MOST_TRIES];
static unsigned nr_threads;

/* What is expected of the kernel, and what was asked of it. */
static struct {
	unsigned busy_tries; /* in which a thread is born, and too late to be among the tasks */
	int error;           /* of opening */
	unsigned nr_opened, nr_closed, nr_enabled;
	size_t nr_tasks[MOST_TRIES];
	bool first_seen; /* this process's first thread was among the tasks each time */
} kernel;

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

int __wrap_session_open_sampler(struct session *s, const pid_t *tasks, size_t nr);
int __wrap_session_open_sampler(struct session *s, const pid_t *tasks, size_t nr)
{
	assert_true(kernel.nr_opened < MOST_TRIES);
	kernel.first_seen &= is_among(tasks, nr, getpid());
	kernel.nr_tasks[kernel.nr_opened++] = nr;
	if (kernel.error)
		return kernel.error;
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

int __wrap_sampler_enable(struct sampler *sampler);
int __wrap_sampler_enable(struct sampler *sampler)
{
	assert_ptr_equal(sampler, &kernel);
	kernel.nr_enabled++;
	return 0;
}

int __wrap_tasks_add_running(struct tasks *tasks, pid_t pid);
int __wrap_tasks_add_running(struct tasks *tasks, pid_t pid)
{
	(void)tasks;
	assert_int_equal(pid, getpid());
	return 0;
}

static int attach_while(unsigned busy_tries, int error)
{
	struct options options = {.attach = getpid()};
	struct session *s = calloc(1, sizeof(*s));
	int result;

	assert_non_null(s);
	memset(&kernel, 0, sizeof(kernel));
	kernel.busy_tries = busy_tries;
	kernel.error = error;
	kernel.first_seen = true;
	over = false;
	nr_threads = 0;
	s->options = &options;
	result = session_attach(s);
	close(s->target_fd);
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
	assert_int_equal(kernel.nr_enabled, 1);
	assert_true(kernel.first_seen);
}

/* A thread that came between the list and the events has none: all is opened anew, with it. */
static void who_came_meanwhile_is_not_left_out(void **state)
{
	(void)state;
	assert_int_equal(attach_while(2, 0), 0);
	assert_int_equal(kernel.nr_opened, 3);
	assert_int_equal(kernel.nr_closed, 2);
	assert_int_equal(kernel.nr_enabled, 1);
	assert_int_equal(kernel.nr_tasks[1], kernel.nr_tasks[0] + 1);
	assert_int_equal(kernel.nr_tasks[2], kernel.nr_tasks[0] + 2);
	assert_true(kernel.first_seen);
}

/* One that never holds still is taken as it is. */
static void tries_come_to_an_end(void **state)
{
	(void)state;
	assert_int_equal(attach_while(FOR_EVER, 0), 0);
	assert_int_equal(kernel.nr_opened, 5);
	assert_int_equal(kernel.nr_closed, 4);
	assert_int_equal(kernel.nr_enabled, 1);
}

static void what_cannot_be_opened_is_not_tried_again(void **state)
{
	(void)state;
	assert_int_equal(attach_while(0, -EMFILE), -EMFILE);
	assert_int_equal(kernel.nr_opened, 1);
	assert_int_equal(kernel.nr_enabled, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_process_is_opened_once),
		cmocka_unit_test(who_came_meanwhile_is_not_left_out),
		cmocka_unit_test(tries_come_to_an_end),
		cmocka_unit_test(what_cannot_be_opened_is_not_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
