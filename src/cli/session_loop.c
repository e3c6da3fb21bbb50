/*
 * What wakes the recorder: signals, the target's end, a tick, and rings that fill.
 *
 * The kernel wakes whoever waits for a ring whenever a task with inherited events ends, too, each
 * time for nothing. So while many tasks end the recorder does not wait for rings but takes naps.
 */
#include "cli/session.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#define TICK_NS    100000000
#define NAP_NS     10000000
#define MANY_ENDED 20 /* in a tick: to be woken by each costs more than naps do */

static int watch(struct session *s, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(s->poll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int watch_rings(struct session *s)
{
	int error = 0;

	for (unsigned i = 0; !error && sampler_poll_fd(s->sampler, i) >= 0; i++)
		error = watch(s, sampler_poll_fd(s->sampler, i));
	return error;
}

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* First after so long, and then again and again. 0: never. */
static int set_timer(int fd, uint64_t first, uint64_t interval)
{
	const struct itimerspec timer = {time_of(interval), time_of(first)};

	return timerfd_settime(fd, 0, &timer, NULL) ? -errno : 0;
}

static int open_timer(struct session *s, int *fd)
{
	*fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return *fd < 0 ? -errno : watch(s, *fd);
}

int session_open_loop(struct session *s)
{
	int error;

	s->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->poll_fd < 0)
		return -errno;
	error = watch(s, s->signal_fd);
	if (!error)
		error = open_timer(s, &s->timer_fd);
	if (!error)
		error = set_timer(s->timer_fd, TICK_NS, TICK_NS);
	if (!error)
		error = open_timer(s, &s->nap_fd);
	if (!error)
		error = open_timer(s, &s->start_fd);
	if (!error)
		error = open_timer(s, &s->end_fd);
	if (!error && s->target_fd >= 0)
		error = watch(s, s->target_fd);
	if (!error && s->options->until)
		error = watch(s, s->launch.pidfd);
	if (!error && s->calls)
		error = watch(s, calls_poll_fd(s->calls));
	if (!error && s->tasks.unobserved_list.poll_fd >= 0)
		error = watch(s, s->tasks.unobserved_list.poll_fd);
	return error ? error : watch_rings(s);
}

int session_start_after(struct session *s, uint64_t delay)
{
	return set_timer(s->start_fd, delay, 0);
}

int session_end_after(struct session *s, uint64_t duration)
{
	return set_timer(s->end_fd, duration, 0);
}

uint64_t session_starts_in(const struct session *s)
{
	struct itimerspec timer;

	if (timerfd_gettime(s->start_fd, &timer))
		return 0;
	return (uint64_t)timer.it_value.tv_sec * 1000000000 + (uint64_t)timer.it_value.tv_nsec;
}

static void nap(struct session *s)
{
	if (s->naps || set_timer(s->nap_fd, NAP_NS, NAP_NS))
		return;
	for (unsigned i = 0; sampler_poll_fd(s->sampler, i) >= 0; i++)
		epoll_ctl(s->poll_fd, EPOLL_CTL_DEL, sampler_poll_fd(s->sampler, i), NULL);
	s->naps = true;
}

void session_wake(struct session *s)
{
	if (!s->naps || watch_rings(s))
		return;
	set_timer(s->nap_fd, 0, 0);
	s->naps = false;
}

void session_pace(struct session *s)
{
	uint64_t ended = s->tasks.nr_ended - s->seen_ended;

	s->seen_ended = s->tasks.nr_ended;
	if (s->way == SAMPLER_LADDER && ended >= MANY_ENDED)
		nap(s);
	else
		session_wake(s);
}
