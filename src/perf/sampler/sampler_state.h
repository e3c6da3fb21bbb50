/* The inside of a sampler, for its parts: the files sampler*.c. */
#ifndef PERF_SAMPLER_SAMPLER_STATE_H
#define PERF_SAMPLER_SAMPLER_STATE_H

#include "perf/sampler/prime.h"
#include "perf/sampler/ring_merge.h"
#include "perf/sampler/steered_timer.h"
#include "perf/sampler/sampler.h"

#define SAMPLER_MAX_STEPS  64
#define SAMPLER_LARGE_RING ((size_t)2 << 20)
#define SAMPLER_LARGE_STEP 1024
#define SMALL_PRIME        (1 << 12)

/*
 * A ring of this size wakes the recorder when it holds so many bytes. By then the caches have
 * others' data, and the first samples take as long as tens of later ones: so it had better be
 * seldom. But what is free must last until the recorder is on a CPU, and the smaller the ring the
 * fewer samples that is.
 */
static inline size_t sampler_wakes_at(size_t size)
{
	return size < SAMPLER_LARGE_RING ? size / 8 * 3 : size / 2;
}

/*
 * The kernel events of one sampled event: fds[(rung * number of targets + target) * nr_cpus + cpu].
 * One that was added where events are inherited has targets of its own: all tasks of that time.
 */
struct sampler_event {
	pid_t *own_tasks; /* NULL: its targets are the sampler's */
	unsigned nr_own;
	struct perf_event_attr attr;
	uint64_t *base_period; /* per CPU */
	int *fds;              /* < 0: not open (a task that ended meanwhile) */
	uint32_t *copies;      /* [rung][cpu]: bytes of stack, as the sampler was opened */
	bool is_clock;         /* it counts ns of running */
	unsigned nr_rungs, rung;
	unsigned first_shift; /* of rung 0 */
	bool stepped;         /* another period was in force since the start, or a restart */
	unsigned nr_steps, nr_forgotten;
	struct sampler_step {
		uint64_t time; /* in force since */
		unsigned shift, rung, set;
	} steps[SAMPLER_MAX_STEPS];
	uint64_t *lost;        /* per CPU, from LOST records */
	uint64_t *closed_lost; /* per CPU, of kernel events that are closed */
	bool throttled;        /* since the start */
	bool off;              /* it neither samples nor counts */
	/* For clocks: ns that tasks had run unpaused when it was switched off, and while it was. */
	uint64_t off_at, ran_off;
	/* Counts when sampling was restarted; lost samples per CPU. */
	uint64_t total_before, *lost_before;
};

/*
 * Whether programs may repeat themselves after as many counts as the event's base period. Clocks
 * are excluded.
 */
static inline bool sampler_has_small_steps(const struct sampler_event *event)
{
	return !event->is_clock && event->base_period[0] < SAMPLER_LARGE_STEP;
}

/* Primes where this takes no time; further on what a program repeats would have to be as long. */
static inline uint64_t sampler_period_at(const struct sampler_event *event, unsigned cpu,
                                         unsigned shift)
{
	uint64_t period = event->base_period[cpu] << shift;

	if (!shift || !sampler_has_small_steps(event))
		return period;
	return period < SMALL_PRIME ? prime_beside(period) : (period - period / 34) | 1;
}

struct sampler_id {
	uint64_t id;
	uint32_t target;
	uint16_t event, rung, set;
};

struct sampler {
	enum sampler_way way;
	unsigned nr_cpus;
	int *cpus;
	struct cpu_list likely; /* where samples will be taken */
	unsigned nr_likely;
	int cgroup;
	bool own_apart;   /* this process is not what is sampled */
	bool runs_beside; /* what is sampled is sampled while this process runs, too */
	pid_t *tasks;
	unsigned nr_targets;         /* tasks, or 1 for the cgroup */
	unsigned nr_first;           /* the same when it was opened: those that have side events */
	struct sampler_set *adopted; /* NULL: none is to be used next */
	unsigned set;                /* number of the set of kernel events, see sampler_adopt.c */

	unsigned nr_events;
	struct sampler_event events[SAMPLER_MAX_EVENTS];
	int *side_fds; /* [target][cpu]: mmap, comm, fork, exit records; times of running */
	/* Before sampling started, or was restarted: ns that the tasks ran, and counts. */
	uint64_t ran_before, exact_before;
	struct sampler_reading counters_before;
	bool started, on_exec, paused;
	uint64_t paused_at,
		ran_paused; /* ns that the tasks ran when it was paused; and in pauses */
	int *owner_fds;     /* of each ring */
	int *code_fds;      /* [cpu]: what code of the kernel comes and goes, for all */
	int exact_fd;       /* -1: not wanted */
	int *switch_fds;    /* [cpu]; NULL: not wanted */
	unsigned nr_counters;
	int *counter_fds; /* [rung][target][cpu][counter] */
	uint64_t nr_ids;
	struct sampler_id *ids; /* ascending by id */
	unsigned max_chain;
	bool counts_lost; /* the kernel has RECORD_LOST_COUNTS */

	struct record_format side_format, sample_format;
	struct merged_ring *rings; /* see ring_index() */
	unsigned nr_rings;
	unsigned char *wrapped; /* of all rings */
	struct ring_merge merge;
	uint64_t drain_time, latency, lost_records, malformed;
	char shortage[WHY_SIZE];
	struct steering *steering; /* NULL: timers are not kept on the grid */
};

/* One of each a CPU, but a single RING_EXACT. */
enum sampler_ring { RING_SIDE, RING_SAMPLES, RING_EXACT, NR_SAMPLER_RINGS };

