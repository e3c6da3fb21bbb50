/*
 * The sampler: kernel events on all CPUs, the rings they write into, and the period in force.
 *
 * Two ways of sampling, for what the kernel does with a changed period (PERF_EVENT_IOC_PERIOD does
 * not reach the copies of an event that running threads have inherited):
 *
 *   SAMPLER_CGROUP  One event per CPU, for a cgroup or for whatever runs there. Nothing is
 *                   inherited; one ioctl per CPU changes the period of everything at once. Needs
 *                   privilege.
 *   SAMPLER_LADDER  Inherited events per task and CPU, in up to 5 rungs with periods base · 4^j of
 *                   which one is enabled. A step enables the next rung and disables the last, which
 *                   does reach running threads.
 *
 * Rings. Per CPU two, each owned by a dummy event of this process: a small one for mmap, comm, fork
 * and exit records, so that a flood of samples cannot crowd them out, and a large one for samples.
 * All other events write into them by redirection. Where a rank of a job is bound to few of many
 * CPUs the rings of the others are small, for each rank has a recorder.
 *
 * Time. All records carry CLOCK_MONOTONIC. They come out of sampler_next() merged in time order up
 * to a horizon that lies SAMPLER_SLACK_NS in the past, so that a sample does not overtake the
 * mapping it needs. What comes behind the merge front all the same is delivered late and counted.
 *
 * In step. With in_step the timers of clocks are kept on a grid that all CPUs share, see grid.h.
 * That takes calls of sampler_steer(). With SAMPLER_LADDER it reaches the tasks that events were
 * opened for, and none that inherited them.
 */
#ifndef PERF_SAMPLER_SAMPLER_H
#define PERF_SAMPLER_SAMPLER_H

#include "base/clock.h"
#include "perf/sampler/counters.h"
#include "perf/machine/cpu_list.h"
#include "perf/sampler/record.h"

#include <sys/types.h>

#define SAMPLER_SLACK_NS   1000000
#define SAMPLER_MAX_EVENTS 16
#define SAMPLER_MAX_RUNGS  5

enum sampler_way { SAMPLER_CGROUP, SAMPLER_LADDER };

/* How the exact total of event 0 by task is known with SAMPLER_LADDER. */
enum sampler_totals {
	SAMPLER_NO_TOTALS,
	SAMPLER_TOTALS_AT_EXIT,    /* RECORD_READ at each exit of a task that inherited it */
	SAMPLER_TOTALS_BY_SWITCHES /* of a clock: RECORD_RUN and RECORD_STOP at each switch */
};

struct sampler_config {
	enum sampler_way way;
	int cgroup;                  /* SAMPLER_CGROUP: its directory; -1: everything on the CPUs */
	bool in_cgroup;              /* this process is in the cgroup */
	const struct cpu_list *cpus; /* SAMPLER_CGROUP: sample on these only; NULL: on all */
	const struct cpu_list *likely; /* where samples will be taken; NULL: anywhere */
	const pid_t *tasks; /* SAMPLER_LADDER: threads that exist; their descendants follow */
	size_t nr_tasks;
	bool on_exec; /* SAMPLER_LADDER: the task is ours, and totals start with its exec */
	/* Where there are, there is one task, and it is none of the target's own: its parent. */
	enum sampler_totals totals;

	const struct event *events;
	unsigned nr_events;
	uint64_t base_period[SAMPLER_MAX_EVENTS];
	uint64_t tolerance; /* in_step: ns off the grid that are not worth a restart */
	unsigned shift[SAMPLER_MAX_EVENTS]; /* to start with */
	/* Opened with a single rung, and off until sampler_switch_event() switches it on. */
	bool spare[SAMPLER_MAX_EVENTS];
	bool in_step; /* keep the timers of all CPUs on one grid, where that is possible */
	/* Else: let the CPUs' periods differ by a few per cent, where an event has no own. */
	bool spread;

	const struct event *counters; /* read with each sample of event 0 */
	unsigned nr_counters;         /* at most COUNTERS_MAX */

