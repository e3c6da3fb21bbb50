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
 */
#include "perf/sampler/pinned_threads.h"
#include "perf/sampler/sampler_state.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>

#define SPIN_NS   150000 /* before a call, for sleep is not exact */
#define LATE_NS   2000   /* a call that is later would miss the grid */
#define TRIES     4
#define WORK_NS   10000000 /* at most, for rings fill meanwhile */
#define AGAIN_MS  1
#define RESULT_MS 3 /* a restart at 1 kHz and more has shown its result */
#define LOOK_MS   20

/* Distances are counted in quarters of octaves: |distance| of 2^(n/4) ns and more. */
#define NR_DISTANCES 160

struct restart {
	struct steered_timer *timer;
	struct grid grid;
	int fd;
	bool from_own, in_time;
	uint64_t took, usual; /* duration of the call, ns; usual 0: not known yet */
};

struct steering {
	struct steered_timer *timers; /* [event][cpu] */
	struct pinned_threads *threads;
	struct restart *begun; /* [cpu], by these threads; one more is being begun */
	unsigned nr_begun;
	uint64_t usual[2]; /* duration of calls by from_own */
	uint64_t distances[NR_DISTANCES];
	uint64_t restarts;
};

int sampler_open_steering(struct sampler *s)
{
	size_t nr = (size_t)s->nr_events * s->nr_cpus;

	s->steering = calloc(1, sizeof(*s->steering));
	if (!s->steering)
		return -ENOMEM;
	s->steering->timers = calloc(nr, sizeof(*s->steering->timers));
	s->steering->begun = calloc(s->nr_cpus + 1, sizeof(*s->steering->begun));
	s->steering->threads = pinned_threads_new(s->cpus, s->nr_cpus);
	if (!s->steering->timers || !s->steering->begun || !s->steering->threads)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		timer_init(&s->steering->timers[i]);
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
	free(s->steering->timers);
	free(s->steering);
}

static struct steered_timer *timer_of(const struct sampler *s, unsigned e, unsigned c)
{
	return &s->steering->timers[e * s->nr_cpus + c];
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

void sampler_note_phase(struct sampler *s, const struct sampler_source *source, uint64_t time)
{
	unsigned e = (unsigned)source->event;
	struct grid grid;

	if (!s->steering || !s->events[e].is_clock || source->stale)
		return;
	grid = grid_of(s, e, source->shift);
	s->steering->distances[bucket_of(
		(uint64_t)llabs(timer_note(timer_of(s, e, source->cpu), &grid, time)))]++;
}

void sampler_lose_phases(struct sampler *s, unsigned e)
{
	for (unsigned c = 0; s->steering && c < s->nr_cpus; c++)
		timer_lost(timer_of(s, e, c));
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

static void call_there(void *arg)
{
	call_on_grid(arg);
}

/*
 * Calls from the timer's own CPU take effect at once, but stop the program there. So they are for
 * timers that calls from elsewhere have missed. They are of no use to events that do not run while
 * this process does.
 */
static bool begin_there(struct sampler *s, struct restart *restart, unsigned c)
{
	if (!s->runs_beside || !timer_is_missed(restart->timer))
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

/* Returns whether the timer is still off the grid. */
static bool steer_one(struct sampler *s, unsigned e, unsigned c)
{
	const struct sampler_event *event = &s->events[e];
	struct restart restart = {
		.timer = timer_of(s, e, c),
		.grid = grid_of(s, e, event->steps[event->nr_steps - 1].shift),
		.fd = *sampler_fd(s, event, event->rung, 0, c),
	};

	if (restart.fd < 0 || !event->is_clock ||
	    !timer_is_off(restart.timer, &restart.grid, sampler_now()))
		return false;
	if (timer_may_restart(restart.timer))
		begin_restart(s, c, &restart);
	return true;
}

/* A thread that waits for one timer cannot wait for another, so each has a round of its own. */
static unsigned steer_event(struct sampler *s, unsigned e, unsigned last, uint64_t end)
{
	struct steering *steering = s->steering;
	unsigned nr_off = 0;

	for (unsigned c = 0; c < s->nr_cpus && sampler_now() < end; c++)
		if (c != last)
			nr_off += steer_one(s, e, c);
	if (last < s->nr_cpus)
		nr_off += steer_one(s, e, last);
	pinned_threads_wait(steering->threads);
	for (unsigned i = 0; i < steering->nr_begun; i++)
		finish(s, &steering->begun[i]);
	steering->nr_begun = 0;
	return nr_off;
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

	for (unsigned c = 0; c < s->nr_cpus; c++) {
		uint64_t taken = 0, off = 0;

		for (unsigned e = 0; e < s->nr_events; e++) {
			taken += timer_of(s, e, c)->taken;
			off += timer_of(s, e, c)->off;
		}
		nr += off > taken / 2;
	}
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
