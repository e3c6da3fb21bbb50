#include "record/in_step.h"

#include "record/program_cost.h"
#include "record/session.h"
#include "trace/trace.h"

#define CALL_NS 60 /* that a recorded call takes; measured: 40 to 66 */

static void note_phases(const struct session *s, struct trace_run *run)
{
	struct sampler_phases phases = sampler_phases(s->sampler);

	run->grid = phases.grid;
	run->median_off = phases.median;
	run->p90_off = phases.p90;
	run->restarts = phases.restarts;
	run->unsteered_cpus = phases.nr_unsteered;
}

/* Returns whether the program uses all CPUs that the recorder may run on. */
static bool shares_cpus(const struct cost_facts *facts)
{
	struct cpu_list allowed = {{0}};

	cpu_list_allowed(&allowed);
	return cpu_list_count(&allowed) < (double)facts->busy / (double)facts->wall + 1;
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
		.nr_unsteered = (unsigned)run->unsteered_cpus,
	};
	struct program_cost cost;

	if (s->calls)
		facts.calls = CALL_NS * tables_ledger(s->tables)->taken[s->config->nr_events];
	if (!config_has_clock(s->config))
		facts.busy = facts.wall * sampler_nr_sampled(s->sampler);
	if (facts.wall && shares_cpus(&facts))
		facts.recorder = run->recorder_cpu;
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
