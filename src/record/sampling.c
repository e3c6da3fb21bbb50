/* The functions that change how a session samples: struct sampling. */
#include "record/period.h"
#include "record/session.h"
#include "perf/machine/machine.h"
#include "perf/machine/permission.h"

#include <unistd.h>

/*
 * Once the kernel cannot sample an event less often, the cost for the target stays. Closing levels
 * then saves only the recorder's time for unwinding. After this many further levels a sixteenth of
 * that time is left, which does not justify losing more samples.
 */
#define LEVELS_FOR_OURSELVES 4

/* --- before it samples ------------------------------------------------------------------------ */

void session_choose_way(struct session *s)
{
	struct permission permission;

	s->sampling.way = SAMPLER_LADDER;
	if (s->config->wide) {
		s->sampling.way = SAMPLER_CGROUP;
		return;
	}
	permission_read(&permission);
	if (s->config->inherit || !s->config->command ||
	    !permission_has(&permission, PERMISSION_CPU, 0) || cgroup_create(&s->cgroup))
		return;
	if (cgroup_probe(&s->cgroup))
		cgroup_remove(&s->cgroup);
	else
		s->sampling.way = SAMPLER_CGROUP;
}

/* Counts the clocks that sample. */
static unsigned count_clocks(const struct session *s)
{
	unsigned nr = 0;

	for (unsigned e = 0; e < s->config->nr_events; e++)
		nr += s->events[e].on && s->config->events[e].unit == EVENT_NS;
	return nr;
}

void session_init_events(struct session *s, unsigned nr)
{
	for (unsigned e = 0; e < SAMPLER_MAX_EVENTS; e++)
		s->events[e] = (struct session_event){
			.kind = e < nr ? e : NO_KIND,
			.on = e < nr,
		};
}

void session_count_clocks(struct session *s)
{
	s->guard.nr_clocks = count_clocks(s);
}

bool session_has_clock(const struct session *s)
{
	return count_clocks(s) > 0;
}

static bool all_clocks(const struct session *s)
{
	return count_clocks(s) == s->config->nr_events && !s->config->nr_counters;
}

/*
 * While a task outside of the cgroup runs on a CPU, the kernel stops the events of the cgroup
 * there, and their timers leave the grid. So the recorder, which interrupts the target the most,
 * is in the cgroup as well. Its own samples are dropped, and its time is not counted; that is
 * impossible for other events than clocks.
 */
static void join_cgroup_to_keep_step(struct session *s)
{
	if (s->config->in_step && all_clocks(s) && !cgroup_add(&s->cgroup, getpid()))
		own_processes_begin(&s->sampling.own, getpid());
}

void session_join_cgroup(struct session *s)
{
	if (s->cgroup.fd < 0 || s->config->wide)
		return;
	if (!s->launch.in_cgroup && cgroup_add(&s->cgroup, s->launch.pid)) {
		cgroup_remove(&s->cgroup);
		s->sampling.way = SAMPLER_LADDER;
		return;
	}
	join_cgroup_to_keep_step(s);
}

void session_note_cores(struct session *s)
{
	unsigned core_types = s->sampling.way == SAMPLER_LADDER ? machine_core_types() : 1;
	struct advice advice = {ADVICE_NONE};

	for (unsigned e = 0; e < s->config->nr_events && !s->sampling.one_core_type; e++) {
		const struct event *event = &s->config->events[e];

		advice = machine_advise_inherited(core_types, event->attr.type, event->name);
		s->sampling.one_core_type = advice.topic != ADVICE_NONE;
	}
	session_advise(s, advice);
}

void session_choose_counters(struct session *s)
{
	const struct advice advice = {ADVICE_NO_GROUPS};

	s->sampling.nr_counters = s->config->nr_counters;
	if (!s->sampling.nr_counters || s->sampling.way == SAMPLER_CGROUP || counters_inheritable())
		return;
	session_notice(s, (struct notice){NOTICE_NO_COUNTERS, .advice = advice});
	s->sampling.nr_counters = 0;
}

static bool is_asked(const struct record_config *config, const struct event *event)
{
	return event->freq || event->period || config->frequency > 0 || config->period;
}

/* Nobody needs to know it of the default, which is only where to begin. */
static void note_slower(const struct session *s, const struct event *event, uint64_t period)
{
	if (is_asked(s->config, event))
		session_notice(s,
		               (struct notice){NOTICE_SLOWER, .nr = period, .text = event->name});
}

void session_choose_shifts(struct session *s)
{
	const struct record_config *config = s->config;
	struct advice advice = {ADVICE_NONE};
	int64_t rate = machine_max_sample_rate();
	struct overhead_guard any_rate;

	session_count_clocks(s);
	any_rate = s->guard;
	s->guard.max_rate = rate > 0 ? (uint64_t)rate : 0;
	for (unsigned e = 0; e < config->nr_events; e++) {
		const struct event *event = &config->events[e];
		uint64_t base;

		if (event->unit != EVENT_NS)
			continue;
		base = period_base(event, config->frequency, config->period);
		s->sampling.shift[e] = overhead_guard_initial_shift(&s->guard, base);
		if (s->sampling.shift[e] > overhead_guard_initial_shift(&any_rate, base))
			advice = (struct advice){ADVICE_THROTTLED, {rate}, NULL};
		else if (s->sampling.shift[e] && s->events[e].on)
			note_slower(s, event, base << s->sampling.shift[e]);
	}
	session_advise(s, advice);
}

void session_close_first_levels(struct session *s)
{
	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (session_has_kind(s, e))
			session_close_levels(s, e, s->start);
}

void session_close_levels(struct session *s, unsigned event, uint64_t time)
{
	const unsigned kind = s->events[event].kind;

	while (hmb_floor(s->hmb, kind) < s->sampling.shift[event])
		hmb_close_lowest(s->hmb, kind, time, HMB_CAUSE_OVERHEAD);
}

/* --- while it samples ------------------------------------------------------------------------- */

void session_follow_floor(struct session *s, unsigned event)
{
	s->sampling.shift[event] = hmb_floor(s->hmb, s->events[event].kind);
	session_follow(s, event);
}

unsigned session_steady_shift(const struct session *s, unsigned event)
{
	return history_shift(&s->history, event, s->sampling.shift[event]);
}

void session_follow(struct session *s, unsigned event)
{
	const unsigned steady = session_steady_shift(s, event);

	sampler_follow(s->sampler, event, windows_shift(&s->windows, event, steady));
}

/* Whether it saves anything to close one more level of an event. */
static bool can_slow_down(const struct session *s, unsigned event)
{
	return hmb_floor(s->hmb, s->events[event].kind) <
	       sampler_slowest(s->sampler, event) + LEVELS_FOR_OURSELVES;
}

void session_slow_down(struct session *s)
{
	unsigned busiest = 0, dearest = 0;
	uint64_t most = 0, all = 0;

	for (unsigned e = 0; e < s->config->nr_events; e++) {
		uint64_t rate;

		if (!session_has_kind(s, e))
			continue;
		rate = tables_ledger(s->tables)->taken[s->events[e].kind] - s->sampling.guarded[e];
		s->sampling.guarded[e] += rate;
		if (rate > all) {
			all = rate;
			dearest = e;
		}
		if (rate > most && s->events[e].on && can_slow_down(s, e)) {
			most = rate;
			busiest = e;
		}
	}
	if (all && !can_slow_down(s, dearest))
		s->sampling.too_expensive = s->config->events[dearest].name;
	if (most)
		hmb_close_lowest(s->hmb, s->events[busiest].kind, sampler_now(),
		                 HMB_CAUSE_OVERHEAD);
}
