/*
 * Steering: keeps the timers of clocks on the grid, see grid.h and steered_timer.h.
 *
 * Where each timer is, its samples tell. A restart from another CPU takes an interrupt there, 20 to
 * 50 us in a virtual machine, so calls are made early by what the last one took. Where that mostly
 * fails, a thread that is bound to the timer's own CPU makes the call. These threads wait for the
 * same instant, so that a program whose CPUs wait for each other is stopped only once.
 *
 * The CPU that the recorder runs on comes last: if the target's event is not running there now, it
 * continues when the recorder sleeps, so its restart takes as long as that.
 *
 * With SAMPLER_LADDER each target has a timer: of the event on the CPU that it was sampled on last.
 * It stops while the target does not run. What its children inherited cannot be restarted.
 */
#include "perf/sampler/pinned_threads.h"
#include "perf/sampler/sampler_state.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>

#define SPIN_NS     150000 /* before a call, for sleep is not exact */
#define LATE_NS     2000   /* a call that is later would miss the grid */
#define TRIES       4
#define WORK_NS     10000000 /* at most, for rings fill meanwhile */
#define AGAIN_MS    1
#define RESULT_MS   3 /* a restart at 1 kHz and more has shown its result */
#define LOOK_MS     20
#define RECENT_NS   300000000 /* ago: a target whose latest sample is older does not run */
#define FAR_NS      10000     /* off the grid */
#define MOST_TIMERS 4096      /* of each event */

/* Distances are counted in quarters of octaves: |distance| of 2^(n/4) ns and more. */
#define NR_DISTANCES 160

struct restart {
	struct steered_timer *timer;
	struct grid grid;
	int fd;
	unsigned cpu; /* index of the timer's CPU */
	bool from_own, in_time;
	uint64_t took, usual; /* duration of the call, ns; usual 0: not known yet */
};

struct steering {
	struct steered_timer *timers; /* [event][place]: see timer_of() */
	unsigned nr_places;
	unsigned *cpus; /* [event][place]: index of the CPU that has the timer */
	struct cpu_samples {
		uint64_t taken, off; /* in all; far off the grid */
	} * samples;                 /* [cpu] */
	struct pinned_threads *threads;
	struct restart *begun; /* [cpu], by these threads; one more is being begun */
	unsigned nr_begun;
	uint64_t usual[2]; /* duration of calls by from_own */
	uint64_t distances[NR_DISTANCES];
	uint64_t restarts;
};

static int make_timers(struct sampler *s)
{
	unsigned nr_places = s->way == SAMPLER_CGROUP ? s->nr_cpus : s->nr_targets;
	struct steering *steering = s->steering;
	size_t nr;

	steering->nr_places = nr_places < MOST_TIMERS ? nr_places : MOST_TIMERS;
	nr = (size_t)s->nr_events * steering->nr_places;
	steering->timers = calloc(nr, sizeof(*steering->timers));
	steering->cpus = calloc(nr, sizeof(*steering->cpus));
	if (!steering->timers || !steering->cpus) {
		steering->nr_places = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		timer_init(&steering->timers[i]);
		if (s->way == SAMPLER_CGROUP)
			steering->cpus[i] = (unsigned)(i % s->nr_cpus);
	}
	return 0;
}

static void free_timers(struct steering *steering)
{
	free(steering->timers);
	free(steering->cpus);
}

int sampler_open_steering(struct sampler *s)
{
	s->steering = calloc(1, sizeof(*s->steering));
	if (!s->steering || make_timers(s))
		return -ENOMEM;
	s->steering->samples = calloc(s->nr_cpus, sizeof(*s->steering->samples));
	s->steering->begun = calloc(s->nr_cpus + 1, sizeof(*s->steering->begun));
	s->steering->threads = pinned_threads_new(s->cpus, s->nr_cpus);
	if (!s->steering->samples || !s->steering->begun || !s->steering->threads)
		return -ENOMEM;
	/* Sleep is 50 us longer else. */
	prctl(PR_SET_TIMERSLACK, 1);
	return 0;
}