	bool kernel_chain, user_chain; /* call chains by frame pointers */
	unsigned max_stack;            /* addresses in them; 0: as many as the kernel gives */
	uint32_t stack_size;           /* bytes of user stack to copy, a multiple of 8; 0: none */
	uint64_t regs;                 /* user registers to copy; 0: none */
	bool kernel_code;              /* tell what code of the kernel comes and goes */
	bool data;                     /* what is accessed: address, source, latency */
	bool exclude_idle;             /* no samples of idle CPUs */
	bool branches;                 /* stacks of calls from the processor's branch records */
	size_t ring_size;              /* wanted for samples, per likely CPU */
	/*
	 * If not NULL, samples copy this many bytes instead of stack_size. period is the period at
	 * which they are taken, in the event's units; room is the number of bytes that are free in
	 * a ring when it wakes the recorder.
	 */
	uint32_t (*copy_size)(const void *arg, uint64_t period, size_t room);
	const void *copy_arg;
};

/* Where a record came from. */
struct sampler_origin {
	int event; /* -1: none of the sampled ones */
	unsigned cpu;
	unsigned shift; /* the event sampled at sampler_period() of this */
	/* Number of the event's change of period that was the last before the record. */
	unsigned change;
	unsigned rung; /* SAMPLER_LADDER: counts belong to one thread, CPU and rung */
	/* SAMPLER_LADDER: index of the task that has the event or its parent, if that is in force
	 */
	unsigned target;
	bool stale; /* a rung that was not in force at the record's time: not a sample taken */
};

struct sampler;

/*
 * Opens everything, disabled. NULL with errno; why then has a line for the user. Rings, rungs and
 * locked memory shrink where limits ask for it: see sampler_shortage().
 */
struct sampler *sampler_open(const struct sampler_config *config, char why[WHY_SIZE]);
void sampler_close(struct sampler *sampler);

/* One line on what was opened smaller than wanted; NULL: nothing. */
const char *sampler_shortage(const struct sampler *sampler);

/*
 * Starts sampling and counting now, once: until then totals are 0. With on_exec those of tasks
 * start by themselves, after this; what is sampled before is not the target's yet. 0 or -errno.
 */
int sampler_enable(struct sampler *sampler);
/* Ends sampling. Records already written stay readable. */
void sampler_disable(struct sampler *sampler);

/*
 * Ends sampling and counting until sampler_resume(). Records of tasks and mappings come meanwhile.
 * Totals leave out what happens in between. Periods may be changed while it is paused.
 */
void sampler_pause(struct sampler *sampler);
/* 0 or -errno. */
int sampler_resume(struct sampler *sampler);

/*
 * Opens an event of a configuration behind those that there are, which are the first of its events,
 * and switches it off. 0, or -errno with a line in why. Where events are inherited it is opened for
 * each of the configuration's tasks, which must be all that are sampled; none may be born
 * meanwhile. From then on tasks do not share what the kernel keeps of their events, so that each
 * switch between them costs more, and sampler_adopt() is not possible any more.
 */
int sampler_add_event(struct sampler *sampler, const struct sampler_config *config,
                      char why[WHY_SIZE]);
/*
 * Lets an event sample and count, or not. Totals leave out the time in which it did not. While all
 * is paused it takes effect with sampler_resume().
 */
void sampler_switch_event(struct sampler *sampler, unsigned event, bool on);

unsigned sampler_nr_cpus(const struct sampler *sampler);
/* Returns the number of CPUs on which samples are taken. */
unsigned sampler_nr_sampled(const struct sampler *sampler);
unsigned sampler_cpu(const struct sampler *sampler, unsigned index); /* its number */
/* Returns the index of a CPU, or sampler_nr_cpus() if it has none. */
unsigned sampler_cpu_index(const struct sampler *sampler, int cpu);
uint64_t sampler_base_period(const struct sampler *sampler, unsigned event, unsigned cpu_index);
/*
 * Whether the event has a base period so small that programs may repeat themselves after as many
 * counts. The kernel then samples at a period that is no multiple of it, see lambda.h.
 */
