#include "record/session.h"
#include "trace/trace.h"

static unsigned count_reductions(const struct session *s, unsigned kind, enum hmb_cause cause)
{
	const struct hmb_ledger *ledger = tables_ledger(s->tables);
	unsigned nr = 0;

	for (uint32_t l = tables_event(s->tables, kind)->initial_shift; l < ledger->floor[kind];
	     l++)
		nr += ledger->reductions[kind][l].cause == cause;
	return nr;
}

static void read_event(const struct session *s, unsigned event, struct event_state *state)
{
	uint64_t period = sampler_base_period(s->sampler, event, 0);
	const unsigned kind = s->events[event].kind;
	unsigned shift = tables_event(s->tables, kind)->initial_shift;

	*state = (struct event_state){
		.base_period = period,
		.initial_shift = shift,
		.floor = hmb_floor(s->hmb, kind),
		.is_costly = shift &&
	                     !overhead_guard_affords(&s->guard, (double)(period << (shift - 1))),
		.for_memory = count_reductions(s, kind, HMB_CAUSE_MEMORY),
		.for_overhead = count_reductions(s, kind, HMB_CAUSE_OVERHEAD),
	};
}

static uint64_t count_throttled(const struct session *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < (size_t)s->config->nr_events * sampler_nr_cpus(s->sampler); i++)
		sum += s->cpu_events[i].throttled;
	return sum;
}

void session_state_read(const struct session *s, struct session_state *state)
{
	*state = (struct session_state){
		.started = s->started,
		.wall = trace_wall(tables_run(s->tables)),
		.starts_in = s->started ? 0 : wakers_starts_in(&s->wakers),
		.used = hmb_used(s->hmb),
		.limit = hmb_limit(s->hmb),
		.throttled = count_throttled(s),
		.price = s->guard.price,
		.one_cpu_cost = tables_run(s->tables)->one_cpu_cost,
		.coupled_cost = tables_run(s->tables)->coupled_cost,
	};
	for (unsigned e = 0; e < s->config->nr_events; e++) {
		if (!session_has_kind(s, e))
			continue;
		read_event(s, e, &state->events[e]);
		state->stored += hmb_stored(s->hmb, s->events[e].kind);
	}
}