void sampler_close_steering(struct sampler *s)
{
	if (!s->steering)
		return;
	pinned_threads_free(s->steering->threads);
	free(s->steering->begun);
	free_timers(s->steering);
	free(s->steering->samples);
	free(s->steering);
}

void sampler_replace_timers(struct sampler *s)
{
	if (!s->steering)
		return;
	free_timers(s->steering);
	make_timers(s); /* without memory nothing is steered any more */
}

/* Returns an event's timer of a place: of a CPU or, with SAMPLER_LADDER, of a target. */
static struct steered_timer *timer_of(const struct sampler *s, unsigned e, unsigned place)
{
	return &s->steering->timers[(size_t)e * s->steering->nr_places + place];
}

/* Returns the index of the CPU that has the timer. */
static unsigned *cpu_of(const struct sampler *s, unsigned e, unsigned place)
{
	return &s->steering->cpus[(size_t)e * s->steering->nr_places + place];
}

static struct grid grid_of(const struct sampler *s, unsigned e, unsigned shift)
{
	return (struct grid){s->events[e].base_period[0], shift};
}

static unsigned bucket_of(uint64_t distance)
{
	unsigned octave = distance ? 63 - (unsigned)__builtin_clzll(distance) : 0, bucket;
	uint64_t rest = octave >= 2 ? distance >> (octave - 2) & 3 : 0;

	bucket = 4 * octave + (unsigned)rest;
	return bucket < NR_DISTANCES ? bucket : NR_DISTANCES - 1;
}

/* Returns whether a sample was taken by an event that can be restarted, and whose place it is. */
static bool find_place(const struct sampler *s, const struct sampler_source *source,
                       const struct record *sample, unsigned *place)
{
	*place = s->way == SAMPLER_CGROUP ? source->cpu : source->target;
	return *place < s->steering->nr_places &&
	       (s->way == SAMPLER_CGROUP || s->tasks[*place] == (pid_t)sample->tid);
}

static void note_timer(struct sampler *s, const struct sampler_source *source, unsigned place,
                       const struct grid *grid, uint64_t time)
{
	unsigned e = (unsigned)source->event, *cpu = cpu_of(s, e, place);
	struct steered_timer *timer = timer_of(s, e, place);

	if (*cpu != source->cpu && timer->taken)
		timer_moved(timer);
	*cpu = source->cpu;
	timer_note(timer, grid, time);
}

void sampler_note_phase(struct sampler *s, const struct sampler_source *source,
                        const struct record *sample)
{
	unsigned e = (unsigned)source->event, place;
	uint64_t distance;
	struct grid grid;

	if (!s->steering || !s->events[e].is_clock || source->stale)
		return;
	grid = grid_of(s, e, source->shift);
	if (find_place(s, source, sample, &place))
		note_timer(s, source, place, &grid, sample->time);
	distance = (uint64_t)llabs(
		grid_distance(&grid, grid_epoch(&grid, sample->time), sample->time));
	s->steering->distances[bucket_of(distance)]++;
	s->steering->samples[source->cpu].taken++;
	s->steering->samples[source->cpu].off += distance > FAR_NS;
}

void sampler_lose_phases(struct sampler *s, unsigned e)
{
	for (unsigned i = 0; s->steering && i < s->steering->nr_places; i++)
		timer_lost(timer_of(s, e, i));
}