bool sampler_counts_in_small_steps(const struct sampler *sampler, unsigned event);
/*
 * Returns the kernel's sampling period at a shift: base_period << shift, or a prime number near
 * that.
 */
uint64_t sampler_period(const struct sampler *sampler, unsigned event, unsigned cpu_index,
                        unsigned shift);
/*
 * Returns the largest length of a call chain in addresses, with the kernel's own limit considered.
 */
unsigned sampler_max_chain(const struct sampler *sampler);

/*
 * Whether what runs on a CPU now is not sampled, or was not for a while, as far as can be seen at
 * this moment: a CPU that was switched on has no events, and with one that is switched off the
 * kernel ends those of a cgroup for good. of: only these are of interest; NULL: all.
 */
bool sampler_misses_cpu(const struct sampler *sampler, const struct cpu_list *of);

/* The clock of all records: CLOCK_MONOTONIC, ns. */
static inline uint64_t sampler_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/*
 * Asks the kernel to sample at sampler_period() of a shift from now on: of one that is no less than
 * the first. Returns the shift that is in force then: the one asked for or, between two rungs,
 * less. It is another one where the period has changed too often for records that are not drained
 * yet; the change may be asked for again after a drain.
 */
unsigned sampler_follow(struct sampler *sampler, unsigned event, unsigned shift);
/* Returns the shift that would be in force then, and since when the present one is, ns. */
unsigned sampler_shift_for(const struct sampler *sampler, unsigned event, unsigned shift);
uint64_t sampler_changed(const struct sampler *sampler, unsigned event);
/*
 * Samples at the first shifts again, and starts all totals and losses of samples at 0 as if
 * sampling had been enabled now. Samples of before this call may still come out: their shift and
 * rung are not known any more.
 */
void sampler_restart(struct sampler *sampler);
/* The highest shift that can come to be in force. */
unsigned sampler_slowest(const struct sampler *sampler, unsigned event);

/*
 * Restarts timers that are off the grid, as the samples so far tell. Call it after a drain, before
 * the recorder sleeps. It takes no longer than `most` ns, but for one period and at most 10 ms.
 * Returns the ns after which to call it again; UINT64_MAX: any time.
 */
uint64_t sampler_steer(struct sampler *sampler, uint64_t most);
/* Returns the ns from one instant of the grid to the next at shift 0; 0: there is no grid. */
uint64_t sampler_grid(const struct sampler *sampler);

/*
 * SAMPLER_LADDER: opens events of their own for tasks that exist, which are to replace those that
 * they inherited, for these cannot be restarted. Nothing changes yet. Only for clocks without
 * counters. 0 or -errno: -E2BIG there are too many, -EALREADY some were opened already.
 */
int sampler_adopt(struct sampler *sampler, const pid_t *tasks, size_t nr);
/*
 * Samples by these events alone from now on, or closes them. All tasks that are to be sampled must
 * be among those given, or younger than the return of sampler_adopt(): then they inherited events
 * from one of those.
 */
void sampler_use_adopted(struct sampler *sampler);
void sampler_drop_adopted(struct sampler *sampler);

/* How well the timers kept to the grid. */
struct sampler_phases {
	uint64_t grid;        /* ns from one instant of the grid to the next; 0: there is none */
	uint64_t median, p90; /* distance of samples from the grid, ns */
	uint64_t restarts;
	unsigned nr_unsteered; /* CPUs of which most samples are more than 10 us off the grid */
};
struct sampler_phases sampler_phases(const struct sampler *sampler);

/*
 * Returns the ns of periods of an event of a CPU that were cut off, so that its timer expires on
 * the grid: samples are missing for so much time. 0 where events are of threads.
 */
uint64_t sampler_dropped(const struct sampler *sampler, unsigned event, unsigned cpu);

/*
 * Copies up to so many bytes of stack with each sample from now on. 0; -EOPNOTSUPP for inherited
 * events and with counters, or another -errno: all is as before. The ring must be three times as
 * large.
 */
