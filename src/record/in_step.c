#include "record/in_step.h"

#include "record/program_cost.h"
#include "record/session.h"
#include "trace/trace.h"

#include <sched.h>

#define LEAST_TOLERANCE 4000 /* ns */
#define USUAL_NS \
	10000000 /* between two samples of a counter on a CPU that the program uses, at most */

uint64_t in_step_tolerance(uint64_t price)
{
	return price / 6 > LEAST_TOLERANCE ? price / 6 : LEAST_TOLERANCE;
}

static void note_phases(const struct session *s, struct trace_run *run)
{
	struct sampler_phases phases = sampler_phases(s->sampler);

	run->grid = phases.grid;
	run->median_off = phases.median;
	run->p90_off = phases.p90;
	run->restarts = phases.restarts;
	run->unsteered_cpus = phases.nr_unsteered;
}

/*
 * Returns whether the program runs on this CPU, but for the recorder. While it does, it is sampled
 * there each period. Samples of the last ms have not been read yet.
 */
static bool runs_on(const struct session *s, int cpu, uint64_t now)
{
	unsigned c = sampler_cpu_index(s->sampler, cpu);
	uint64_t period = s->config->events[0].unit == EVENT_NS
	                          ? sampler_period(s->sampler, 0, 0, s->sampling.shift[0])
	                          : USUAL_NS;

	return c < sampler_nr_cpus(s->sampler) &&
	       s->cpu_events[c].heard + 2 * (SAMPLER_SLACK_NS + period) > now;
}

void in_step_note_round(struct session *s)
{
	uint64_t cpu_time = overhead_guard_cpu_time(), used = cpu_time - s->round_cpu;

	s->round_cpu = cpu_time;
	if (!s->started || !runs_on(s, sched_getcpu(), sampler_now()))
		return;
	s->guard.beside_ns += used;
	s->guard.all_beside_ns += used;
}

/* Where most CPUs are not in step the program does not keep them so, and need not be coupled. */
void in_step_tell_guard(struct session *s)
{
	struct sampler_phases phases = sampler_phases(s->sampler);
	uint64_t calls = s->calls ? calls_cost(s->calls) : 0;

	s->guard.calls_ns += calls - s->calls_told;
	s->calls_told = calls;
	if (s->calls)
		calls_set_most_cost(s->calls, overhead_guard_left_for_calls(&s->guard));
	s->guard.spread = phases.grid && !phases.nr_unsteered ? 2 * phases.median : 0;
}

static void note_cost(const struct session *s, struct trace_run *run)
{
	struct cost_facts facts = {
		.samples = s->guard.all_samples,
		.price = run->sample_price,
		.busy = s->guard.all_target_ns,
		.wall = trace_wall(run),
		.in_step = run->grid,
		.off = run->p90_off,
		.recorder = s->guard.all_beside_ns,
		.calls = s->calls ? calls_cost(s->calls) : 0,
		.nr_unsteered = (unsigned)run->unsteered_cpus,
		.nr_recordings = s->config->nr_local_ranks,
	};
	struct program_cost cost;

	if (!session_has_clock(s))
		facts.busy = facts.wall * sampler_nr_sampled(s->sampler);
	cost = program_cost(&facts);
	run->calls_cost = facts.calls;
	run->one_cpu_cost = (uint64_t)(cost.one_cpu * 1e6);
	run->coupled_cost = (uint64_t)(cost.coupled * 1e6);
}

void in_step_note(struct session *s)
{
	struct trace_run *run = tables_run(s->tables);

	note_phases(s, run);
	note_cost(s, run);
}
