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

#include "base/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>

#define LEAST_SPIN_NS 10000 /* before a call, for sleep is not exact */
#define MOST_SPIN_NS  150000
#define TRIES         4
#define BUDGET_NS     10000000 /* CPU time for steering, and this share of the time beside it */
#define BUDGET_SHARE  100
#define WORK_NS       10000000 /* at most, for rings fill meanwhile */
#define AGAIN_NS      1000000  /* as soon as rings have been emptied */
#define LOOK_NS       25000000
#define RECENT_NS     300000000 /* ago: a target whose latest sample is older does not run */
#define FAR_NS        10000     /* off the grid */
#define MOST_TIMERS   4096      /* of each event */

/* Distances are counted in quarters of octaves: |distance| of 2^(n/4) ns and more. */
#define NR_DISTANCES 160

struct restart {
	struct steered_timer *timer;
	struct grid grid;
	int fd;
	unsigned cpu;                      /* index of the timer's CPU */
	bool from_own, in_time, own_apart; /* own_apart: this process is not what is sampled */
	unsigned nr_calls, paid;           /* paid: as many as there may be */
	uint64_t late;                     /* a call that is later by more ns would miss the grid */
	uint64_t took, usual;              /* duration of the call, ns; usual 0: not known yet */
	uint64_t effect;                   /* time of the last call, ns; 0: none was made */
	uint64_t dropped;                  /* ns of periods that calls have cut off */
	uint64_t spin;                     /* ns before a call in which sleep may end */
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
	uint64_t usual[2];  /* duration of calls by from_own */
	uint64_t spin[2];   /* the same of what restart.spin is */
	uint64_t tolerance; /* ns off the grid that are not worth a restart */
	uint64_t began;     /* time of the first steering, ns */
	uint64_t spent;     /* CPU time of all steering, ns */
	unsigned first;     /* the timer whose turn is first, modulo their number */
	uint64_t distances[NR_DISTANCES];
	uint64_t restarts;
};

