/*
 * Finds the period of a stream of events: the loop that a program is in, from the calls that it
 * makes (Freitag, Caubet and Labarta, "A Trace-Scaling Agent for Parallel Application Tracing",
 * 2002). Their equation (1) compares the last N events with those m earlier:
 *
 *     d(m) = sign Σ |x(i) - x(i-m)|, 0 <= i < N;     d(m) = 0: the stream repeats after m events
 *
 * Instead of a matrix of N x M differences there is one number for each delay: how many events in a
 * row were equal to the event m before,
 *
 *     run(m) = x(i) == x(i-m) ? run(m) + 1 : 0;      d(m) = 0 if and only if run(m) >= N
 *
 *     events  a b c a b c a b c
 *     run(3)  0 0 0 1 2 3 4 5 6
 *
 * Nothing is allocated and no clock is read. Events are taken in batches of eight.
 */
#ifndef HMB_PERIOD_H
#define HMB_PERIOD_H

#include <stddef.h>
#include <stdint.h>

#define PERIOD_BATCH      8
#define PERIOD_MAX_DELAYS 8192
#define PERIOD_MAX_RUN    (UINT16_MAX - PERIOD_BATCH) /* longer ones count as this long, or more */

struct period {
	uint16_t *run;  /* of delay m at m - 1 */
	uint16_t *past; /* of past_size events, the latest first: x(i-m) is newest[m] */
	uint16_t *newest;
	uint32_t delays;  /* M */
	uint32_t least;   /* see period_put() */
	uint32_t nr_next; /* events of a batch that is not complete */
	uint16_t next[PERIOD_BATCH];
};

/*
 * Prepares for delays of 1 … delays, a multiple of 8 and at most PERIOD_MAX_DELAYS, in memory of
 * period_bytes(delays), aligned to 16 bytes, which belongs to the caller.
 */
size_t period_bytes(uint32_t delays);
void period_init(struct period *period, uint32_t delays, uint32_t least, void *memory);

/* Forgets all events. */
void period_reset(struct period *period);

/*
 * Takes an event; 0 is none. Returns the smallest m with run(m) >= 2m and >= least, which means
 * that three iterations were seen, or 0. Looks at the end of each batch, and returns 0 between.
 */
uint32_t period_put(struct period *period, uint16_t event);

/* Whether d(m) = 0 for N = length, as of the last complete batch; length <= PERIOD_MAX_RUN. */
static inline int period_repeats(const struct period *period, uint32_t m, uint32_t length)
{
	return period->run[m - 1] >= length;
}

#endif
