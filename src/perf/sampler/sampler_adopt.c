/*
 * Adoption: tasks that inherited their events get events of their own, whose timers can be
 * restarted (see sampler_steer.c).
 *
 * The kernel cannot take an inherited event away from one task alone, and nothing must be sampled
 * twice. So all tasks get a new set of events, disabled, with the same rungs. Then the new set is
 * enabled and the previous one disabled, as it is done with rungs: one instant divides their
 * samples. The previous events are closed, and with them what was inherited from them.
 */
#include "perf/sampler/sampler_state.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MOST_EVENTS 16384 /* each takes about 1 KiB of the kernel's memory */
#define MOST_SETS   16

struct sampler_set {
	pid_t *tasks;
	unsigned nr_targets, number;
	int *fds[SAMPLER_MAX_EVENTS];
};

/* Exchanges the set in force with another one. */
static void exchange(struct sampler *s, struct sampler_set *set)
{
	struct sampler_set current = {s->tasks, s->nr_targets, s->set, {NULL}};

	for (unsigned e = 0; e < s->nr_events; e++) {
		current.fds[e] = s->events[e].fds;
		s->events[e].fds = set->fds[e];
	}
	s->tasks = set->tasks;
	s->nr_targets = set->nr_targets;
	s->set = set->number;
	*set = current;
}

static size_t nr_fds(const struct sampler *s, const struct sampler_set *set, unsigned e)
{
	return (size_t)s->events[e].nr_rungs * set->nr_targets * s->nr_cpus;
}

static void free_set(const struct sampler *s, struct sampler_set *set)
{
	if (!set)
		return;
	for (unsigned e = 0; e < s->nr_events; e++) {
		for (size_t i = 0; set->fds[e] && i < nr_fds(s, set, e); i++)
			if (set->fds[e][i] >= 0)
				close(set->fds[e][i]);
		free(set->fds[e]);
	}
	free(set->tasks);
	free(set);
}

static size_t all_fds(const struct sampler *s, const struct sampler_set *set)
{
	size_t nr = 0;

	for (unsigned e = 0; e < s->nr_events; e++)
		nr += nr_fds(s, set, e);
	return nr;
}

static struct sampler_set *new_set(const struct sampler *s, const pid_t *tasks, size_t nr)
{
	struct sampler_set *set = calloc(1, sizeof(*set));
	bool complete = set && (set->tasks = calloc(nr, sizeof(*set->tasks)));

	if (!set)
		return NULL;
	set->nr_targets = (unsigned)nr;
	set->number = s->set + 1;
	for (unsigned e = 0; complete && e < s->nr_events; e++) {
		set->fds[e] = malloc(nr_fds(s, set, e) * sizeof(*set->fds[e]));
		for (size_t i = 0; set->fds[e] && i < nr_fds(s, set, e); i++)
			set->fds[e][i] = -1;
		complete = set->fds[e];
	}
	for (size_t i = 0; complete && i < nr; i++)
		set->tasks[i] = tasks[i];
	if (complete)
		return set;
	free_set(s, set);
	return NULL;
}

/* Keeps the ids of one set only: no ring has samples of an earlier one any more. */
static void keep_ids(struct sampler *s, unsigned set)
{
	uint64_t nr = 0;

	for (uint64_t i = 0; i < s->nr_ids; i++)
		if (s->ids[i].set == set)
			s->ids[nr++] = s->ids[i];
	s->nr_ids = nr;
}

static int make_room_for_ids(struct sampler *s, const struct sampler_set *set)
{
	size_t nr = s->nr_ids + all_fds(s, set);
	struct sampler_id *ids = nr ? reallocarray(s->ids, nr, sizeof(*ids)) : NULL;

	if (!ids)
		return -ENOMEM;
	s->ids = ids;
	return 0;
}

static int open_rung(struct sampler *s, unsigned e, unsigned rung)
{
	const struct sampler_event *event = &s->events[e];
	struct perf_event_attr attr = event->attr;
	int err = 0;

	for (unsigned c = 0; !err && c < s->nr_cpus; c++) {
		attr.sample_period = sampler_period_at(event, c, event->first_shift + 2 * rung);
		attr.sample_stack_user = event->copies[rung * s->nr_cpus + c];
		for (unsigned t = 0; !err && t < s->nr_targets; t++)
			err = sampler_open_event(s, &attr, e, rung, t, c);
	}
	return err;
}