static void sleep_until(uint64_t time)
{
	const struct timespec until = {(time_t)(time / 1000000000), (long)(time % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Returns the time then. */
static uint64_t wait_until(uint64_t time)
{
	uint64_t now = sampler_now();

	if (time > now + SPIN_NS + SPIN_NS / 2)
		sleep_until(time - SPIN_NS);
	while ((now = sampler_now()) < time)
		continue;
	return now;
}

/* Calls for a restart at the right time. Returns by how much it was late, ns. */
static uint64_t call_in_time(struct restart *restart)
{
	uint64_t period = restart->grid.base << restart->grid.shift;
	uint64_t call =
		timer_call_time(restart->timer, &restart->grid, sampler_now(), restart->from_own);
	uint64_t begin = wait_until(call);

	ioctl(restart->fd, PERF_EVENT_IOC_PERIOD, &period);
	restart->took = sampler_now() - begin;
	return begin - call;
}

/*
 * Restarts a timer so that it expires on the grid. A call that was late, or took longer than usual
 * because something interrupted it, is repeated. The timer itself may interrupt this thread at each
 * instant of the grid: then the first call moves it behind that instant, where it does not disturb
 * the next one.
 */
static void call_on_grid(struct restart *restart)
{
	for (unsigned i = 0; i < TRIES && !restart->in_time; i++)
		restart->in_time = call_in_time(restart) <= LATE_NS &&
		                   (!restart->usual || restart->took <= restart->usual + LATE_NS);
}

/* Returns whether a thread of a CPU makes a call. */
static bool is_busy(const struct steering *steering, unsigned c)
{
	for (unsigned i = 0; i < steering->nr_begun; i++)
		if (steering->begun[i].cpu == c)
			return true;
	return false;
}

static void call_there(void *arg)
{
	call_on_grid(arg);
}

/*
 * Calls from the timer's own CPU take effect at once, but stop the program there. So they are for
 * timers that calls from elsewhere have missed. The event of a thread then starts when this process
 * sleeps, which takes always the same time.
 */
static bool begin_there(struct sampler *s, struct restart *restart, unsigned c)
{
	if (!(s->runs_beside || s->way == SAMPLER_LADDER) || !timer_is_missed(restart->timer) ||
	    is_busy(s->steering, c))
		return false;
	restart->from_own = true;
	restart->usual = s->steering->usual[true];
	return !pinned_threads_begin(s->steering->threads, c, call_there, restart);
}

/* One call that takes much longer changes little. */
static void learn_usual(uint64_t *usual, uint64_t took)
{
	if (took > *usual + *usual / 4 && *usual)
		*usual += *usual / 4;
	else
		*usual = took;
}

static void finish(struct sampler *s, struct restart *restart)
{
	s->steering->restarts++;
	learn_usual(&s->steering->usual[restart->from_own], restart->took);
	timer_restarted(restart->timer, &restart->grid, sampler_now(), restart->in_time,
	                restart->from_own);
}

static void begin_restart(struct sampler *s, unsigned c, const struct restart *wanted)
{
	struct restart *restart = &s->steering->begun[s->steering->nr_begun];

	*restart = *wanted;
	if (begin_there(s, restart, c)) {
		s->steering->nr_begun++;
		return;
	}
	restart->from_own = s->cpus[c] == sched_getcpu();
	restart->usual = s->steering->usual[restart->from_own];
	call_on_grid(restart);
	finish(s, restart);
}

/*
 * Returns whether a timer is off the grid, or will be: those that stop while this process runs on
 * their CPU are late by the time of this round when it sleeps.
 */
static bool is_off(const struct sampler *s, const struct restart *restart, unsigned c)
{
	uint64_t now = sampler_now();

	if (!s->runs_beside && s->cpus[c] == sched_getcpu())
		return timer_is_steady(restart->timer, &restart->grid, now);
	return timer_is_off(restart->timer, &restart->grid, now);
}

/* Returns whether the timer is still off the grid. */
static bool steer_one(struct sampler *s, unsigned e, unsigned place)
{
	const struct sampler_event *event = &s->events[e];
	unsigned c = *cpu_of(s, e, place), target = s->way == SAMPLER_CGROUP ? 0 : place;
	struct restart restart = {
		.timer = timer_of(s, e, place),
		.grid = grid_of(s, e, event->steps[event->nr_steps - 1].shift),
		.fd = *sampler_fd(s, event, event->rung, target, c),
		.cpu = c,
	};

	if (restart.fd < 0 || !event->is_clock || !is_off(s, &restart, c))
		return false;
	if (timer_may_restart(restart.timer))
		begin_restart(s, c, &restart);
	return true;
}

/* Steers the timers of all CPUs but one, or of that one. Returns how many were off the grid. */
static unsigned steer_cpus(struct sampler *s, unsigned e, unsigned cpu, bool but, uint64_t end)
{
	unsigned nr_off = 0;

	for (unsigned i = 0; i < s->steering->nr_places && sampler_now() < end; i++)
		if ((*cpu_of(s, e, i) != cpu) == but)
			nr_off += steer_one(s, e, i);
	return nr_off;
}

/* A thread that waits for one timer cannot wait for another, so each has a round of its own. */
static unsigned steer_event(struct sampler *s, unsigned e, unsigned last, uint64_t end)
{
	struct steering *steering = s->steering;
	unsigned nr_off = steer_cpus(s, e, last, true, end);
	unsigned nr_last = steer_cpus(s, e, last, false, end + WORK_NS);

	pinned_threads_wait(steering->threads);
	for (unsigned i = 0; i < steering->nr_begun; i++)
		finish(s, &steering->begun[i]);
	steering->nr_begun = 0;
	return s->runs_beside ? nr_off + nr_last : nr_off;
}

/* Returns the index of the CPU that this thread runs on. */
static unsigned own_cpu(const struct sampler *s)
{
	unsigned own = 0;
	int cpu = sched_getcpu();

	while (own < s->nr_cpus && s->cpus[own] != cpu)
		own++;
	return own;
}

/* Returns the ms in which samples pay for a restart of a timer. */
static int paying_ms(const struct sampler *s)
{
	uint64_t longest = 0;

	for (unsigned e = 0; e < s->nr_events; e++) {
		const struct sampler_event *event = &s->events[e];
		struct grid grid = grid_of(s, e, event->steps[event->nr_steps - 1].shift);

		if (event->is_clock && grid.base << grid.shift > longest)
			longest = grid.base << grid.shift;
	}
	longest = longest < INT32_MAX ? longest * TIMER_PATIENCE / 1000000 : INT32_MAX;
	return longest < LOOK_MS ? LOOK_MS : (int)longest;
}

/*
 * Returns whether each look at the timers moves one of them, which must then be restarted: it
 * belongs to a task that runs on this CPU otherwise.
 */
static bool disturbs(const struct sampler *s, unsigned own)
{
	uint64_t since = sampler_now() - RECENT_NS;

	for (unsigned e = 0; e < s->nr_events && !s->runs_beside; e++)
		for (unsigned i = 0; i < s->steering->nr_places; i++)
			if (*cpu_of(s, e, i) == own && timer_of(s, e, i)->latest > since)
				return true;
	return false;
}

int sampler_steer(struct sampler *s)
{
	unsigned nr_off = 0, own;
	uint64_t end, before;

	if (!s->steering)
		return -1;
	before = s->steering->restarts;
	end = sampler_now() + WORK_NS;
	own = own_cpu(s);
	for (unsigned e = 0; e < s->nr_events; e++)
		nr_off += steer_event(s, e, own, end);
	if (!nr_off)
		return -1;
	if (disturbs(s, own))
		return paying_ms(s);
	if (sampler_now() >= end)
		return AGAIN_MS;
	return s->steering->restarts > before ? RESULT_MS : LOOK_MS;
}

/* Returns the distance that this share of all samples does not exceed. */
static uint64_t quantile(const struct steering *steering, double share)
{
	uint64_t all = 0, sum = 0;
	unsigned i;

	for (unsigned b = 0; b < NR_DISTANCES; b++)
		all += steering->distances[b];
	if (!all)
		return 0;
	for (i = 0; i < NR_DISTANCES - 1; i++) {
		sum += steering->distances[i];
		if ((double)sum >= share * (double)all)
			break;
	}
	return ((uint64_t)5 + i % 4) << (i / 4) >> 2;
}

static unsigned count_unsteered(const struct sampler *s)
{
	unsigned nr = 0;

	for (unsigned c = 0; c < s->nr_cpus; c++)
		nr += s->steering->samples[c].off > s->steering->samples[c].taken / 2;
	return nr;
}

struct sampler_phases sampler_phases(const struct sampler *s)
{
	struct sampler_phases phases = {0};
	unsigned e = 0;

	while (e < s->nr_events && !s->events[e].is_clock)
		e++;
	if (!s->steering || e == s->nr_events)
		return phases;
	phases.grid = s->events[e].base_period[0];
	phases.median = quantile(s->steering, 0.5);
	phases.p90 = quantile(s->steering, 0.9);
	phases.restarts = s->steering->restarts;
	phases.nr_unsteered = count_unsteered(s);
	return phases;
}
