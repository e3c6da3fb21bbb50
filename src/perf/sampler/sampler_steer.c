/*
 * Steering: keeps the timers of clocks on the grid, see grid.h and steered_timer.h.
 *
 * Where each timer is, its samples tell. A restart from another CPU takes an interrupt there, 20 to
 * 50 us in a virtual machine, so calls are made early by what the last one took.
 *
 * The CPU that the recorder runs on comes last: if the target's event is not running there now, it
 * continues when the recorder sleeps, so its restart takes as long as that.
 */
#include "perf/sampler/sampler_state.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>

#define SPIN_NS  150000 /* before a call, for sleep is not exact */
#define LATE_NS  2000   /* a call that is later would miss the grid */
#define TRIES    3
#define WORK_NS  10000000 /* at most, for rings fill meanwhile */
#define AGAIN_MS 1
#define LOOK_MS  20

/* Distances are counted in quarters of octaves: |distance| of 2^(n/4) ns and more. */
#define NR_DISTANCES 160

struct steering {
	struct steered_timer *timers; /* [event][cpu] */
	uint64_t distances[NR_DISTANCES];
	uint64_t restarts;
	cpu_set_t allowed; /* CPUs that this thread may run on */
};

int sampler_open_steering(struct sampler *s)
{
	size_t nr = (size_t)s->nr_events * s->nr_cpus;

	s->steering = calloc(1, sizeof(*s->steering));
	if (!s->steering)
		return -ENOMEM;
	s->steering->timers = calloc(nr, sizeof(*s->steering->timers));
	if (!s->steering->timers)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		timer_init(&s->steering->timers[i]);
	sched_getaffinity(0, sizeof(s->steering->allowed), &s->steering->allowed);
	/* Sleep is 50 us longer else. */
	prctl(PR_SET_TIMERSLACK, 1);
	return 0;
}

void sampler_close_steering(struct sampler *s)
{
	if (s->steering)
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

/* Waits until a call takes effect on the grid. Returns by how much it is late, ns. */
static uint64_t wait_for_grid(const struct steered_timer *timer, const struct grid *grid, bool own)
{
	uint64_t late = UINT64_MAX;

	for (unsigned i = 0; i < TRIES && late > LATE_NS; i++) {
		uint64_t call = timer_call_time(timer, grid, sampler_now(), own);

		late = wait_until(call) - call;
	}
	return late;
}

/*
 * Moves this thread to a CPU, where a call takes effect at once. That stops whoever runs there for
 * as long as this takes, so it is for timers that calls from elsewhere have missed. Events of a
 * cgroup do not run while this thread does.
 */
static bool move_there(const struct sampler *s, const struct steered_timer *timer, unsigned c)
{
	cpu_set_t there;

	if (s->cgroup >= 0 || !timer_is_missed(timer) || s->cpus[c] >= CPU_SETSIZE)
		return false;
	CPU_ZERO(&there);
	CPU_SET((unsigned)s->cpus[c], &there);
	return !sched_setaffinity(0, sizeof(there), &there);
}

static void restart(struct sampler *s, unsigned e, unsigned c, const struct grid *grid, int fd,
                    bool own)
{
	struct steered_timer *timer = timer_of(s, e, c);
	uint64_t late, period = grid->base << grid->shift;
	bool moved = !own && move_there(s, timer, c);

	own |= moved;
	late = wait_for_grid(timer, grid, own);
	if (!ioctl(fd, PERF_EVENT_IOC_PERIOD, &period))
		s->steering->restarts++;
	timer_restarted(timer, grid, sampler_now(), late <= LATE_NS, own);
	if (moved)
		sched_setaffinity(0, sizeof(s->steering->allowed), &s->steering->allowed);
}

/* Returns whether the timer is still off the grid. */
static bool steer_one(struct sampler *s, unsigned e, unsigned c, bool own)
{
	struct sampler_event *event = &s->events[e];
	struct grid grid = grid_of(s, e, event->steps[event->nr_steps - 1].shift);
	int fd = *sampler_fd(s, event, event->rung, 0, c);

	if (fd < 0 || !event->is_clock || !timer_is_off(timer_of(s, e, c), &grid, sampler_now()))
		return false;
	if (timer_may_restart(timer_of(s, e, c)))
		restart(s, e, c, &grid, fd, own);
	return true;
}

static unsigned steer_cpu(struct sampler *s, unsigned c, bool own)
{
	unsigned nr_off = 0;

	for (unsigned e = 0; e < s->nr_events; e++)
		nr_off += steer_one(s, e, c, own);
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
	uint64_t end;

	if (!s->steering)
		return -1;
	end = sampler_now() + WORK_NS;
	own = own_cpu(s);
	for (unsigned c = 0; c < s->nr_cpus; c++) {
		if (sampler_now() > end)
			return AGAIN_MS;
		if (c != own)
			nr_off += steer_cpu(s, c, false);
	}
	if (own < s->nr_cpus)
		nr_off += steer_cpu(s, own, true);
	return nr_off ? LOOK_MS : -1;
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
