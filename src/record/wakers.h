/*
 * The events that wake the recorder: signals, its own timer (pace.h), the start and the end of
 * sampling, rings that are half full, and other descriptors that it watches.
 *
 * The kernel also wakes a process that waits for a ring whenever a task with inherited events ends,
 * each time without need. So while many tasks end, the recorder does not wait for rings, and its
 * timer must be short.
 */
#ifndef RECORD_WAKERS_H
#define RECORD_WAKERS_H

#include "perf/sampler/sampler.h"

struct wakers {
	int poll_fd;          /* an epoll of the others, whose data are their descriptors */
	int signal_fd;        /* signals that are ours to handle */
	int pace_fd;          /* a timer that expires at `next` */
	uint64_t next;        /* ns; 0: never */
	int start_fd, end_fd; /* timers, of sampling */
	bool naps;            /* rings do not wake it */
	bool held; /* start_fd and end_fd stand still, this long before they expire, ns */
	uint64_t start_left, end_left;
};

/* Blocks signals, for good, and lets signal_fd tell of them. 0 or -errno. */
int wakers_open_signals(struct wakers *wakers);
/* Opens the others, which are not watched yet. 0 or -errno. */
int wakers_open(struct wakers *wakers);

/* Lets this wake, too; -1: nothing. It stays the caller's. 0 or -errno. */
int wakers_watch(struct wakers *wakers, int fd);
int wakers_watch_rings(struct wakers *wakers, const struct sampler *sampler);

/* Wakes the recorder at this time instead of the one before. 0 or -errno. */
int wakers_wake_at(struct wakers *wakers, uint64_t time);

/* From now on rings do not wake it; or they do. */
void wakers_nap(struct wakers *wakers, const struct sampler *sampler);
void wakers_wake(struct wakers *wakers, const struct sampler *sampler);

/* Lets start_fd and end_fd be readable after so long, ns; 0: never. 0 or -errno. */
int wakers_start_after(struct wakers *wakers, uint64_t delay);
int wakers_end_after(struct wakers *wakers, uint64_t duration);
/* Stops these two until wakers_release(), which lets them go on with what was left. */
void wakers_hold(struct wakers *wakers);
void wakers_release(struct wakers *wakers);
/* How long it is until start_fd is readable, ns. */
uint64_t wakers_starts_in(const struct wakers *wakers);

/* Opens a timer, which wakers_set_timer() sets to a time, or 0: never. 0 or -errno. */
int wakers_open_timer(int *timer_fd);
/* flags: TFD_TIMER_ABSTIME; 0: the time is as long from now. */
int wakers_set_timer(int timer_fd, int flags, uint64_t time);

/* Whether a timer has expired since this was asked last. */
bool wakers_expired(int timer_fd);

#endif