int sampler_copy_more(struct sampler *sampler, uint32_t stack_size);
/* How many that is now; of what copies as copy_size() says, stack_size. */
uint32_t sampler_copied(const struct sampler *sampler);
/*
 * Bytes of memory that all rings take at least, if each likely CPU has one of this size for
 * samples with so much stack.
 */
size_t sampler_rings_size(unsigned nr_cpus, unsigned nr_likely, size_t size, uint32_t stack_size);
/* Bytes of the ring that each likely CPU has for samples. */
size_t sampler_ring_size(const struct sampler *sampler);

/* Raises the limit of open files as far as allowed and returns it. */
size_t sampler_descriptor_limit(void);
/* Descriptors that are open at most while a command is sampled by a ladder for one event. */
size_t sampler_usual_descriptors(unsigned nr_cpus);

/* A descriptor that polls readable when a ring is about half full; -1 behind the last. */
int sampler_poll_fd(const struct sampler *sampler, unsigned i);

/*
 * Whether one is three eighths full of what was there as the last drain began: a nap may be too
 * long for that.
 */
bool sampler_is_crowded(const struct sampler *sampler);

/* Returns how much of the fullest ring for samples was used as the last drain began, 0 to 1. */
double sampler_fill(const struct sampler *sampler);

/* Begins a drain of all that was written up to now minus the slack; all: up to now. */
void sampler_drain(struct sampler *sampler, bool all);
/* The next record of the drain, valid until the next call; false: it has ended. */
bool sampler_next(struct sampler *sampler, struct record *record, struct sampler_origin *origin);

/* All records of before this time have come out, but for late ones: where the last drain ended. */
uint64_t sampler_drained(const struct sampler *sampler);

/* Records delivered behind the merge front so far. */
uint64_t sampler_late(const struct sampler *sampler);
/* Records that made no sense, and rests of rings that did not; all are skipped. */
uint64_t sampler_malformed(const struct sampler *sampler);
/* The longest time that a record waited for sampler_next(), ns. */
uint64_t sampler_latency(const struct sampler *sampler);

/* Samples of an event on a CPU that found no room in the ring, exact where the kernel counts. */
uint64_t sampler_lost(const struct sampler *sampler, unsigned event, unsigned cpu_index);
/* The same of all events on all CPUs. */
uint64_t sampler_all_lost(const struct sampler *sampler);
/* The same for mmap, comm, fork, exit and read records. */
uint64_t sampler_lost_records(const struct sampler *sampler);

/*
 * Returns the kernel's own total of an event over all tasks, independent of the samples; 0:
 * unknown. The kernel does not count an event while it throttles it, but the time that tasks ran is
 * measured nevertheless.
 */
uint64_t sampler_total(const struct sampler *sampler, unsigned event);

/* Returns which totals of event 0 this kernel supports with inherited events. */
enum sampler_totals sampler_possible_totals(const struct event *event);

/* Stops RECORD_RUN and RECORD_STOP records: each costs the target 0.4 us. */
void sampler_stop_switches(struct sampler *sampler);

/*
 * With SAMPLER_LADDER and totals: returns the sum of the counters from which the totals of event 0
 * are computed for each task; 0 if there are none. It is less than sampler_total() where the kernel
 * swapped the contexts of siblings: the kernel then loses counts of such events (seen on Linux
 * 6.18).
 */
uint64_t sampler_exact(const struct sampler *sampler);

/*
 * The counts of an event's group: its own count first. enabled and running are the times in ns that
 * the group was enabled and was on the hardware.
 */
struct sampler_reading {
	unsigned nr; /* 0: nothing */
	uint64_t values[1 + COUNTERS_MAX];
	uint64_t enabled, running, lost;
};

/* The kernel's own totals of event 0 and the counters, over all CPUs, tasks and rungs. */
void sampler_counter_totals(const struct sampler *sampler, struct sampler_reading *totals);

#endif
