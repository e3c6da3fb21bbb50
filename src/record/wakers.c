#include "record/wakers.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* A blocked signal arrives even so, as where nohup asked not to be hung up on. */
static bool is_ignored(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && action.sa_handler == SIG_IGN;
}

/* All that would end us, but for those that tell of our own faults. */
int wakers_open_signals(struct wakers *w)
{
	static const int signals[] = {SIGINT,  SIGQUIT, SIGTERM,   SIGALRM, SIGUSR1,
	                              SIGUSR2, SIGPIPE, SIGXFSZ,   SIGXCPU, SIGVTALRM,
	                              SIGPROF, SIGIO,   SIGSTKFLT, SIGPWR};
	static const int unless_ignored[] = {SIGHUP, SIGTSTP};
	sigset_t mask;

	sigemptyset(&mask);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&mask, signals[i]);
	for (unsigned i = 0; i < sizeof(unless_ignored) / sizeof(unless_ignored[0]); i++)
		if (!is_ignored(unless_ignored[i]))
			sigaddset(&mask, unless_ignored[i]);
	for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
		sigaddset(&mask, signal);
	if (sigprocmask(SIG_BLOCK, &mask, NULL))
		return -errno;
	w->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return w->signal_fd < 0 ? -errno : 0;
}

int wakers_watch(struct wakers *w, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return fd >= 0 && epoll_ctl(w->poll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int wakers_watch_rings(struct wakers *w, const struct sampler *sampler)
{
	int err = 0;

	for (unsigned i = 0; !err && sampler_poll_fd(sampler, i) >= 0; i++)
		err = wakers_watch(w, sampler_poll_fd(sampler, i));
	return err;
}

int wakers_set_timer(int fd, int flags, uint64_t time)
{
	const struct itimerspec timer = {.it_value = clock_timespec(time)};

	return timerfd_settime(fd, flags, &timer, NULL) ? -errno : 0;
}

int wakers_open_timer(int *fd)
{
	*fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return *fd < 0 ? -errno : 0;
}

int wakers_open(struct wakers *w)
{
	int err;

	w->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->poll_fd < 0)
		return -errno;
	err = wakers_open_timer(&w->pace_fd);
	if (!err)
		err = wakers_open_timer(&w->start_fd);
	return err ? err : wakers_open_timer(&w->end_fd);
}

int wakers_wake_at(struct wakers *w, uint64_t time)
{
	int err = time == w->next ? 0 : wakers_set_timer(w->pace_fd, TFD_TIMER_ABSTIME, time);

	if (!err)
		w->next = time;
	return err;
}

int wakers_start_after(struct wakers *w, uint64_t delay)
{
	return wakers_set_timer(w->start_fd, 0, delay);
}

int wakers_end_after(struct wakers *w, uint64_t duration)
{
	return wakers_set_timer(w->end_fd, 0, duration);
}

static uint64_t time_left(int fd)
{
	struct itimerspec timer;

	if (timerfd_gettime(fd, &timer))
		return 0;
	return (uint64_t)timer.it_value.tv_sec * 1000000000 + (uint64_t)timer.it_value.tv_nsec;
}

uint64_t wakers_starts_in(const struct wakers *w)
{
	return w->held ? w->start_left : time_left(w->start_fd);
}

/* A timer that has expired already is left as it is: what is readable stays so. */
static uint64_t hold(int fd)
{
	uint64_t left = time_left(fd);

	if (left)
		wakers_set_timer(fd, 0, 0);
	return left;
}

void wakers_hold(struct wakers *w)
{
	if (w->held)
		return;
	w->start_left = hold(w->start_fd);
	w->end_left = hold(w->end_fd);
	w->held = true;
}

void wakers_release(struct wakers *w)
{
	if (!w->held)
		return;
	w->held = false;
	if (w->start_left)
		wakers_set_timer(w->start_fd, 0, w->start_left);
	if (w->end_left)
		wakers_set_timer(w->end_fd, 0, w->end_left);
}

void wakers_nap(struct wakers *w, const struct sampler *sampler)
{
	if (w->naps)
		return;
	for (unsigned i = 0; sampler_poll_fd(sampler, i) >= 0; i++)
		epoll_ctl(w->poll_fd, EPOLL_CTL_DEL, sampler_poll_fd(sampler, i), NULL);
	w->naps = true;
}

void wakers_wake(struct wakers *w, const struct sampler *sampler)
{
	if (!w->naps || wakers_watch_rings(w, sampler))
		return;
	w->naps = false;
}

bool wakers_expired(int timer_fd)
{
	uint64_t expirations;

	return read(timer_fd, &expirations, sizeof(expirations)) > 0;
}
