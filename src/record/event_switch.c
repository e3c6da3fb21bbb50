#include "record/event_switch.h"

#include "record/period.h"
#include "record/session.h"
#include "record/steer/control.h"
#include "record/summary.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A change of the events. */
struct switching {
	struct session *session;
	const struct control_request *request;
	pid_t asker;
	bool on[SAMPLER_MAX_EVENTS]; /* they are to sample */
	unsigned nr_new;             /* events that are to be opened */
	/* Where an inherited event is opened: all threads of the target, and since when it stands.
	 */
	pid_t *tids;
	size_t nr_tids;
	uint64_t held;
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

/* --- all threads of a target ------------------------------------------------------------------ */

static struct refusal check_way(const struct switching *switching, const char *name)
{
	const struct session *s = switching->session;

	if (!switching->request->anyway)
		return control_refuse(
			EOPNOTSUPP,
			"'%.100s' is not open, and events are inherited here; record --spare "
			"opens events for later, and --anyway opens it for each thread",
			name);
	if (s->launch.waits)
		return REFUSED(EAGAIN, "the program has not been executed yet; resume it first");
	if (sampler_lost_records(s->sampler))
		return REFUSED(EOVERFLOW, "records of new threads were lost: not all threads are "
		                          "known");
	return NOT_REFUSED;
}

static size_t count_open_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	size_t nr = 0;

	while (files && readdir(files))
		nr++;
	if (files)
		closedir(files);
	return nr;
}

/* Each thread takes a descriptor for each new event on each CPU. */
static struct refusal check_descriptors(const struct switching *switching, size_t nr_threads)
{
	const unsigned nr_cpus = sampler_nr_cpus(switching->session->sampler);
	const size_t limit = sampler_descriptor_limit();
	const size_t wanted =
		count_open_files() + SESSION_SPARE_FILES + nr_threads * nr_cpus * switching->nr_new;

	return wanted <= limit
	               ? NOT_REFUSED
	               : control_refuse(
				 EMFILE,
				 "%zu threads on %u CPUs take %zu open files, and %zu are allowed; "
				 "raise 'ulimit -n' before recording",
				 nr_threads, nr_cpus, wanted, limit);
}

/* Threads of whose birth no record came are found by their process. */
static int list_threads(struct switching *switching)
{
	int err = 0;

	switching->nr_tids = 0;
	for (const struct task *task = switching->session->tasks.tasks; task && !err;
	     task = task->hh.next)
		if (task_lives(task) && task->tid == task->process->pid)
			err = tasks_list_threads(task->tid, SIZE_MAX, &switching->tids,
			                         &switching->nr_tids);
	return err;
}

static size_t count_threads(const struct session *s)
{
	size_t nr = 0;

	for (const struct task *task = s->tasks.tasks; task; task = task->hh.next)
		nr += task_lives(task);
	return nr;
}

/* Lets the target stand still, and lists its threads; once for all events. */
static struct refusal hold_threads(struct switching *switching, const char *name)
{
	struct session *s = switching->session;
	struct refusal refusal = check_way(switching, name);
	int err;

	if (refusal.why || switching->held)
		return refusal;
	refusal = check_descriptors(switching, count_threads(s));
	if (!refusal.why)
		refusal = pause_hold_target(s, switching->asker);
	if (refusal.why)
		return refusal;
	switching->held = sampler_now();
	session_catch_up(s); /* there are records of all threads that were born before */
	err = list_threads(switching);
	if (err)
		return control_refuse(-err,
		                      "not all threads of the program can be listed: %s; "
		                      "record --spare opens events for later",
		                      strerror(-err));
	if (!switching->nr_tids)
		return REFUSED(ESRCH, "the program has ended");
	s->adoption.over = true;
	s->adoption.opened = 0;
	return check_descriptors(switching, switching->nr_tids);
}

/* Opens an event that is the last in the configuration. */
static int open_event(struct switching *switching, unsigned e, char why[WHY_SIZE])
{
	struct session *s = switching->session;
	struct event *event = &s->own_config->events[e];
	struct sampler_config wanted;
	int err;

	choose_shift(s, e);
	session_configure_sampler(s, &wanted);
	wanted.tasks = switching->tids;
	wanted.nr_tasks = switching->nr_tids;
	err = sampler_add_event(s->sampler, &wanted, why);
	if ((err == -EACCES || err == -EPERM) && event_exclude_kernel(event))
		err = sampler_add_event(s->sampler, &wanted, why);
	return err;
}

