/*
 * The overhead guard: what sampling may cost, and what it does cost.
 *
 * Two costs are watched, each against the same share of the target's time. Before the start: the
 * price of a sample on this machine, times two (real programs pay up to 1.9 times what a spinning
 * loop pays), times the frequency, of all clocks together; of counters the same while running, for
 * their frequency is not known before. Nor does a clock start faster than the kernel permits, which
 * throttles what does. While running: the recorder's own CPU time over the target's, as far as
 * samples can have caused it, whether the kernel throttles, and whether it loses more samples than
 * one in a hundred. Whatever exceeds its share in a window of a second slows sampling down by one
 * doubling of the period, by the same means as a full buffer does. A window ends early, after a
 * tenth of a second at least, once samples of counters have used up what a whole one may cost, or
 * most are lost.
 */
#ifndef RECORD_OVERHEAD_GUARD_H
#define RECORD_OVERHEAD_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct guard {
	double max_overhead; /* a share; 0: off */
	uint64_t price;      /* of a sample, ns of the target's time */
	unsigned nr_clocks;  /* that sample at the same time, and share what is allowed */
	uint64_t max_rate;   /* samples a second on a CPU that the kernel permits; 0: any number */
	uint64_t since;      /* start of the window, ns */
	uint64_t cpu_since;  /* the recorder's CPU time then */
	uint64_t target_ns;  /* CPU time of the target in the window */
	uint64_t told_since; /* as guard_target_time() said at the window's start */
	uint64_t others_ns;  /* that tasks, mappings and calls took in the window */
	uint64_t samples;    /* taken in the window */
	uint64_t unbounded;  /* of these, of counters: their rate is not known before the start */
	uint64_t lost;       /* samples for which a ring had no room in the window */
	uint64_t throttled;  /* how often the kernel throttled an event in the window */
	uint64_t slowed;     /* when a window last cost too much, ns; 0: none did */
};

/* Of one clock. */
void guard_init(struct guard *guard, double max_overhead, uint64_t price);

/* Whether samples of the clocks with this period, ns, cost no more than their share. */
bool guard_affords(const struct guard *guard, double period);
/* The shift at which a clock with this base period costs no more than its share, unthrottled. */
unsigned guard_initial_shift(const struct guard *guard, uint64_t base_period);

/*
 * Where no clock is sampled that would tell it: the target's CPU time so far, ns; 0: it cannot be
 * told now. Without either, that of the CPUs that it can use stands for it.
 */
void guard_target_time(struct guard *guard, uint64_t target_ns);

/* Whether the window that ends now cost too much. Windows start anew with each answer. */
bool guard_exceeded(struct guard *guard, uint64_t now, unsigned nr_cpus);

/* The recorder's CPU time so far, ns. */
uint64_t guard_cpu_time(void);

#endif
