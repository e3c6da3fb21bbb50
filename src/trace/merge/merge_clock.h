/*
 * The clocks of a job's hosts, brought together.
 *
 * CLOCK_MONOTONIC counts from a host's boot, so processes of one host share it and those of
 * different hosts do not. A first guess is what the hosts took for the real time, good to
 * milliseconds. Messages do better: none arrives before it was sent. With times in the guess's
 * order, a message from A to B says that B's clock has to be moved by at least (sent - arrived)
 * against A's; one from B to A says by how much at most. What lies between the two bounds, as one
 * line over the run or, where clocks did not run evenly, as several, is the correction; half of
 * the distance between the bounds is its error.
 */
#ifndef TRACE_MERGE_MERGE_CLOCK_H
#define TRACE_MERGE_MERGE_CLOCK_H

#include "base/map64.h"

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_KNOTS     65
#define CLOCK_NO_ERROR  UINT64_MAX /* nothing but the guess */
#define CLOCK_MAX_HOSTS 4096

struct clock_host {
	const char *name;        /* the caller's */
	int64_t boot;            /* real time - clock, ns */
	int64_t guess;           /* to be added to its times, then: */
	int64_t at[CLOCK_KNOTS]; /* corrections at even distances over the run */
	uint64_t error;
	bool placed;
	uint32_t nr_pairs; /* it is in so many */
	uint32_t group; /* another host that pairs lead to, nearer to the one that stands for all */
};

struct clocks {
	struct clock_host *hosts;
	uint32_t nr;
	uint64_t start, end; /* of the run, in guessed time */
	struct map64 pairs;  /* bounds by pair of hosts */
	struct clock_bounds *bounds;
	uint32_t nr_bounds;
};

void clocks_fini(struct clocks *clocks);

/* The number of a host, new or known; a host that was booted at another time is another. -ENOMEM.
 * The first one's clock is what all others are brought to. */
int clocks_host(struct clocks *clocks, const char *name, uint64_t start, uint64_t real_start);

/* The run of some process lasted from start to end, by its host's clock; for all, before bounds. */
void clocks_span(struct clocks *clocks, uint32_t host, uint64_t start, uint64_t end);

/*
 * Something left host a at a time and reached host b, both in guessed time. Of pairs of hosts
 * those are noted that a correction may need, for each takes memory. 0 or -ENOMEM.
 */
int clocks_bound(struct clocks *clocks, uint32_t a, uint64_t left, uint32_t b, uint64_t reached);

/* Makes corrections of the bounds. 0 or -ENOMEM. */
int clocks_solve(struct clocks *clocks);

/* Converts a host's time to the first host's clock. The order of times is kept. */
uint64_t clocks_time(const struct clocks *clocks, uint32_t host, uint64_t time);

static inline uint64_t clocks_guess(const struct clocks *clocks, uint32_t host, uint64_t time)
{
	return time + (uint64_t)clocks->hosts[host].guess;
}

#endif