static inline unsigned ring_index(const struct sampler *s, enum sampler_ring ring, unsigned cpu)
{
	return (unsigned)ring * s->nr_cpus + cpu;
}

static inline bool sampler_is_likely(const struct sampler *s, unsigned cpu)
{
	return cpu_list_has(&s->likely, (unsigned)s->cpus[cpu]);
}

/* Tells whether the kernel may sample the event now. */
static inline bool sampler_is_on(const struct sampler *s, const struct sampler_event *event)
{
	return !event->off && !s->paused;
}

static inline unsigned sampler_targets(const struct sampler *s, const struct sampler_event *event)
{
	return event->own_tasks ? event->nr_own : s->nr_targets;
}

/* The kernel events of a rung. */
static inline size_t sampler_cells(const struct sampler *s, const struct sampler_event *event)
{
	return (size_t)sampler_targets(s, event) * s->nr_cpus;
}

/* Whether an event's timers are kept on the grid, if any are. */
static inline bool sampler_is_steered(const struct sampler_event *event)
{
	return event->is_clock && !event->own_tasks;
}

static inline size_t sampler_side_cells(const struct sampler *s)
{
	return (size_t)s->nr_first * s->nr_cpus;
}

static inline int *sampler_fd(const struct sampler *s, const struct sampler_event *event,
                              unsigned rung, unsigned target, unsigned cpu)
{
	return &event->fds[((size_t)rung * sampler_targets(s, event) + target) * s->nr_cpus + cpu];
}

/* Returns the attributes of an event that counts nothing. */
struct perf_event_attr sampler_dummy(void);
/* Opens an event with the sampler's clock. Returns a descriptor or -errno. */
int sampler_event_open(struct perf_event_attr *attr, pid_t pid, int cpu);
/*
 * Opens an event for a task or the cgroup, as sampler.way says, on a CPU. leader: the descriptor of
 * its group's leader, -1 for a group of its own. Returns a descriptor or -errno.
 */
int sampler_open_for(const struct sampler *s, struct perf_event_attr *attr, pid_t task,
                     unsigned cpu, int leader);
/*
 * Redirects an event into the ring of another. fd may be the -errno of opening it, which is
 * returned, but 0 for -ESRCH: a task that has ended needs no event.
 */
int sampler_redirect(int fd, int owner);
/* Compares struct sampler_id by id, for qsort() and bsearch(). */
int sampler_compare_ids(const void *a, const void *b);
/*
 * Opens event number e for a target on a CPU, redirects it into the CPU's ring and appends its id
 * to sampler.ids. Returns 0 or -errno. A task that has ended needs no event.
 */
int sampler_open_event(struct sampler *s, struct perf_event_attr *attr, unsigned e, unsigned rung,
                       unsigned target, unsigned cpu);

/*
 * Opens the counters from which the totals of event 0 are computed for each task. Returns 0 or
 * -errno.
 */
int sampler_open_totals(struct sampler *s, const struct sampler_config *config);
void sampler_close_totals(struct sampler *s);

/* Opens the counters of a group whose leader is an open event of event 0. Returns 0 or -errno. */
int sampler_open_counters(struct sampler *s, const struct event *counters, unsigned rung,
                          unsigned target, unsigned cpu);
size_t sampler_counter_fds(const struct sampler *s);
/* Reads an event that was opened with RECORD_COUNTS. */
int sampler_read_event(const struct sampler *s, int fd, struct sampler_reading *reading);

/*
 * Prepares to keep the timers of clocks on the grid, where this many ns off are not worth a
 * restart. Returns 0 or -ENOMEM.
 */
int sampler_open_steering(struct sampler *s, uint64_t tolerance);
void sampler_close_steering(struct sampler *s);
/* Notes where on the grid a sample was taken. */
void sampler_note_phase(struct sampler *s, const struct sampler_origin *origin,
                        const struct record *sample);
/* Begins anew with the targets there are now: nothing is known of their timers. */
void sampler_replace_timers(struct sampler *s);
/* Notes that all timers of an event were restarted without regard to the grid. */
void sampler_lose_phases(struct sampler *s, unsigned event);

/*
 * Whether one more step can be noted. Steps are forgotten that no record which is still to come can
 * be of.
 */
bool sampler_has_step_room(const struct sampler *s, struct sampler_event *event);
/* Returns the ns that all tasks ran where samples are taken, but for pauses. */
uint64_t sampler_time_ran(const struct sampler *s);
/* Makes room for so many more ids. 0 or -ENOMEM. */
int sampler_grow_ids(struct sampler *s, size_t nr);
/* Bytes of stack that a sample may have so that the CPU's ring holds some. */
uint32_t sampler_copy_with_room(const struct sampler *s, unsigned cpu, uint32_t stack_size);

/* Returns the lost samples of an event on a CPU since it was opened. */
uint64_t sampler_count_lost(const struct sampler *s, const struct sampler_event *event,
                            unsigned cpu);
/* One ioctl on all kernel events of a rung; the first error, but all are tried. */
int sampler_rung_ioctl(struct sampler *s, struct sampler_event *event, unsigned rung,
                       unsigned long request);

/* The number of descriptors that are needed with a single rung. */
size_t sampler_least_descriptors(const struct sampler *s, const struct sampler_config *config);
/* Rungs that are of use for an event, and that there can be for all; notes a shortage. */
unsigned sampler_useful_rungs(const struct sampler_config *config, unsigned event);
unsigned sampler_affordable_rungs(struct sampler *s, const struct sampler_config *config);

/* On all CPUs, the likely ones alike: as wanted, or as large as may be locked. 0, or -errno. */
int sampler_open_rings(struct sampler *s, size_t wanted, uint32_t stack_size, char *why);
void sampler_close_rings(struct sampler *s);

#endif
