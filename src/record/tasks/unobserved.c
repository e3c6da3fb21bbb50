#include "record/tasks/unobserved.h"

#include "record/tasks/process_times.h"
#include "base/clock.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/*
 * Bounds the time that is missed where a parent reaps a process before the recorder reads its
 * clock.
 */
#define TICK_NS 10000000

static void watch(const struct unobserved_list *list, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (fd >= 0 && list->poll_fd >= 0)
		epoll_ctl(list->poll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void set_timer(const struct unobserved_list *list, long interval)
{
	const struct itimerspec timer = {{0, interval}, {0, interval}};

	if (list->timer_fd >= 0)
		timerfd_settime(list->timer_fd, 0, &timer, NULL);
}

void unobserved_init(struct unobserved_list *list)
{
	*list = (struct unobserved_list){
		.poll_fd = epoll_create1(EPOLL_CLOEXEC),
		.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
	};
	watch(list, list->timer_fd);
}

void unobserved_add(struct unobserved_list *list, pid_t pid, uint32_t comm, uint64_t before)
{
	struct unobserved *u = calloc(1, sizeof(*u));

	if (!u)
		return;
	*u = (struct unobserved){
		.pid = pid,
		.pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
		.comm = comm,
		.before = before,
		.read = clock_ns(CLOCK_MONOTONIC),
		.next = list->first,
	};
	if (!list->first)
		set_timer(list, TICK_NS);
	list->first = u;
	watch(list, u->pidfd);
}

static void drop(struct unobserved *u)
{
	if (u->pidfd >= 0)
		close(u->pidfd);
	free(u);
}

static bool has_ended(const struct unobserved *u)
{
	struct pollfd pollfd = {.fd = u->pidfd, .events = POLLIN};

	return u->pidfd >= 0 && poll(&pollfd, 1, 0) > 0;
}

static void add_time(struct unobserved *u, uint64_t used, struct tables *tables)
{
	if (used <= u->before + u->counted)
		return;
	used -= u->before + u->counted;
	tables_command(tables, u->comm)->unobserved += used;
	u->counted += used;
}

/* false: it has ended. Its number may be another's by now, but not while it waits for its parent.
 */
static bool count_one(struct unobserved_list *list, struct unobserved *u, struct tables *tables)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool ended = has_ended(u), there;
	struct process_times times;

	there = process_times_read(u->pid, &times);
	if (there && (!ended || times.state == 'Z')) {
		add_time(u, times.own + times.children, tables);
		u->read = now;
		return !ended && process_times_runs(&times);
	}
	list->missed += now - u->read;
	return false;
}

void unobserved_count(struct unobserved_list *list, struct tables *tables)
{
	uint64_t ticks;

	while (list->timer_fd >= 0 && read(list->timer_fd, &ticks, sizeof(ticks)) > 0)
		continue;
	for (struct unobserved **at = &list->first, *u; (u = *at);) {
		if (count_one(list, u, tables)) {
			at = &u->next;
			continue;
		}
		*at = u->next;
		drop(u);
		if (!list->first)
			set_timer(list, 0);
	}
}

unsigned unobserved_nr(const struct unobserved_list *list)
{
	unsigned nr = 0;

	for (const struct unobserved *u = list->first; u; u = u->next)
		nr++;
	return nr;
}

void unobserved_fini(struct unobserved_list *list)
{
	for (struct unobserved *u = list->first, *next; u; u = next) {
		next = u->next;
		drop(u);
	}
	if (list->timer_fd >= 0)
		close(list->timer_fd);
	if (list->poll_fd >= 0)
		close(list->poll_fd);
	*list = (struct unobserved_list){.poll_fd = -1, .timer_fd = -1};
}