/* Opens an event by its name, switched off, as the last one. */
static struct refusal add_event(struct switching *switching, const char *name)
{
	struct session *s = switching->session;
	struct record_config *config = s->own_config;
	const unsigned e = config->nr_events;
	struct refusal refusal;
	char why[WHY_SIZE];
	int err;

	if (e == SAMPLER_MAX_EVENTS)
		return REFUSED(E2BIG, "there are 16 events already");
	refusal = parse(name, &config->events[e]);
	if (!refusal.why && s->sampling.way != SAMPLER_CGROUP)
		refusal = hold_threads(switching, name);
	if (refusal.why)
		return refusal;
	s->events[e] = (struct session_event){.kind = NO_KIND, .own_at = s->cpu_start};
	config->nr_events++;
	err = add_cpu_events(s, e) ?: open_event(switching, e, why);
	if (!err)
		return NOT_REFUSED;
	config->nr_events--;
	return err == -ENOMEM ? REFUSED(ENOMEM, "there is not enough memory")
	                      : control_refuse(-err, "%.*s", CONTROL_ERROR_MAX, why);
}

/* --- the choice ------------------------------------------------------------------------------- */

static struct refusal choose(struct switching *switching, const char *name)
{
	const bool drop = switching->request->change == CONTROL_DROP;
	struct session *s = switching->session;
	int e = find_event(s, name);

	if (drop && (e < 0 || !s->events[e].on))
		return control_refuse(ENOENT, "'%.100s' is not sampled", name);
	if (e < 0) {
		struct refusal refusal = add_event(switching, name);

		if (refusal.why)
			return refusal;
		e = (int)s->config->nr_events - 1;
	}
	switching->on[e] = !drop;
	return NOT_REFUSED;
}

/* Takes the next name of a list. Returns false at the end, or where no name follows. */
static bool next_name(const char **names, char name[EVENT_NAME_MAX])
{
	const char *end = event_name_end(*names);
	const size_t size = (size_t)(end - *names);

	if (!size || size >= EVENT_NAME_MAX)
		return false;
	memcpy(name, *names, size);
	name[size] = '\0';
	*names = *end ? end + 1 : end;
	return true;
}

/* A new one that is named twice counts twice. */
static struct refusal count_new(struct switching *switching)
{
	const char *names = switching->request->text;
	char name[EVENT_NAME_MAX];

	while (next_name(&names, name))
		switching->nr_new += find_event(switching->session, name) < 0;
	return *names ? REFUSED(EINVAL, "that is no list of events as in -e") : NOT_REFUSED;
}

static struct refusal choose_all(struct switching *switching)
{
	const char *names = switching->request->text;
	struct refusal refusal = count_new(switching);
	char name[EVENT_NAME_MAX];

	while (!refusal.why && next_name(&names, name))
		refusal = choose(switching, name);
	return refusal;
}

static struct refusal check(const struct switching *switching)
{
	const struct session *s = switching->session;
	unsigned nr_on = 0;

	for (unsigned e = 0; e < s->config->nr_events; e++)
		nr_on += switching->on[e];
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
	pause_end_gap(s, e, now);
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
static void switch_all(const struct switching *switching)
{
	struct session *s = switching->session;

	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (switching->on[e] && !s->events[e].on)
			switch_on(s, e, sampler_now());
	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (!switching->on[e] && s->events[e].on)
			switch_off(s, e, sampler_now());
	session_count_clocks(s);
	overhead_guard_begin_interval(&s->guard, sampler_now());
	s->guard.told_since = 0; /* the next time that is told begins the interval */
}

/* Returns that it was done, and the price of it. */
static struct refusal note_price(const struct switching *switching)
{
	if (!switching->held)
		return NOT_REFUSED;
	return control_note("opened for each of %zu threads on %u CPUs; the program stood still "
	                    "for %.1f ms, and a switch between its threads costs about twice as "
	                    "much from now on",
	                    switching->nr_tids, sampler_nr_cpus(switching->session->sampler),
	                    (double)(sampler_now() - switching->held) / 1e6);
}

struct refusal event_switch(struct session *s, const struct control_request *request, pid_t asker)
{
	struct switching switching = {.session = s, .request = request, .asker = asker};
	struct refusal refusal;

	for (unsigned e = 0; e < s->config->nr_events && request->change != CONTROL_ONLY; e++)
		switching.on[e] = s->events[e].on;
	refusal = choose_all(&switching);
	if (!refusal.why)
		refusal = check(&switching);
	if (!refusal.why)
		switch_all(&switching);
	pause_let_target_go(s);
	if (!refusal.why)
		refusal = note_price(&switching);
	free(switching.tids);
	return refusal;
}
