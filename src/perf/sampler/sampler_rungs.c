/* How many rungs a ladder has: as many as are worth what they cost, and may be open. */
#include "perf/machine/advice.h"
#include "perf/sampler/sampler_state.h"

#include <sys/resource.h>

#define MAX_COUNTED_RUNGS 2 /* events with counters: each counter costs what a rung does */
#define SLOW_CLOCK_NS     2000000
#define MOST_ON_RING      256

size_t sampler_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 1024;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}

/* To sample a slow clock still more slowly saves less than the rung costs at every fork. */
unsigned sampler_useful_rungs(const struct sampler_config *config, unsigned e)
{
	unsigned rungs = 1;

	if (config->events[e].unit != EVENT_NS)
		return SAMPLER_MAX_RUNGS;
	while (rungs < SAMPLER_MAX_RUNGS && config->base_period[e] < (uint64_t)SLOW_CLOCK_NS >>
	                                            (config->shift[e] + 2 * (rungs - 1)))
		rungs++;
	return rungs;
}

/*
 * Every fork copies the events of all rungs for all CPUs, some 2 us each: on large machines fewer
 * rungs, for the buffer's levels do the doublings between them.
 */
static unsigned most_rungs(unsigned nr_cpus)
{
	return nr_cpus <= 8 ? SAMPLER_MAX_RUNGS : nr_cpus <= 32 ? 3 : 2;
}

/*
 * Counters are copied with each rung. At the end of a task that was attached to, the kernel goes
 * through all events of a ring for each one of the task's own: where tasks are many, fewer rungs.
 */
static unsigned wanted_rungs(const struct sampler *s, const struct sampler_config *config)
{
	unsigned most = most_rungs(s->nr_cpus), wanted = 1;

	if (s->nr_targets * most > MOST_ON_RING)
		most = s->nr_targets < MOST_ON_RING ? MOST_ON_RING / s->nr_targets : 1;
	if (s->nr_counters && most > MAX_COUNTED_RUNGS)
		most = MAX_COUNTED_RUNGS;
	for (unsigned e = 0; e < config->nr_events; e++)
		if (sampler_useful_rungs(config, e) > wanted)
			wanted = sampler_useful_rungs(config, e);
	return wanted < most ? wanted : most;
}

/*
 * Counts the descriptors that are open with nr_events events on each cell: some for other purposes,
 * one that watches each target, and one on each CPU for loaded and unloaded kernel code.
 */
static size_t count_descriptors(unsigned nr_cpus, unsigned nr_targets, size_t nr_events,
                                enum sampler_totals totals)
{
	size_t nr_totals = totals != SAMPLER_NO_TOTALS, rings = RING_EXACT * nr_cpus + nr_totals;

	if (totals == SAMPLER_TOTALS_BY_SWITCHES)
		nr_totals += nr_cpus;
	return 64 + nr_targets + nr_cpus + rings + nr_totals +
	       (size_t)nr_targets * nr_cpus * (1 + nr_events);
}

static size_t descriptors(const struct sampler *s, const struct sampler_config *config,
                          unsigned rungs)
{
	return count_descriptors(s->nr_cpus, s->nr_targets,
	                         (size_t)rungs * (config->nr_events + s->nr_counters),
	                         config->totals);
}

size_t sampler_usual_descriptors(unsigned nr_cpus)
{
	return count_descriptors(nr_cpus, 1, most_rungs(nr_cpus), SAMPLER_TOTALS_BY_SWITCHES);
}

size_t sampler_least_descriptors(const struct sampler *s, const struct sampler_config *config)
{
	return descriptors(s, config, 1);
}

unsigned sampler_affordable_rungs(struct sampler *s, const struct sampler_config *config)
{
	size_t limit = sampler_descriptor_limit();
	unsigned rungs = wanted_rungs(s, config);
	struct advice advice = {ADVICE_RUNGS};

	if (s->way == SAMPLER_CGROUP)
		return 1;
	if (descriptors(s, config, rungs) <= limit)
		return rungs;
	advice.numbers[0] = (int64_t)limit;
	advice.numbers[1] = (int64_t)descriptors(s, config, rungs);
	advice_line(&advice, s->shortage, sizeof(s->shortage));
	while (rungs > 1 && descriptors(s, config, rungs) > limit)
		rungs--;
	return rungs;
}
