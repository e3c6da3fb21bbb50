/*
 * The overhead guard keeps the cost of sampling within a share of the target's time.
 *
 * Before the start, the guard limits the frequency of all clocks together. The assumed price of a
 * sample is twice the price measured on this machine, because real programs pay up to 1.9 times
 * what a spinning loop pays. A clock also does not start faster than the kernel permits, because
 * the kernel throttles faster ones. The frequency of counters is unknown before the start, so their
 * samples are limited while sampling.
 *
 * While sampling, the guard compares the recorder's CPU time, as far as samples can have caused it,
 * with the target's. It also adds up what a CPU of the target loses on average: the measured price
 * of its samples, the recorder's time on CPUs of the target, recorded calls, and, where CPUs that
 * wait for each other are sampled in step, the time between the first and the last of them. Calls
 * may take what samples leave, and are timed less often where they cost more. Half of the limit is
 * left to calls and half to samples in any case, however much the others cost. What CPUs lose that
 * are not sampled in step and wait for each other is not known here: it is reported, see
 * program_cost.h.
 *
 * The guard also watches whether the kernel throttles events and whether more than one
 * sample in a hundred is lost. If one of these exceeds its limit in an interval of one second, the
 * sampling period doubles once, as it does for a full buffer. An interval ends early, but not
 * before a tenth of a second, when samples of counters have used up the share of a whole interval
 * or when most samples are lost.
 */
#ifndef RECORD_OVERHEAD_GUARD_H
#define RECORD_OVERHEAD_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct overhead_guard {
	double max_overhead; /* a share of the target's time; 0: off */
	uint64_t price;      /* measured price of a sample, ns of the target's time */
	unsigned nr_clocks;  /* clocks that sample at the same time and divide the allowed share */
	uint64_t max_rate;   /* samples per second and CPU that the kernel permits; 0: no limit */
	uint64_t since;      /* start of the interval, ns */
	uint64_t cpu_since;  /* the recorder's CPU time at the interval's start, ns */
	uint64_t target_ns;  /* CPU time of the target in the interval */
	uint64_t told_since; /* value of overhead_guard_target_time() at the interval's start */
	uint64_t others_ns;  /* recorder's CPU time for tasks, mappings and calls in the interval */
	uint64_t samples;    /* taken in the interval */
	uint64_t beside_ns;  /* the recorder's CPU time on CPUs of the target in the interval */
	uint64_t calls_ns;   /* the target's time for recorded calls in the interval */
	uint64_t spread;     /* ns from the first to the last of samples in step; 0: not in step */
	uint64_t all_samples, all_target_ns, all_beside_ns; /* the same of the whole recording */
	/* samples of counters among them: their rate is unknown before the start */
	uint64_t unbounded;
	uint64_t lost;      /* samples lost in the interval because a ring was full */
	uint64_t throttled; /* times that the kernel throttled an event in the interval */
	uint64_t slowed;    /* time of the last interval that cost too much, ns; 0: none did */
};

/* Initializes the guard for one clock. */
void overhead_guard_init(struct overhead_guard *guard, double max_overhead, uint64_t price);

/* Tells whether samples of the clocks with this period (ns) cost no more than their share. */
bool overhead_guard_affords(const struct overhead_guard *guard, double period);
/*
 * Returns the shift at which a clock with this base period costs no more than its share and is not
 * throttled.
 */
unsigned overhead_guard_initial_shift(const struct overhead_guard *guard, uint64_t base_period);

/*
 * Sets the target's CPU time so far, ns, where no sampled clock measures it; 0: it is unknown now.
 * Without a clock and without this time the guard assumes that the target uses all of its CPUs.
 */
void overhead_guard_target_time(struct overhead_guard *guard, uint64_t target_ns);

/*
 * Returns the share of a CPU's time that calls may cost: what samples and the recorder have left so
 * far, and at least half of the limit. 0: there is no limit.
 */
double overhead_guard_left_for_calls(const struct overhead_guard *guard);

/* Tells whether the interval has ended and cost too much. A new one starts then. */
bool overhead_guard_exceeded(struct overhead_guard *guard, uint64_t now, unsigned nr_cpus);

/* Forgets what was counted so far, in this interval and of the whole recording. */
void overhead_guard_restart(struct overhead_guard *guard);
/* Begins a new interval, of which what happened before is no part. */
void overhead_guard_begin_interval(struct overhead_guard *guard, uint64_t now);

/* Returns the recorder's CPU time so far, ns. */
uint64_t overhead_guard_cpu_time(void);

#endif
