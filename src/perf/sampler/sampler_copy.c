/*
 * Larger copies of the stack, while sampling. The kernel keeps what an event copies as it was
 * opened: so all events are opened once more, as a further rung that takes the place of the last.
 */
#include "perf/sampler/sampler_state.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Room for one more rung of an event: closed. */
static int add_rung(struct sampler *s, struct sampler_event *event)
{
	size_t nr = event->nr_rungs * sampler_cells(s, event);
	int *fds = realloc(event->fds, (nr + sampler_cells(s, event)) * sizeof(*fds));

	if (!fds)
		return -ENOMEM;
	for (size_t i = 0; i < sampler_cells(s, event); i++)
		fds[nr + i] = -1;
	event->fds = fds;
	event->nr_rungs++;
	return 0;
}

/* A small ring must hold some samples, too. */
uint32_t sampler_copy_with_room(const struct sampler *s, unsigned c, uint32_t stack_size)
{
	size_t most = s->rings[ring_index(s, RING_SAMPLES, c)].ring.size / 3 & ~(size_t)7;

	return stack_size < most ? stack_size : (uint32_t)most;
}

/* On the CPUs where it is open already, at the period in force. */
static int open_rung(struct sampler *s, unsigned e, uint32_t stack_size)
{
	struct sampler_event *event = &s->events[e];
	unsigned rung = event->nr_rungs, shift = event->steps[event->nr_steps - 1].shift;
	int err = add_rung(s, event);

	for (unsigned c = 0; !err && c < s->nr_cpus; c++) {
		struct perf_event_attr attr = event->attr;

		attr.sample_stack_user = sampler_copy_with_room(s, c, stack_size);
		attr.sample_period = sampler_period_at(event, c, shift);
		if (*sampler_fd(s, event, event->rung, 0, c) >= 0)
			err = sampler_open_event(s, &attr, e, rung, 0, c);
	}
	return err;
}

/* Takes a rung back, if there is one of that number. */
static void close_rung(struct sampler *s, struct sampler_event *event, unsigned rung)
{
	if (rung >= event->nr_rungs)
		return;
	for (unsigned c = 0; c < s->nr_cpus; c++) {
		int *fd = sampler_fd(s, event, rung, 0, c);

		if (*fd >= 0)
			close(*fd);
	}
	event->nr_rungs = rung;
}

/* One after the other on each CPU, so that nothing is sampled or counted twice. */
static void switch_rung(struct sampler *s, struct sampler_event *event, uint32_t stack_size)
{
	const struct sampler_step *last = &event->steps[event->nr_steps - 1];
	unsigned rung = event->nr_rungs - 1;

	event->steps[event->nr_steps] = (struct sampler_step){
		.time = sampler_now(),
		.shift = last->shift,
		.rung = rung,
	};
	event->nr_steps++;
	for (unsigned c = 0; c < s->nr_cpus; c++) {
		if (*sampler_fd(s, event, rung, 0, c) < 0 || !sampler_is_on(s, event))
			continue;
		ioctl(*sampler_fd(s, event, event->rung, 0, c), PERF_EVENT_IOC_DISABLE, 0);
		ioctl(*sampler_fd(s, event, rung, 0, c), PERF_EVENT_IOC_ENABLE, 0);
	}
	event->rung = rung;
	event->attr.sample_stack_user = stack_size;
}

int sampler_copy_more(struct sampler *s, uint32_t stack_size)
{
	unsigned e, opened = 0;
	int err = 0;

	if (s->way != SAMPLER_CGROUP || s->nr_counters)
		return -EOPNOTSUPP;
	for (e = 0; e < s->nr_events; e++)
		if (!sampler_has_step_room(s, &s->events[e]))
			return -ENOSPC;
	err = sampler_grow_ids(s, s->nr_events * sampler_side_cells(s));
	for (; !err && opened < s->nr_events; opened++)
		err = open_rung(s, opened, stack_size);
	if (!err)
		for (e = 0; e < s->nr_events; e++) {
			switch_rung(s, &s->events[e], stack_size);
			sampler_lose_phases(s, e);
		}
	else
		while (opened-- > 0)
			close_rung(s, &s->events[opened], s->events[opened].rung + 1);
	qsort(s->ids, s->nr_ids, sizeof(*s->ids), sampler_compare_ids);
	return err;
}

uint32_t sampler_copied(const struct sampler *s)
{
	return s->events[0].attr.sample_stack_user;
}

size_t sampler_ring_size(const struct sampler *s)
{
	size_t size = 0;

	for (unsigned c = 0; c < s->nr_cpus && !size; c++)
		if (sampler_is_likely(s, c))
			size = s->rings[ring_index(s, RING_SAMPLES, c)].ring.size;
	return size;
}
