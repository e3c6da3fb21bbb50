/* The counters of a sampler: members of the groups that the events of event 0 lead. */
#include "perf/sampler/sampler_state.h"

#include <errno.h>
#include <unistd.h>

static int *counter_fds(const struct sampler *s, unsigned rung, unsigned target, unsigned cpu)
{
	size_t group = ((size_t)rung * s->nr_targets + target) * s->nr_cpus + cpu;

	return &s->counter_fds[group * s->nr_counters];
}

size_t sampler_counter_fds(const struct sampler *s)
{
	return s->events[0].nr_rungs * sampler_cells(s, &s->events[0]) * s->nr_counters;
}

int sampler_open_counters(struct sampler *s, const struct event *counters, unsigned rung,
                          unsigned target, unsigned cpu)
{
	int leader = *sampler_fd(s, &s->events[0], rung, target, cpu);
	int *fds = counter_fds(s, rung, target, cpu);

	for (unsigned i = 0; i < s->nr_counters && leader >= 0; i++) {
		struct perf_event_attr attr = counter_attr(&counters[i]);

		fds[i] = sampler_open_for(s, &attr, s->tasks[target], cpu, leader);
		if (fds[i] < 0 && fds[i] != -ESRCH)
			return fds[i];
	}
	return 0;
}

int sampler_read_event(const struct sampler *s, int fd, struct sampler_reading *reading)
{
	/* number, times enabled and running, {value, lost} of each */
	uint64_t words[3 + 2 * (1 + COUNTERS_MAX)];
	unsigned stride = s->counts_lost ? 2 : 1;
	ssize_t size = fd < 0 ? -1 : read(fd, words, sizeof(words));

	*reading = (struct sampler_reading){.nr = 0};
	if (size < (ssize_t)(4 * sizeof(*words)) || words[0] > 1 + COUNTERS_MAX ||
	    size != (ssize_t)((3 + words[0] * stride) * sizeof(*words)))
		return -EBADMSG;
	reading->nr = (unsigned)words[0];
	reading->enabled = words[1];
	reading->running = words[2];
	for (unsigned i = 0; i < reading->nr; i++)
		reading->values[i] = words[3 + i * stride];
	if (s->counts_lost)
		reading->lost = words[4];
	return 0;
}

/*
 * An event of one task on one CPU is enabled whenever the task runs, and runs only there: over all
 * CPUs it is enabled as long as on the one where that was longest.
 */
static void add_target(const struct sampler *s, unsigned rung, unsigned target,
                       struct sampler_reading *sum)
{
	struct sampler_reading reading;
	uint64_t enabled = 0;

	for (unsigned c = 0; c < s->nr_cpus; c++) {
		if (sampler_read_event(s, *sampler_fd(s, &s->events[0], rung, target, c), &reading))
			continue;
		for (unsigned i = 0; i < reading.nr; i++)
			sum->values[i] += reading.values[i];
		sum->nr = reading.nr;
		sum->running += reading.running;
		if (s->way == SAMPLER_CGROUP)
			enabled += reading.enabled;
		else if (reading.enabled > enabled)
			enabled = reading.enabled;
	}
	sum->enabled += enabled;
}

void sampler_counter_totals(const struct sampler *s, struct sampler_reading *totals)
{
	*totals = (struct sampler_reading){.nr = 0};
	if (!s->nr_counters)
		return;
	for (unsigned r = 0; r < s->events[0].nr_rungs; r++)
		for (unsigned t = 0; t < s->nr_targets; t++)
			add_target(s, r, t, totals);
	for (unsigned i = 0; i < s->counters_before.nr; i++)
		totals->values[i] -= s->counters_before.values[i];
	totals->enabled -= s->counters_before.enabled;
	totals->running -= s->counters_before.running;
}
