#include "record/tasks/process.h"
#include "record/tasks/process_fd.h"
#include "record/session.h"
#include "base/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define MOST_THREADS 65536
#define TRIES        5

struct threads {
	pid_t *tids;
	size_t nr;
};

static int compare_tids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return ORDER(*x, *y);
}

static int put_threads(struct threads *threads, pid_t pid)
{
	return tasks_list_threads(pid, MOST_THREADS, &threads->tids, &threads->nr);
}

/* The threads of all processes to be attached to. 0, or -errno after saying why. */
static int list_threads(const struct session *s, struct threads *threads)
{
	const struct record_config *config = s->config;

	*threads = (struct threads){NULL};
	for (unsigned i = 0; i < config->nr_attach; i++) {
		int err = put_threads(threads, config->attach[i]);

		if (!err)
			continue;
		session_notice(s, (struct notice){NOTICE_NOT_LISTED, err, config->attach[i]});
		return err;
	}
	if (!threads->nr) {
		session_notice(s, (struct notice){NOTICE_NOT_LISTED, -ESRCH, config->attach[0]});
		return -ESRCH;
	}
	return 0;
}

/* Whether every thread of `now` was among those that the events were opened for. */
static bool all_known(struct threads *known, const struct threads *now)
{
	ARRAY_SORT(known->tids, known->nr, compare_tids);
	for (size_t i = 0; i < now->nr; i++)
		if (!ARRAY_FIND(known->tids, known->nr, &now->tids[i], compare_tids))
			return false;
	return true;
}

/*
 * Threads that are born between listing and opening inherit nothing. So what was opened is kept
 * only if nobody new has come meanwhile; a process that never holds still is taken as it is.
 */
static int try_open(struct session *s, bool *settled)
{
	struct threads threads, after = {NULL};
	int err = list_threads(s, &threads);

	if (!err)
		err = session_open_sampler(s, threads.tids, threads.nr);
	if (!err) {
		for (unsigned i = 0; i < s->config->nr_attach; i++)
			put_threads(&after, s->config->attach[i]);
		*settled = all_known(&threads, &after);
	}
	free(threads.tids);
	free(after.tids);
	return err;
}

/* Whether it is a process, and runs. 0, or -errno after saying why not. */
static int check_process(const struct session *s, pid_t pid)
{
	int fd = process_fd_open(pid);
	pid_t process;
	bool ended;

	if (fd == -EMFILE) /* too few for events, too, which is said with how many it takes */
		return 0;
	if (fd >= 0) {
		ended = process_fd_ended(fd, pid);
		close(fd);
		if (!ended)
			return 0;
		session_notice(s, (struct notice){NOTICE_PROCESS_ENDED, .pid = pid});
		return -ESRCH;
	}
	process = process_of(pid);
	session_notice(s, (struct notice){!process         ? NOTICE_PROCESS_MISSING
	                                  : process != pid ? NOTICE_PROCESS_THREAD
	                                                   : NOTICE_NOT_ATTACHED,
	                                  fd, pid, (uint64_t)process});
	return fd;
}

/* Lets attached_fd tell of their ends. One that has ended by now needs none. */
static int watch_processes(struct session *s)
{
	const struct record_config *config = s->config;

	s->attached_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->attached_fd < 0)
		return -errno;
	for (unsigned i = 0; i < config->nr_attach; i++) {
		const pid_t pid = config->attach[i];
		const int fd = process_fd_open(pid);
		struct epoll_event event = {EPOLLIN, {.u64 = (uint64_t)pid << 32 | (uint32_t)fd}};

		if (fd == -ESRCH)
			continue;
		if (fd < 0)
			return fd;
		if (epoll_ctl(s->attached_fd, EPOLL_CTL_ADD, fd, &event))
			return -errno;
		s->nr_attached++;
	}
	s->over = !s->nr_attached;
	return 0;
}

bool session_attached_ended(struct session *s)
{
	struct epoll_event events[16];
	int nr = epoll_wait(s->attached_fd, events, 16, 0);

	for (int i = 0; i < nr; i++) {
		int fd = (int)events[i].data.u64;

		if (process_fd_ended(fd, (pid_t)(events[i].data.u64 >> 32))) {
			close(fd);
			s->nr_attached--;
		}
	}
	return !s->nr_attached;
}

static int add_running(struct session *s)
{
	for (unsigned i = 0; i < s->config->nr_attach; i++) {
		int err = tasks_add_running(&s->tasks, s->config->attach[i]);

		if (err == -EACCES || err == -EPERM)
			session_notice(s, (struct notice){NOTICE_CODE_HIDDEN,
			                                  .pid = s->config->attach[i]});
		else if (err && !tasks_gone(s->config->attach[i]))
			return err;
	}
	return 0;
}

static bool is_attached(const struct record_config *config, pid_t pid)
{
	for (unsigned i = 0; i < config->nr_attach; i++)
		if (config->attach[i] == pid)
			return true;
	return false;
}

static bool runs(pid_t pid)
{
	int fd = process_fd_open(pid);
	bool running = fd >= 0 && !process_fd_ended(fd, pid);

	if (fd >= 0)
		close(fd);
	return running;
}

/* How many running children of a thread are not attached to. */
static unsigned left_by_thread(const struct record_config *config, pid_t pid, pid_t tid)
{
	FILE *children = process_children(pid, tid);
	unsigned nr = 0;
	pid_t child;

	if (!children)
		return 0;
	while ((child = process_next_child(children)))
		nr += child != getpid() && !is_attached(config, child) && runs(child);
	fclose(children);
	return nr;
}

static unsigned left_by(const struct record_config *config, pid_t pid)
{
	struct threads threads = {NULL};
	unsigned nr = 0;

	put_threads(&threads, pid); /* what cannot be listed is told by who attaches to it */
	for (size_t i = 0; i < threads.nr; i++)
		nr += left_by_thread(config, pid, threads.tids[i]);
	free(threads.tids);
	return nr;
}

/* The first process of a server leaves the work to such. Who attaches to those is told of more. */
static void note_left_out(const struct session *s)
{
	const struct record_config *config = s->config;
	char parents[256] = "";
	unsigned all = 0;

	for (unsigned i = 0; i < config->nr_attach; i++) {
		size_t used = strlen(parents);
		unsigned nr = left_by(config, config->attach[i]);

		if (!nr)
			continue;
		if (used > sizeof(parents) - 16)
			break;
		all += nr;
		snprintf(parents + used, sizeof(parents) - used, "%s%d", used ? "," : "",
		         (int)config->attach[i]);
	}
	if (all)
		session_notice(s, (struct notice){NOTICE_CHILDREN, .nr = all, .text = parents});
}

int session_attach(struct session *s)
{
	const struct record_config *config = s->config;
	bool settled = false;
	int err = 0;

	for (unsigned i = 0; i < config->nr_attach && !err; i++)
		err = check_process(s, config->attach[i]);
	for (unsigned i = 0; i < TRIES && !settled && !err; i++) {
		sampler_close(s->sampler);
		s->sampler = NULL;
		err = try_open(s, &settled);
	}
	if (err)
		return err;
	/* Opening takes its time, and who was started meanwhile has not all of the events. */
	note_left_out(s);
	if (!settled)
		session_notice(s, (struct notice){NOTICE_THREADS_MISSED});
	err = watch_processes(s);
	if (!err)
		err = add_running(s);
	if (err)
		session_notice(s, (struct notice){NOTICE_NOT_ATTACHED, err, config->attach[0]});
	return err;
}
