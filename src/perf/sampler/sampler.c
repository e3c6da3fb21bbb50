#include "perf/sampler/sampler_state.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *sampler_shortage(const struct sampler *sampler)
{
	return sampler->shortage[0] ? sampler->shortage : NULL;
}

unsigned sampler_nr_cpus(const struct sampler *sampler)
{
	return sampler->nr_cpus;
}

/* Whether samples of a target are taken on a CPU, by indices, where that differs between CPUs. */
static bool is_sampled(const struct sampler *s, unsigned target, unsigned cpu)
{
	return *sampler_fd(s, &s->events[0], 0, target, cpu) >= 0;
}

unsigned sampler_nr_sampled(const struct sampler *sampler)
{
	unsigned nr = 0;

	if (sampler->way == SAMPLER_LADDER)
		return sampler->nr_cpus;
	for (unsigned c = 0; c < sampler->nr_cpus; c++)
		nr += is_sampled(sampler, 0, c);
	return nr;
}

unsigned sampler_cpu(const struct sampler *sampler, unsigned index)
{
	return (unsigned)sampler->cpus[index];
}

static int compare_cpus(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

unsigned sampler_cpu_index(const struct sampler *sampler, int cpu)
{
	const int *found =
		bsearch(&cpu, sampler->cpus, sampler->nr_cpus, sizeof(cpu), compare_cpus);

	return found ? (unsigned)(found - sampler->cpus) : sampler->nr_cpus;
}

uint64_t sampler_base_period(const struct sampler *sampler, unsigned event, unsigned cpu_index)
{
	return sampler->events[event].base_period[cpu_index];
}

bool sampler_counts_in_small_steps(const struct sampler *sampler, unsigned event)
{
	return sampler_has_small_steps(&sampler->events[event]);
}

uint64_t sampler_period(const struct sampler *sampler, unsigned event, unsigned cpu_index,
                        unsigned shift)
{
	return sampler_period_at(&sampler->events[event], cpu_index, shift);
}

bool sampler_misses_cpu(const struct sampler *sampler, const struct cpu_list *of)
{
	struct cpu_list online, known = {{0}};

	if (cpu_list_online(&online))
		return false;
	for (unsigned c = 0; c < sampler->nr_cpus; c++)
		cpu_list_add(&known, (unsigned)sampler->cpus[c]);
	for (unsigned i = 0; of && i < sizeof(of->bits); i++) {
		online.bits[i] &= of->bits[i];
		known.bits[i] &= of->bits[i];
	}
	return cpu_list_beyond(&online, &known) >= 0 ||
	       (sampler->way == SAMPLER_CGROUP && cpu_list_beyond(&known, &online) >= 0);
}

unsigned sampler_max_chain(const struct sampler *sampler)
{
	return sampler->max_chain;
}

/* --- reading counts -----------------------------------------------------------------------------
 */

/* Reads {value, lost} of an event that has RECORD_LOST_COUNTS, else {value}. */
static uint64_t read_count(const struct sampler *s, int fd, bool lost)
{
	uint64_t values[2] = {0};
	size_t size = s->counts_lost ? sizeof(values) : sizeof(values[0]);

	if (fd < 0 || read(fd, values, size) != (ssize_t)size)
		return 0;
	return values[lost];
}

/* The same of a sampled event, which may read a group. */
static uint64_t read_sampled(const struct sampler *s, int fd, bool lost)
{
	struct sampler_reading reading;

	if (!s->nr_counters)
		return read_count(s, fd, lost);
	sampler_read_event(s, fd, &reading);
	return lost ? reading.lost : reading.values[0];
}

/*
 * The counts of a side event, which delivers mmap, comm, fork and exit records. It counts nothing,
 * but is always enabled.
 */
struct side_count {
	uint64_t value, running, lost; /* running: ns that its tasks ran on its CPU */
};

static struct side_count read_side(int fd)
{
	struct side_count count = {0};

	if (fd < 0 || read(fd, &count, sizeof(count)) < 0)
		return (struct side_count){0};
	return count;
}

/* The time that all tasks ran where samples are taken, ns. */
static uint64_t time_ran(const struct sampler *s)
{
	uint64_t sum = 0;

	for (unsigned t = 0; t < s->nr_first; t++)
		for (unsigned c = 0; c < s->nr_cpus; c++)
			if (s->way == SAMPLER_LADDER || is_sampled(s, t, c))
				sum += read_side(s->side_fds[t * s->nr_cpus + c]).running;
	return sum;
}

uint64_t sampler_time_ran(const struct sampler *s)
{
	return (s->paused ? s->paused_at : time_ran(s)) - s->ran_paused;
}

/* --- switching -------------------------------------------------------------------------------- */

int sampler_rung_ioctl(struct sampler *s, struct sampler_event *event, unsigned rung,
                       unsigned long request)
{
	int err = 0;

	for (unsigned t = 0; t < sampler_targets(s, event); t++) {
		for (unsigned c = 0; c < s->nr_cpus; c++) {
			int fd = *sampler_fd(s, event, rung, t, c);

			if (fd >= 0 && ioctl(fd, request, 0) && !err)
				err = -errno;
		}
	}
	return err;
}

/* total: the counter of event 0 that has the totals of tasks, too. */
static int enable_all(struct sampler *s, bool total)
{
	int err = 0;

	if (s->exact_fd >= 0 && total && sampler_is_on(s, &s->events[0]) &&
	    ioctl(s->exact_fd, PERF_EVENT_IOC_ENABLE, 0))
		err = -errno;
	for (unsigned e = 0; !err && e < s->nr_events; e++)
		if (sampler_is_on(s, &s->events[e]))
			err = sampler_rung_ioctl(s, &s->events[e], s->events[e].rung,
			                         PERF_EVENT_IOC_ENABLE);
	return err;
}

int sampler_enable(struct sampler *sampler)
{
	int err;

	sampler->ran_before = time_ran(sampler);
	for (unsigned e = 0; e < sampler->nr_events; e++)
		sampler->events[e].off_at = sampler->ran_before;
	sampler->started = true;
	err = enable_all(sampler, !sampler->on_exec);
	/* A task that forked meanwhile may have passed disabled events on to its child. */
	if (!err && sampler->way == SAMPLER_LADDER && !sampler->on_exec)
		err = enable_all(sampler, true);
	return err;
}

void sampler_disable(struct sampler *sampler)
{
	for (unsigned e = 0; e < sampler->nr_events; e++)
		for (unsigned r = 0; r < sampler->events[e].nr_rungs; r++)
			sampler_rung_ioctl(sampler, &sampler->events[e], r, PERF_EVENT_IOC_DISABLE);
}

static void disable_all(struct sampler *s)
{
	if (s->exact_fd >= 0)
		ioctl(s->exact_fd, PERF_EVENT_IOC_DISABLE, 0);
	for (unsigned e = 0; e < s->nr_events; e++)
		sampler_rung_ioctl(s, &s->events[e], s->events[e].rung, PERF_EVENT_IOC_DISABLE);
}

void sampler_pause(struct sampler *sampler)
{
	disable_all(sampler);
	/* A task that forked meanwhile may have passed enabled events on to its child. */
	if (sampler->way == SAMPLER_LADDER)
		disable_all(sampler);
	sampler->paused_at = time_ran(sampler);
	sampler->paused = true;
}

int sampler_resume(struct sampler *sampler)
{
	int err;

	sampler->paused = false;
	sampler->ran_paused += time_ran(sampler) - sampler->paused_at;
	err = enable_all(sampler, true);
	if (!err && sampler->way == SAMPLER_LADDER)
		err = enable_all(sampler, true);
	for (unsigned e = 0; e < sampler->nr_events; e++)
		sampler_lose_phases(sampler, e);
	return err;
}

static void switch_event(struct sampler *s, struct sampler_event *event, unsigned long request)
{
	if (event == &s->events[0] && s->exact_fd >= 0)
		ioctl(s->exact_fd, request, 0);
	sampler_rung_ioctl(s, event, event->rung, request);
}

void sampler_switch_event(struct sampler *sampler, unsigned e, bool on)
{
	struct sampler_event *event = &sampler->events[e];
	const unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	if (event->off == !on)
		return;
	event->off = !on;
	if (!sampler->started)
		return;
	if (!sampler->paused)
		switch_event(sampler, event, request);
	/* A task that forked meanwhile may have passed the other state on to its child. */
	if (!sampler->paused && sampler->way == SAMPLER_LADDER)
		switch_event(sampler, event, request);
	if (on)
		event->ran_off += sampler_time_ran(sampler) - event->off_at;
	else
		event->off_at = sampler_time_ran(sampler);
	if (on)
		sampler_lose_phases(sampler, e);
}

/* Returns when the next rung took over. */
static uint64_t switch_rungs(struct sampler *s, struct sampler_event *event, unsigned next)
{
	uint64_t time;

	if (!sampler_is_on(s, event))
		return sampler_now();
	sampler_rung_ioctl(s, event, next, PERF_EVENT_IOC_ENABLE);
	time = sampler_now();
	sampler_rung_ioctl(s, event, event->rung, PERF_EVENT_IOC_DISABLE);
	/* A task that forked meanwhile may have passed the previous states on to its child. */
	sampler_rung_ioctl(s, event, next, PERF_EVENT_IOC_ENABLE);
	sampler_rung_ioctl(s, event, event->rung, PERF_EVENT_IOC_DISABLE);
	return time;
}

static void set_periods(struct sampler *s, struct sampler_event *event, unsigned shift)
{
	for (unsigned c = 0; c < s->nr_cpus; c++) {
		uint64_t period = sampler_period_at(event, c, shift);
		int fd = *sampler_fd(s, event, event->rung, 0, c);

		if (fd >= 0)
			ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
	}
}

/* No period may reach the kernel's sign bit. */
static unsigned clamp_shift(const struct sampler_event *event, unsigned shift)
{
	unsigned most = (unsigned)__builtin_clzll(event->base_period[0]);

	most = most > 4 ? most - 4 : 0;
	return shift < most ? shift : most;
}

static uint64_t event_total(const struct sampler *s, const struct sampler_event *event)
{
	uint64_t total = 0;

	for (size_t i = 0; i < event->nr_rungs * sampler_cells(s, event); i++)
		total += read_sampled(s, event->fds[i], false);
	return total;
}

uint64_t sampler_count_lost(const struct sampler *s, const struct sampler_event *event,
                            unsigned cpu)
{
	uint64_t lost = event->closed_lost ? event->closed_lost[cpu] : 0;

	if (!s->counts_lost)
		return event->lost[cpu];
	for (unsigned r = 0; r < event->nr_rungs; r++)
		for (unsigned t = 0; t < sampler_targets(s, event); t++)
			lost += read_sampled(s, *sampler_fd(s, event, r, t, cpu), true);
	return lost;
}

/* Returns the step with the largest available period that is not above this shift. */
static struct sampler_step step_to(const struct sampler *s, const struct sampler_event *event,
                                   unsigned shift)
{
	struct sampler_step step = {
		.shift =
			clamp_shift(event, shift > event->first_shift ? shift : event->first_shift),
		.rung = event->rung,
		.set = s->set,
	};

	if (s->way == SAMPLER_LADDER) {
		step.rung =
			step.shift > event->first_shift ? (step.shift - event->first_shift) / 2 : 0;
		if (step.rung >= event->nr_rungs)
			step.rung = event->nr_rungs - 1;
		step.shift = event->first_shift + 2 * step.rung;
	}
	/* No prime is beside two. */
	if (sampler_has_small_steps(event) && event->base_period[0] << step.shift == 2)
		step.shift = event->first_shift;
	return step;
}

static const struct sampler_step *last_step(const struct sampler_event *event)
{
	return &event->steps[event->nr_steps - 1];
}

static void take_step(struct sampler *sampler, unsigned e, struct sampler_step next)
{
	struct sampler_event *event = &sampler->events[e];

	if (sampler->way == SAMPLER_LADDER) {
		next.time = switch_rungs(sampler, event, next.rung);
	} else {
		next.time = sampler_now();
		set_periods(sampler, event, next.shift);
	}
	event->rung = next.rung;
	event->steps[event->nr_steps++] = next;
	event->stepped = true;
	sampler_lose_phases(sampler, e);
}

/* Forgets the oldest steps. */
static void forget_steps(struct sampler_event *event, unsigned nr)
{
	event->nr_steps -= nr;
	event->nr_forgotten += nr;
	memmove(event->steps, event->steps + nr, event->nr_steps * sizeof(*event->steps));
}

bool sampler_has_step_room(const struct sampler *s, struct sampler_event *event)
{
	const uint64_t drained = sampler_drained(s);
	unsigned nr = 0;

	if (event->nr_steps < SAMPLER_MAX_STEPS)
		return true;
	while (nr + 1 < event->nr_steps && event->steps[nr + 1].time <= drained)
		nr++;
	forget_steps(event, nr);
	return nr;
}

unsigned sampler_follow(struct sampler *sampler, unsigned e, unsigned shift)
{
	struct sampler_event *event = &sampler->events[e];
	struct sampler_step next = step_to(sampler, event, shift);

	if (next.shift != last_step(event)->shift && sampler_has_step_room(sampler, event))
		take_step(sampler, e, next);
	return last_step(event)->shift;
}

unsigned sampler_shift_for(const struct sampler *sampler, unsigned e, unsigned shift)
{
	return step_to(sampler, &sampler->events[e], shift).shift;
}

uint64_t sampler_changed(const struct sampler *sampler, unsigned e)
{
	return last_step(&sampler->events[e])->time;
}

/* Samples of before the last step are of no interest any more. */
static void keep_last_step(struct sampler_event *event)
{
	forget_steps(event, event->nr_steps - 1);
}

static void restart_event(struct sampler *s, unsigned e)
{
	struct sampler_event *event = &s->events[e];
	struct sampler_step first = step_to(s, event, event->first_shift);

	keep_last_step(event);
	if (first.shift != last_step(event)->shift)
		take_step(s, e, first);
	keep_last_step(event);
	event->stepped = false;
	event->total_before = event_total(s, event);
	event->throttled = false;
	for (unsigned c = 0; c < s->nr_cpus && event->lost_before; c++)
		event->lost_before[c] = sampler_count_lost(s, event, c);
}

void sampler_restart(struct sampler *sampler)
{
	for (unsigned e = 0; e < sampler->nr_events; e++)
		restart_event(sampler, e);
	/* Tasks then report at their exit what they have used since. */
	if (sampler->exact_fd >= 0)
		ioctl(sampler->exact_fd, PERF_EVENT_IOC_RESET, 0);
	sampler->exact_before = read_count(sampler, sampler->exact_fd, false);
	sampler->ran_before = time_ran(sampler);
	sampler->ran_paused = 0;
	sampler->paused_at = sampler->ran_before;
	for (unsigned e = 0; e < sampler->nr_events; e++) {
		sampler->events[e].off_at = sampler->ran_before;
		sampler->events[e].ran_off = 0;
	}
	sampler->counters_before = (struct sampler_reading){0};
	sampler_counter_totals(sampler, &sampler->counters_before);
	sampler->latency = 0;
}

unsigned sampler_slowest(const struct sampler *sampler, unsigned e)
{
	return step_to(sampler, &sampler->events[e], UINT_MAX).shift;
}

/* --- draining --------------------------------------------------------------------------------- */

int sampler_poll_fd(const struct sampler *sampler, unsigned i)
{
	/* Not that of RING_EXACT: it belongs to a task that ends, and then polls as hung up. */
	return i < RING_EXACT * sampler->nr_cpus ? sampler->owner_fds[i] : -1;
}

void sampler_drain(struct sampler *sampler, bool all)
{
	sampler->drain_time = sampler_now();
	ring_merge_begin(&sampler->merge,
	                 all ? UINT64_MAX : sampler->drain_time - SAMPLER_SLACK_NS);
}

bool sampler_is_crowded(const struct sampler *sampler)
{
	for (unsigned i = 0; i < sampler->nr_rings; i++)
		if (ring_fill(&sampler->rings[i].ring) > sampler->rings[i].ring.size / 8 * 3)
			return true;
	return false;
}

double sampler_fill(const struct sampler *sampler)
{
	double most = 0;

	const unsigned first = ring_index(sampler, RING_SAMPLES, 0);

	for (unsigned i = first; i < sampler->nr_rings && i < first + sampler->nr_cpus; i++) {
		const struct ring *ring = &sampler->rings[i].ring;
		double fill = (double)ring_fill(ring) / (double)ring->size;

		most = fill > most ? fill : most;
	}
	return most;
}

/* Returns the step that was in force for this event at a time. */
static const struct sampler_step *step_at(const struct sampler_event *event, uint64_t time)
{
	unsigned i = event->nr_steps - 1;

	while (i && event->steps[i].time > time)
		i--;
	return &event->steps[i];
}

static void find_origin(const struct sampler *s, const struct record *record, unsigned cpu,
                        struct sampler_origin *origin)
{
	struct sampler_id key = {.id = record->id};
	const struct sampler_id *id =
		bsearch(&key, s->ids, s->nr_ids, sizeof(*s->ids), sampler_compare_ids);

	*origin = (struct sampler_origin){.event = -1, .cpu = cpu};
	if (!id)
		return;
	origin->event = id->event;
	if (record->type == RECORD_SAMPLE) {
		const struct sampler_step *step = step_at(&s->events[id->event], record->time);

		origin->shift = step->shift;
		origin->change = s->events[id->event].nr_forgotten +
		                 (unsigned)(step - s->events[id->event].steps);
		/* Only the rungs of a ladder ever sample at the same time. */
		origin->stale = s->way == SAMPLER_LADDER &&
		                (step->rung != id->rung || step->set != id->set);
		origin->rung = id->rung;
		origin->target = id->set == s->set ? id->target : UINT_MAX;
	}
}

static void count_losses(struct sampler *s, const struct record *record,
                         const struct sampler_origin *origin, bool side)
{
	if (record->type == RECORD_THROTTLE && origin->event >= 0)
		s->events[origin->event].throttled = true;
	if (record->type != RECORD_LOST)
		return;
	if (side)
		s->lost_records += record->lost.count;
	else
		s->events[origin->event < 0 ? 0 : origin->event].lost[origin->cpu] +=
			record->lost.count;
}

bool sampler_next(struct sampler *sampler, struct record *record, struct sampler_origin *origin)
{
	const struct merged_ring *from;
	const void *raw;
	size_t size;

	while ((raw = ring_merge_next(&sampler->merge, &size, &from)) &&
	       record_decode(record, raw, size, from->format))
		sampler->malformed++;
	if (!raw)
		return false;
	find_origin(sampler, record, from->cpu, origin);
	if (record->type == RECORD_SAMPLE && origin->event >= 0)
		sampler_note_phase(sampler, origin, record);
	count_losses(sampler, record, origin, from->format == &sampler->side_format);
	if (record->time && record->time < sampler->drain_time &&
	    sampler->drain_time - record->time > sampler->latency)
		sampler->latency = sampler->drain_time - record->time;
	return true;
}

uint64_t sampler_drained(const struct sampler *sampler)
{
	return sampler->merge.horizon;
}

uint64_t sampler_late(const struct sampler *sampler)
{
	return sampler->merge.late;
}

uint64_t sampler_malformed(const struct sampler *sampler)
{
	return sampler->malformed + sampler->merge.broken;
}

uint64_t sampler_latency(const struct sampler *sampler)
{
	return sampler->latency;
}

/* --- counts ----------------------------------------------------------------------------------- */

uint64_t sampler_lost(const struct sampler *sampler, unsigned e, unsigned cpu_index)
{
	const struct sampler_event *event = &sampler->events[e];
	uint64_t before = event->lost_before ? event->lost_before[cpu_index] : 0;

	return sampler_count_lost(sampler, event, cpu_index) - before;
}

uint64_t sampler_all_lost(const struct sampler *sampler)
{
	uint64_t lost = 0;

	for (unsigned e = 0; e < sampler->nr_events; e++)
		for (unsigned c = 0; c < sampler->nr_cpus; c++)
			lost += sampler_lost(sampler, e, c);
	return lost;
}

uint64_t sampler_lost_records(const struct sampler *sampler)
{
	uint64_t lost = 0;

	if (!sampler->counts_lost)
		return sampler->lost_records;
	for (size_t i = 0; i < sampler_side_cells(sampler); i++)
		lost += read_side(sampler->side_fds[i]).lost;
	return lost + read_count(sampler, sampler->exact_fd, true);
}

uint64_t sampler_exact(const struct sampler *sampler)
{
	return read_count(sampler, sampler->exact_fd, false) - sampler->exact_before;
}

/* The time that tasks ran while the event was on, ns. */
static uint64_t time_ran_on(const struct sampler *s, const struct sampler_event *event)
{
	const uint64_t until = event->off ? event->off_at : sampler_time_ran(s);

	return until - s->ran_before - event->ran_off;
}

uint64_t sampler_total(const struct sampler *sampler, unsigned e)
{
	const struct sampler_event *event = &sampler->events[e];

	if (!sampler->started)
		return 0;
	if (event->is_clock && (event->throttled || sampler->way == SAMPLER_LADDER))
		return time_ran_on(sampler, event);
	if (event->throttled)
		return 0;
	/* The rungs of a ladder take turns, and count twice while they do. */
	if (event->stepped && sampler->way == SAMPLER_LADDER)
		return 0;
	return event_total(sampler, event) - event->total_before;
}