static int make_timers(struct sampler *s, uint64_t tolerance)
{
	unsigned nr_places = s->way == SAMPLER_CGROUP ? s->nr_cpus : s->nr_targets;
	struct steering *steering = s->steering;
	size_t nr;

	steering->nr_places = nr_places < MOST_TIMERS ? nr_places : MOST_TIMERS;
	/* Events may be added where they are not inherited. */
	nr = (size_t)(s->way == SAMPLER_CGROUP ? SAMPLER_MAX_EVENTS : s->nr_events) *
	     steering->nr_places;
	steering->timers = calloc(nr, sizeof(*steering->timers));
	steering->cpus = calloc(nr, sizeof(*steering->cpus));
	if (!steering->timers || !steering->cpus) {
		steering->nr_places = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		timer_init(&steering->timers[i], tolerance);
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

int sampler_open_steering(struct sampler *s, uint64_t tolerance)
{
	s->steering = calloc(1, sizeof(*s->steering));
	if (!s->steering || make_timers(s, tolerance))
		return -ENOMEM;
	s->steering->samples = calloc(s->nr_cpus, sizeof(*s->steering->samples));
	s->steering->begun = calloc(s->nr_cpus + 1, sizeof(*s->steering->begun));
	s->steering->threads = pinned_threads_new(s->cpus, s->nr_cpus);
	if (!s->steering->samples || !s->steering->begun || !s->steering->threads)
		return -ENOMEM;
	s->steering->tolerance = tolerance;
	s->steering->spin[false] = s->steering->spin[true] = MOST_SPIN_NS;
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
	make_timers(s, s->steering->tolerance); /* without memory nothing is steered any more */
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
static bool find_place(const struct sampler *s, const struct sampler_origin *origin,
                       const struct record *sample, unsigned *place)
{
	*place = s->way == SAMPLER_CGROUP ? origin->cpu : origin->target;
	return *place < s->steering->nr_places &&
	       (s->way == SAMPLER_CGROUP || s->tasks[*place] == (pid_t)sample->tid);
}

static void note_timer(struct sampler *s, const struct sampler_origin *origin, unsigned place,
                       const struct grid *grid, uint64_t time)
{
	unsigned e = (unsigned)origin->event, *cpu = cpu_of(s, e, place);
	struct steered_timer *timer = timer_of(s, e, place);

	if (*cpu != origin->cpu && timer->taken)
		timer_moved(timer);
	*cpu = origin->cpu;
	timer_note(timer, grid, time);
}

void sampler_note_phase(struct sampler *s, const struct sampler_origin *origin,
                        const struct record *sample)
{
	unsigned e = (unsigned)origin->event, place;
	uint64_t distance;
	struct grid grid;

	if (!s->steering || !sampler_is_steered(&s->events[e]) || origin->stale)
		return;
	grid = grid_of(s, e, origin->shift);
	if (find_place(s, origin, sample, &place))
		note_timer(s, origin, place, &grid, sample->time);
	distance = (uint64_t)llabs(
		grid_distance(&grid, grid_epoch(&grid, sample->time), sample->time));
	s->steering->distances[bucket_of(distance)]++;
	s->steering->samples[origin->cpu].taken++;
	s->steering->samples[origin->cpu].off += distance > FAR_NS;
}

void sampler_lose_phases(struct sampler *s, unsigned e)
{
	if (!s->steering || !sampler_is_steered(&s->events[e]))
		return;
	for (unsigned i = 0; i < s->steering->nr_places; i++)
		timer_lost(timer_of(s, e, i));
}

static void sleep_until(uint64_t time)
{
	const struct timespec until = clock_timespec(time);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Spinning begins twice as early as sleep was late of late. */
static void learn_spin(uint64_t *spin, uint64_t late)
{
	uint64_t wanted = LEAST_SPIN_NS + 2 * late;

	*spin = wanted > *spin ? wanted : *spin - (*spin - wanted) / 8;
	if (*spin > MOST_SPIN_NS)
		*spin = MOST_SPIN_NS;
}

/* Returns the time then. */
static uint64_t wait_until(uint64_t time, uint64_t *spin)
{
	uint64_t now = sampler_now(), wake = time - *spin;

	if (now + *spin / 2 < wake) {
		sleep_until(wake);
		now = sampler_now();
		learn_spin(spin, now > wake ? now - wake : 0);
	}
	while (now < time)
		now = sampler_now();
	return now;
}

/*
 * The timer began a period anew. ran_from: since when this thread has been at work; on the timer's
 * CPU that time is none of the target's.
 */
static void note_effect(struct restart *restart, uint64_t time, uint64_t ran_from)
{
	const uint64_t period = restart->grid.base << restart->grid.shift;
	const uint64_t own = restart->own_apart && restart->from_own ? time - ran_from : 0;
	const uint64_t elapsed = restart->effect ? (time - restart->effect) % period
	                                         : timer_elapsed(restart->timer, time);

	restart->dropped += elapsed > own ? elapsed - own : 0;
	restart->effect = time;
}

/* Returns whether a call for a restart took effect in time. */
static bool call_in_time(struct restart *restart)
{
	uint64_t period = restart->grid.base << restart->grid.shift;
	uint64_t now = sampler_now();
	uint64_t call = timer_call_time(restart->timer, &restart->grid, now, restart->from_own);
	uint64_t woken = call - restart->spin;
	uint64_t begin = wait_until(call, &restart->spin);

	ioctl(restart->fd, PERF_EVENT_IOC_PERIOD, &period);
	restart->took = sampler_now() - begin;
	note_effect(restart, begin + restart->took / 2, woken > now ? woken : now);
	return begin <= call + restart->late &&
	       (!restart->usual || restart->took <= restart->usual + restart->late);
}

/*
 * Restarts a timer so that it expires on the grid. A call that was late, or took longer than usual
 * because something interrupted it, is repeated. The timer itself may interrupt this thread at each
 * instant of the grid: then the first call moves it behind that instant, where it does not disturb
 * the next one.
 */
static void call_on_grid(struct restart *restart)
{
	while (!restart->in_time && restart->nr_calls < restart->paid) {
		restart->in_time = call_in_time(restart);
		restart->nr_calls++;
	}
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

static void choose_caller(const struct sampler *s, struct restart *restart, bool from_own)
{
	restart->from_own = from_own;
	restart->usual = s->steering->usual[from_own];
	restart->spin = s->steering->spin[from_own];
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
	choose_caller(s, restart, true);
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
	s->steering->spin[restart->from_own] = restart->spin;
	s->steering->restarts += restart->nr_calls;
	restart->timer->dropped += restart->dropped;
	learn_usual(&s->steering->usual[restart->from_own], restart->took);
	timer_restarted(restart->timer, &restart->grid, sampler_now(), restart->nr_calls,
	                restart->in_time, restart->from_own);
}

static void begin_restart(struct sampler *s, unsigned c, const struct restart *wanted)
{
	struct restart *restart = &s->steering->begun[s->steering->nr_begun];

	*restart = *wanted;
	if (begin_there(s, restart, c)) {
		s->steering->nr_begun++;
		return;
	}
	choose_caller(s, restart, s->cpus[c] == sched_getcpu());
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
		.own_apart = s->own_apart,
		.late = s->steering->tolerance / 2,
	};

	if (restart.fd < 0 || !sampler_is_on(s, event) || !is_off(s, &restart, c))
		return false;
	restart.paid = timer_calls_paid(restart.timer);
	if (restart.paid > TRIES)
		restart.paid = TRIES;
	if (restart.paid)
		begin_restart(s, c, &restart);
	return true;
}

/* Steers the timers of all CPUs but one, or of that one. Returns how many were off the grid. */
static unsigned steer_cpus(struct sampler *s, unsigned e, unsigned cpu, bool but, uint64_t end)
{
	unsigned nr_off = 0;

	for (unsigned i = 0; i < s->steering->nr_places && sampler_now() < end; i++) {
		unsigned place = (s->steering->first + i) % s->steering->nr_places;

		if ((*cpu_of(s, e, place) != cpu) == but)
			nr_off += steer_one(s, e, place);
	}
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

/* Whether steering has taken no more than its share of the time so far. */
static bool may_spend(struct steering *steering, uint64_t now)
{
	if (!steering->began)
		steering->began = now;
	return steering->spent <= BUDGET_NS + (now - steering->began) / BUDGET_SHARE;
}

/* Returns the ns in which samples pay for a restart of a timer. */
static uint64_t paying_ns(const struct sampler *s)
{
	uint64_t longest = 0;

	for (unsigned e = 0; e < s->nr_events; e++) {
		const struct sampler_event *event = &s->events[e];
		struct grid grid = grid_of(s, e, event->steps[event->nr_steps - 1].shift);

		if (sampler_is_steered(event) && grid.base << grid.shift > longest)
			longest = grid.base << grid.shift;
	}
	longest = longest < UINT64_MAX / TIMER_PATIENCE ? longest * TIMER_PATIENCE : UINT64_MAX;
	return longest < LOOK_NS ? LOOK_NS : longest;
}

/*
 * Returns whether each look at the timers moves one of them, which must then be restarted: it
 * belongs to a task that runs on this CPU otherwise.
 */
static bool disturbs(const struct sampler *s)
{
	unsigned own = sampler_cpu_index(s, sched_getcpu());
	uint64_t since = sampler_now() - RECENT_NS;

	for (unsigned e = 0; e < s->nr_events && !s->runs_beside; e++)
		for (unsigned i = 0;
		     sampler_is_steered(&s->events[e]) && i < s->steering->nr_places; i++)
			if (*cpu_of(s, e, i) == own && timer_of(s, e, i)->latest > since)
				return true;
	return false;
}

static unsigned steer_all(struct sampler *s, uint64_t end)
{
	unsigned own = sampler_cpu_index(s, sched_getcpu()), nr_off = 0;
	uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (unsigned e = 0; e < s->nr_events; e++)
		if (sampler_is_steered(&s->events[e]))
			nr_off += steer_event(s, e, own, end);
	s->steering->spent += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
	s->steering->first++;
	return nr_off;
}

uint64_t sampler_steer(struct sampler *s, uint64_t most)
{
	uint64_t now = sampler_now(), end = now + (most < WORK_NS ? most : WORK_NS);

	if (!s->steering || !s->steering->nr_places || s->paused)
		return UINT64_MAX;
	if (!may_spend(s->steering, now))
		return LOOK_NS;
	if (!steer_all(s, end))
		return UINT64_MAX;
	if (disturbs(s))
		return paying_ns(s);
	return sampler_now() < end ? LOOK_NS : AGAIN_NS;
}

uint64_t sampler_grid(const struct sampler *s)
{
	unsigned e = 0;

	while (e < s->nr_events && !s->events[e].is_clock)
		e++;
	return s->steering && e < s->nr_events ? s->events[e].base_period[0] : 0;
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

uint64_t sampler_dropped(const struct sampler *s, unsigned event, unsigned cpu)
{
	return s->steering && s->way == SAMPLER_CGROUP && cpu < s->steering->nr_places
	               ? timer_of(s, event, cpu)->dropped
	               : 0;
}

struct sampler_phases sampler_phases(const struct sampler *s)
{
	struct sampler_phases phases = {.grid = sampler_grid(s)};

	if (!phases.grid)
		return phases;
	phases.median = quantile(s->steering, 0.5);
	phases.p90 = quantile(s->steering, 0.9);
	phases.restarts = s->steering->restarts;
	phases.nr_unsteered = count_unsteered(s);
	return phases;
}