/* Opens the events of the set in force. */
static int open_set(struct sampler *s)
{
	int err = 0;

	for (unsigned e = 0; e < s->nr_events; e++)
		for (unsigned r = 0; !err && r < s->events[e].nr_rungs; r++)
			err = open_rung(s, e, r);
	return err;
}

static int check(struct sampler *s, size_t nr)
{
	size_t most = sampler_descriptor_limit() / 2 / s->nr_cpus;

	if (s->adopted)
		return -EALREADY;
	if (s->way != SAMPLER_LADDER || s->nr_counters)
		return -EOPNOTSUPP;
	for (unsigned e = 0; e < s->nr_events; e++)
		if (!sampler_is_steered(&s->events[e]))
			return -EOPNOTSUPP;
	if (most > MOST_EVENTS / s->nr_cpus)
		most = MOST_EVENTS / s->nr_cpus;
	for (unsigned e = 0; e < s->nr_events; e++) {
		if (nr * s->events[e].nr_rungs > most || s->set == MOST_SETS ||
		    !sampler_has_step_room(s, &s->events[e]))
			return -E2BIG;
		most -= nr * s->events[e].nr_rungs;
	}
	return nr ? 0 : -ESRCH;
}

int sampler_adopt(struct sampler *s, const pid_t *tasks, size_t nr)
{
	int err = check(s, nr);
	struct sampler_set *set = err ? NULL : new_set(s, tasks, nr);

	if (!set)
		return err ? err : -ENOMEM;
	keep_ids(s, s->set);
	err = make_room_for_ids(s, set);
	if (!err) {
		exchange(s, set);
		err = open_set(s);
		exchange(s, set);
	}
	s->adopted = set;
	if (err)
		sampler_drop_adopted(s);
	qsort(s->ids, s->nr_ids, sizeof(*s->ids), sampler_compare_ids);
	return err;
}

void sampler_drop_adopted(struct sampler *s)
{
	if (!s->adopted)
		return;
	free_set(s, s->adopted);
	s->adopted = NULL;
	keep_ids(s, s->set);
}

static void ioctl_all(struct sampler *s, unsigned long request)
{
	for (unsigned e = 0; e < s->nr_events; e++)
		if (sampler_is_on(s, &s->events[e]))
			sampler_rung_ioctl(s, &s->events[e], s->events[e].rung, request);
}

/* Returns when the new set took over. */
static uint64_t switch_sets(struct sampler *s, struct sampler_set *set)
{
	uint64_t time = 0;

	/* sampler_resume() enables the events in force. */
	if (s->paused)
		return sampler_now();
	/* A task that forks meanwhile may pass the previous states on to its child: so twice. */
	for (unsigned i = 0; i < 2; i++) {
		exchange(s, set);
		ioctl_all(s, PERF_EVENT_IOC_ENABLE);
		time = time ?: sampler_now();
		exchange(s, set);
		ioctl_all(s, PERF_EVENT_IOC_DISABLE);
	}
	return time;
}

/* Adds the losses of the events that are to be closed to those that are known. */
static void note_losses(struct sampler *s)
{
	for (unsigned e = 0; s->counts_lost && e < s->nr_events; e++)
		for (unsigned c = 0; c < s->nr_cpus; c++)
			s->events[e].closed_lost[c] = sampler_count_lost(s, &s->events[e], c);
}

void sampler_use_adopted(struct sampler *s)
{
	struct sampler_set *set = s->adopted;
	uint64_t time;

	if (!set)
		return;
	time = switch_sets(s, set);
	note_losses(s);
	exchange(s, set);
	for (unsigned e = 0; e < s->nr_events; e++) {
		struct sampler_event *event = &s->events[e];
		struct sampler_step step = event->steps[event->nr_steps - 1];

		step.time = time;
		step.set = s->set;
		event->steps[event->nr_steps++] = step;
		event->stepped = true;
	}
	free_set(s, set);
	s->adopted = NULL;
	sampler_replace_timers(s);
}
