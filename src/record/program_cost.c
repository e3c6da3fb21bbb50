#include "record/program_cost.h"

#include <math.h>

/* The time that at least one CPU of the program ran. */
static double active(const struct cost_facts *facts)
{
	return (double)(facts->busy < facts->wall ? facts->busy : facts->wall);
}

static double nr_recordings(const struct cost_facts *facts)
{
	return fmax(facts->nr_recordings, 1);
}

/* Each CPU in step is stopped once a tick; those that are not in step are stopped in between. */
static double samples_coupled(const struct cost_facts *facts)
{
	double one = (double)facts->samples * (double)facts->price / active(facts), in_step;
	double nr_cpus = fmax((double)facts->busy / active(facts), 1);
	double apart = one * nr_recordings(facts);

	if (!facts->in_step)
		return apart;
	in_step = one / nr_cpus * (1 + facts->nr_unsteered * nr_recordings(facts)) +
	          (double)facts->samples / nr_cpus * 2 * (double)facts->off / active(facts);
	return fmin(in_step, apart);
}

/* Recorders in step wake at the same instants. */
static double recorder_coupled(const struct cost_facts *facts)
{
	double one = (double)facts->recorder / active(facts);

	return facts->in_step ? one : one * nr_recordings(facts);
}

struct program_cost program_cost(const struct cost_facts *facts)
{
	double samples = (double)facts->samples * (double)facts->price;
	struct program_cost cost = {0};

	if (!facts->busy || !facts->wall)
		return cost;
	cost.one_cpu =
		(samples + (double)facts->recorder + (double)facts->calls) / (double)facts->busy;
	cost.coupled = samples_coupled(facts) + recorder_coupled(facts) +
	               (double)facts->calls / (double)facts->busy;
	/* Nothing loses more than all of its time. */
	cost.one_cpu = fmin(cost.one_cpu, 1);
	cost.coupled = fmin(cost.coupled, 1);
	return cost;
}
