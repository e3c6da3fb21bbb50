/*
 * Keeps the cost of calls within the guard's limit (--max-overhead): where reading the clock for
 * every call would cost a thread too much, the thread is told to read it for some calls only.
 *
 * Half of what a thread may lose beyond the untimed calls goes to calls at random places, one of
 * 1 << shift, and half to moments of which all calls are timed and recorded, one of 1 << level. At
 * least one moment of 1 << THIN_MAX_LEVEL remains, about one a second.
 */
#ifndef RECORD_CALLS_CALLS_THIN_H
#define RECORD_CALLS_CALLS_THIN_H

#include "record/calls/calls_clock.h"

#include <stdbool.h>
#include <sys/types.h>

#define THIN_MAX_LEVEL 6

/* Prices of a call, ns of the program's time. */
struct calls_price {
	double untimed;
	double timed; /* with two readings of the clock and a record */
};

/* Measures the clock of targets. */
struct calls_price calls_price_measure(enum ring_clock clock);

/* The part of a thread's calls that is timed; shift 0: all of them. */
struct calls_thinning {
	unsigned shift, level;
};

/* Returns the thinning with which a call costs at most so many ns on average, as far as possible.
 */
struct calls_thinning calls_thinning_for(const struct calls_price *price, double affordable);

/* State of one thread. */
struct calls_thread_cost {
	uint64_t since;          /* ns, begin of the present stretch */
	uint64_t cpu;            /* CPU time of its process then */
	uint64_t calls, untimed; /* then */
	uint64_t seen, changed;  /* calls at the last look, and since when there were so many, ns */
	struct calls_thinning thinning;
};

/* One look at a thread. */
struct calls_look {
	uint64_t now, cpu;       /* ns; CPU time of the process */
	uint64_t calls, untimed; /* of the thread so far */
	double share;            /* of its time that calls may cost; 0: any */
	bool last;               /* the thread has ended */
};

/*
 * Returns what calls have cost, ns, and decides on the thinning, at the end of a stretch: after a
 * tenth of a second, and at the last look. Else 0.
 */
uint64_t calls_thread_look(struct calls_thread_cost *cost, const struct calls_price *price,
                           const struct calls_look *look);

/* Returns the CPU time of a process so far, ns; UINT64_MAX: it is unknown. */
uint64_t calls_cpu_time(pid_t pid);

#endif
