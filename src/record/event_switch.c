#include "record/event_switch.h"

#include "record/period.h"
#include "record/session.h"
#include "record/steer/control.h"
#include "record/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The events that are to sample. */
struct choice {
	bool on[SAMPLER_MAX_EVENTS];
};

/* --- names ------------------------------------------------------------------------------------ */

/* The kernel's side may have been excluded for want of permission, which the event's name tells. */
static bool is_named(const struct event *event, const char *name)
{
	const size_t size = strlen(name);

	return !strncmp(event->name, name, size) &&
	       (!event->name[size] || !strcmp(event->name + size, ":u"));
}

/* Returns the number of an event that is open; -1: it is not. */
static int find_event(const struct session *s, const char *name)
{
	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (is_named(&s->config->events[e], name))
			return (int)e;
	return -1;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* A probe is a file that the client names. */
static bool names_a_file(const char *name)
{
	return strstr(name, "probe:") || strstr(name, "..");
}

static struct refusal parse(const char *name, struct event *event)
{
	char why[WHY_SIZE];

	if (names_a_file(name))
		return control_refuse(
			EPERM, "'%.100s' can be named to record alone, with -e or --spare", name);
	if (event_parse(event, name, why))
		return control_refuse(EINVAL, "%.*s", CONTROL_ERROR_MAX, why);
	if (event->freq && event->unit == EVENT_COUNT)
		return control_refuse(EINVAL, "freq= is for clocks, not for '%.100s'; try period=N",
		                      name);
	if (event->freq > FREQUENCY_MAX || event->period > PERIOD_MAX)
		return control_refuse(EINVAL, "impossible rate of '%.100s'", name);
	return NOT_REFUSED;
}

/* Adds the states on all CPUs of one more event. 0 or -ENOMEM. */
static int add_cpu_events(struct session *s, unsigned event)
{
	const unsigned nr_cpus = sampler_nr_cpus(s->sampler);
	const size_t first = (size_t)event * nr_cpus;
	struct cpu_event *cpu_events =
		realloc(s->cpu_events, (first + nr_cpus) * sizeof(*s->cpu_events));

	if (!cpu_events)
		return -ENOMEM;
	s->cpu_events = cpu_events;
	memset(cpu_events + first, 0, nr_cpus * sizeof(*cpu_events));
	for (unsigned c = 0; c < nr_cpus; c++)
		cpu_events[first + c].stream =
			stream_start(s->config->seed, s->nr_streams++, s->sampling.shift[event]);
	return 0;
}

static void choose_shift(struct session *s, unsigned e)
{
	const struct event *event = &s->config->events[e];
	const uint64_t base = period_base(event, s->config->frequency, s->config->period);

	s->sampling.shift[e] = 0;
	s->sampling.guarded[e] = s->before_exec[e] = 0;
	if (event->unit == EVENT_NS)
		s->sampling.shift[e] = overhead_guard_initial_shift(&s->guard, base);
}

/* Opens an event that is the last in the configuration. */
static int open_event(struct session *s, unsigned e, char why[WHY_SIZE])
{
	struct event *event = &s->own_config->events[e];
	struct sampler_config wanted;
	int err;

	choose_shift(s, e);
	session_configure_sampler(s, &wanted);
	err = sampler_add_event(s->sampler, &wanted, why);
	if ((err == -EACCES || err == -EPERM) && event_exclude_kernel(event))
		err = sampler_add_event(s->sampler, &wanted, why);
	return err;
}

static struct refusal check_way(const struct session *s, const char *name)
{
	if (s->config->nr_events == SAMPLER_MAX_EVENTS)
		return REFUSED(E2BIG, "there are 16 events already");
	if (s->sampling.way != SAMPLER_CGROUP)
		return control_refuse(EOPNOTSUPP,
		                      "'%.100s' is not open, and events are inherited here; "
		                      "record --spare opens events for later",
		                      name);
	return NOT_REFUSED;
}

/* Opens an event by its name, switched off, as the last one. */
static struct refusal add_event(struct session *s, const char *name)
{
	struct record_config *config = s->own_config;
	const unsigned e = config->nr_events;
	struct refusal refusal = check_way(s, name);
	char why[WHY_SIZE];
	int err;

	if (!refusal.why)
		refusal = parse(name, &config->events[e]);
	if (refusal.why)
		return refusal;
	s->events[e] = (struct session_event){.kind = NO_KIND, .own_at = s->cpu_start};
	config->nr_events++;
	err = add_cpu_events(s, e) ?: open_event(s, e, why);
	if (!err)
		return NOT_REFUSED;
	config->nr_events--;
	return err == -ENOMEM ? REFUSED(ENOMEM, "there is not enough memory")
	                      : control_refuse(-err, "%.*s", CONTROL_ERROR_MAX, why);
}

/* --- the choice ------------------------------------------------------------------------------- */

static struct refusal choose(struct session *s, const char *name, enum control_change change,
                             struct choice *choice)
{
	int e = find_event(s, name);

	if (change == CONTROL_DROP && (e < 0 || !s->events[e].on))
		return control_refuse(ENOENT, "'%.100s' is not sampled", name);
	if (e < 0) {
		struct refusal refusal = add_event(s, name);

		if (refusal.why)
			return refusal;
		e = (int)s->config->nr_events - 1;
	}
	choice->on[e] = change != CONTROL_DROP;
	return NOT_REFUSED;
}

static struct refusal choose_all(struct session *s, const char *names, enum control_change change,
                                 struct choice *choice)
{
	struct refusal refusal = NOT_REFUSED;
	char name[EVENT_NAME_MAX];

	for (const char *end; *names && !refusal.why; names = *end ? end + 1 : end) {
		end = event_name_end(names);
		if (end == names || (size_t)(end - names) >= sizeof(name))
			return REFUSED(EINVAL, "that is no list of events as in -e");
		memcpy(name, names, (size_t)(end - names));
		name[end - names] = '\0';
		refusal = choose(s, name, change, choice);
	}
	return refusal;
}

static struct refusal check(const struct session *s, const struct choice *choice)
{
	unsigned nr_on = 0;

	for (unsigned e = 0; e < s->config->nr_events; e++)
		nr_on += choice->on[e];
	if (!nr_on)
		return REFUSED(EINVAL, "no event would be left; pause --recording pauses all");
	if (!pause_has_room(s))
		return REFUSED(ENOSPC, "the trace has no room for further gaps");
	return NOT_REFUSED;
}

/* --- switching -------------------------------------------------------------------------------- */

/* Gives an event its kind. It is as if the event had been off since the start. */
static int begin_kind(struct session *s, unsigned e, uint64_t now)
{
	const struct hmb_kind_config config = session_kind(s, e);
	const int kind = hmb_add_kind(s->hmb, &config);

	if (kind < 0)
		return kind;
	s->events[e].kind = (unsigned)kind;
	summary_event(s, e);
	session_close_levels(s, e, now);
	if (s->started)
		pause_begin_gap(s, e, tables_run(s->tables)->start);
	return 0;
}

static bool is_paused(const struct session *s)
{
	return s->pause.flags & RECORDING_PAUSED;
}

static void switch_on(struct session *s, unsigned e, uint64_t now)
{
	struct session_event *event = &s->events[e];

	if (!session_has_kind(s, e) && begin_kind(s, e, now))
		return;
	sampler_switch_event(s->sampler, e, true);
	event->on = true;
	event->idle_off += summary_idle_unpaused(s) - event->idle_at;
	event->own_off += overhead_guard_cpu_time() - event->own_at;
	if (!s->started || is_paused(s))
		return;
	history_skip(&s->history, e, tables_end_gap(s->tables, event->kind, now));
	if (!e)
		tasks_resume(&s->tasks, now);
}

static void switch_off(struct session *s, unsigned e, uint64_t now)
{
	struct session_event *event = &s->events[e];

	sampler_switch_event(s->sampler, e, false);
	event->on = false;
	event->idle_at = summary_idle_unpaused(s);
	event->own_at = overhead_guard_cpu_time();
	if (!s->started || is_paused(s))
		return;
	pause_begin_gap(s, e, now);
	if (!e)
		tasks_pause(&s->tasks, now);
}

/* New events begin before old ones end: no moment is without samples. */
static void switch_all(struct session *s, const struct choice *choice)
{
	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (choice->on[e] && !s->events[e].on)
			switch_on(s, e, sampler_now());
	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (!choice->on[e] && s->events[e].on)
			switch_off(s, e, sampler_now());
	session_count_clocks(s);
	overhead_guard_begin_interval(&s->guard, sampler_now());
	s->guard.told_since = 0; /* the next time that is told begins the interval */
}

struct refusal event_switch(struct session *s, enum control_change change, const char *names)
{
	struct choice choice = {{false}};
	struct refusal refusal;

	for (unsigned e = 0; e < s->config->nr_events && change != CONTROL_ONLY; e++)
		choice.on[e] = s->events[e].on;
	refusal = choose_all(s, names, change, &choice);
	if (!refusal.why)
		refusal = check(s, &choice);
	if (!refusal.why)
		switch_all(s, &choice);
	return refusal;
}
