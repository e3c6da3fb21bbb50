/*
 * Windows: times in which the first event is sampled more often than the rest of the run, for
 * somebody who looks closely.
 *
 *     level, in units of the first period
 *     run, floor 3       3       4       3       5       3       4       3
 *     window, shift 1          1 2 1 3 1 2 1 5 1 2 1 3
 *
 * A window's samples are a kind of their own in the buffer, with a floor, a weight and a tree of
 * its own. Those of a level that the run still takes go to the run's kind as well, so that the run
 * goes on as if there were no window. All windows share a part of the budget. When there are
 * WINDOWS_MAX of them the oldest makes room.
 *
 * Windows may overlap: the finest one that is open sets the kernel's period, and the others take
 * the samples of their own levels.
 *
 * One further window is leased to those who look on: it lasts as long as they renew it, gives way
 * to all others, and is never in a trace.
 */
#ifndef RECORD_WINDOWS_H
#define RECORD_WINDOWS_H

#include "record/steer/control.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOWS_MAX      8
#define WINDOWS_MAX_OPEN 2 /* each codes its samples in memory beside the budget */

struct session;

struct window {
	unsigned kind; /* of its samples */
	unsigned event;
	unsigned shift;    /* sampled at the base period << shift */
	uint64_t from, to; /* ns; to 0: it is open */
	uint64_t due;      /* ns; it ends then */
	bool drained;      /* none of its samples is still to come */
	bool leased;       /* nobody keeps its samples */
};

struct windows {
	struct window windows[WINDOWS_MAX + 1]; /* and the leased one */
	unsigned nr;                            /* in use */
	unsigned nr_begun;                      /* since the start, without leases */
	unsigned nr_live;                       /* that are not drained */
	int timer_fd;                           /* expires when one is due */
	uint64_t ended;                         /* when one ended last, ns */
	unsigned dear; /* lowest shift that a lease may have: a lower one cost too much */
};

/* Opens the timer. 0 or -errno. */
int windows_open(struct session *session);
void windows_close(struct session *session);

/*
 * Begins a window. hz: samples a second of a CPU at least, as far as the recording began with that
 * many; 0: as many as it began with.
 */
struct refusal windows_begin(struct session *session, uint64_t ns, double hz);
/*
 * Begins the leased window, or prolongs it to `ns` from now. hz: samples a second of a CPU at most.
 * There is none, and no refusal, while the run itself is sampled as often.
 */
struct refusal windows_lease(struct session *session, uint64_t ns, double hz);
/* Call it when timer_fd is readable. */
void windows_expire(struct session *session);
/*
 * Sampling costs too much since a time: ends all windows that are open. Returns whether any window
 * was open in that time, so that the run's rate may be no reason.
 */
bool windows_cut(struct session *session, uint64_t since);
/* Call it after each drain. */
void windows_drained(struct session *session);
/* The buffer was cleared: there are none any more. */
void windows_forget(struct session *session);

/*
 * Returns the longest period of the first event, a clock, that is no longer than so many samples a
 * second take, as a shift.
 */
unsigned windows_shift_of_rate(const struct session *session, double hz);

/*
 * Adds a kind for more records of the kind `of`, as the last one of the buffer. share, pool: see
 * struct hmb_kind_config. Returns its number, or -errno.
 */
int windows_add_kind(const struct session *session, unsigned of, size_t share, unsigned pool);

/* Returns the shift at which an event is to be sampled, which is `shift` outside of windows. */
unsigned windows_shift(const struct windows *windows, unsigned event, unsigned shift);

/* Whether a window takes a sample that was taken at a time, with the period of `shift`. */
static inline bool window_takes(const struct window *window, unsigned event, unsigned level,
                                unsigned shift, uint64_t time)
{
	return !window->drained && window->event == event && level >= window->shift &&
	       shift <= window->shift && time >= window->from && (!window->to || time < window->to);
}

#endif
