#include "record/pause.h"

#include "record/session.h"
#include "record/summary.h"
#include "record/tasks/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_GAPS 4096 /* in a trace; those of all ranks of a job together have more room */

int pause_open(struct session *s)
{
	return wakers_open_timer(&s->pause.lease_fd);
}

void pause_close(struct session *s)
{
	if (s->pause.lease_fd > 0)
		close(s->pause.lease_fd);
}

static void set_lease(struct session *s, uint64_t ns, bool again)
{
	s->pause.again = again;
	wakers_set_timer(s->pause.lease_fd, 0, ns);
}

static void set_flags(struct session *s, unsigned flags)
{
	s->pause.flags = flags;
	tables_state(s->tables)->flags = flags;
}

bool pause_has_room(const struct session *s)
{
	return s->pause.nr_gaps + s->config->nr_events <= MAX_GAPS;
}

void pause_begin_gap(struct session *s, unsigned event, uint64_t from)
{
	const struct trace_gap gap = {.from = from, .event = s->events[event].kind};

	tables_add_gap(s->tables, &gap);
	s->pause.nr_gaps++;
}

void pause_end_gap(struct session *s, unsigned event, uint64_t to)
{
	history_skip(&s->history, event, tables_end_gap(s->tables, s->events[event].kind, to));
}

static void begin_gaps(struct session *s)
{
	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (s->events[e].on)
			pause_begin_gap(s, e, s->pause.since);
}

static void end_gaps(struct session *s, uint64_t time)
{
	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (s->events[e].on)
			pause_end_gap(s, e, time);
}

/* Time that the recorder and idle CPUs use from now on is not part of the totals. */
static void stop_sampling(struct session *s)
{
	sampler_pause(s->sampler);
	s->pause.since = sampler_now();
	s->pause.cpu = overhead_guard_cpu_time();
	s->pause.idle = summary_idle(s);
	if (s->events[0].on)
		tasks_pause(&s->tasks, s->pause.since);
	begin_gaps(s);
}

static void go_on_sampling(struct session *s)
{
	const uint64_t now = sampler_now();

	s->pause.own_ns += overhead_guard_cpu_time() - s->pause.cpu;
	if (s->idle_start)
		s->idle_start += summary_idle(s) - s->pause.idle;
	if (s->events[0].on)
		tasks_resume(&s->tasks, now);
	end_gaps(s, now);
	overhead_guard_begin_interval(&s->guard, now);
	s->guard.told_since = 0; /* the next time that is told begins the interval */
	if (sampler_resume(s->sampler))
		session_notice(s, (struct notice){NOTICE_NOT_SAMPLING, -errno});
}

/* --- the target ------------------------------------------------------------------------------- */

/* The recorder is in it: it would stop as well, and its guardian with it. */
static bool is_own_cgroup(const struct session *s)
{
	return s->cgroup.fd >= 0 && cgroup_holds(&s->cgroup, getpid());
}

/* A recorder that is in the target's cgroup to keep in step must not be frozen. 0 or -errno. */
static int leave_cgroup(const struct session *s)
{
	return is_own_cgroup(s) ? cgroup_take_out(&s->cgroup, getpid()) : 0;
}

static void return_to_cgroup(const struct session *s)
{
	if (s->sampling.own.nr)
		cgroup_add(&s->cgroup, getpid());
}

/* Returns the processes that are known to belong to the target; NULL: no memory. */
static pid_t *known_processes(const struct session *s, size_t *nr)
{
	const struct record_config *config = s->config;
	pid_t *pids = calloc(config->nr_attach + HASH_COUNT(s->tasks.tasks) + 1, sizeof(*pids));

	*nr = 0;
	if (pids && config->command)
		pids[(*nr)++] = s->launch.pid;
	for (unsigned i = 0; pids && i < config->nr_attach; i++)
		pids[(*nr)++] = config->attach[i];
	for (const struct task *task = s->tasks.tasks; pids && !config->wide && task;
	     task = task->hh.next)
		if (task_lives(task) && task->tid == task->process->pid)
			pids[(*nr)++] = task->tid;
	return pids;
}

static struct refusal stop_processes(struct session *s, pid_t except)
{
	size_t nr;
	pid_t *pids = known_processes(s, &nr);
	struct refusal refusal = REFUSED(ENOMEM, FREEZE_NO_MEMORY);

	if (pids)
		refusal = freeze_tree(&s->pause.freeze, pids, nr, except);
	free(pids);
	return refusal;
}

static struct refusal stop_target(struct session *s, pid_t except)
{
	if (s->config->wide && !s->config->cgroup && !s->config->command)
		return REFUSED(EOPNOTSUPP, "whole CPUs are recorded, and no program; pause "
		                           "--recording pauses the recording");
	if (s->config->cgroup && is_own_cgroup(s))
		return REFUSED(EDEADLK, "the recorder is in this cgroup, too; pause --recording "
		                        "pauses the recording");
	if (s->config->cgroup)
		return freeze_cgroup(&s->pause.freeze, &s->cgroup);
	if (s->cgroup.fd < 0 || !cgroup_can_freeze(&s->cgroup) || leave_cgroup(s))
		return stop_processes(s, except);
	return freeze_cgroup(&s->pause.freeze, &s->cgroup);
}

/* --- commands --------------------------------------------------------------------------------- */

struct refusal pause_hold_target(struct session *s, pid_t except)
{
	struct refusal refusal;

	if (s->pause.freezes)
		return NOT_REFUSED;
	refusal = stop_target(s, except);
	s->pause.freezes = s->pause.for_moment = !refusal.why;
	return refusal;
}

void pause_let_target_go(struct session *s)
{
	if (!s->pause.for_moment)
		return;
	freeze_end(&s->pause.freeze);
	return_to_cgroup(s);
	s->pause.freezes = s->pause.for_moment = false;
}

/* With whole CPUs others are sampled while the command is stopped. */
static bool pauses_recording(const struct session *s, const struct pause_request *request)
{
	return !request->target || !s->config->wide || s->config->cgroup;
}

static void pause_recording(struct session *s)
{
	if (s->pause.flags & RECORDING_PAUSED)
		return;
	wakers_hold(&s->wakers);
	if (s->started)
		stop_sampling(s);
}

struct refusal pause_begin(struct session *s, const struct pause_request *request)
{
	unsigned flags = s->pause.flags;
	struct refusal refusal = NOT_REFUSED;

	if (flags & RECORDING_FROZEN || (flags && !request->target))
		return REFUSED(EALREADY, "the recording is paused already");
	if (!pause_has_room(s))
		return REFUSED(ENOSPC, "the trace has no room for further pauses");
	if (request->target)
		refusal = stop_target(s, request->except);
	if (refusal.why)
		return refusal;
	s->pause.freezes = request->target;
	flags |= request->target ? RECORDING_FROZEN : RECORDING_PAUSED;
	if (pauses_recording(s, request)) {
		pause_recording(s);
		flags |= RECORDING_PAUSED;
	}
	set_flags(s, flags);
	set_lease(s, request->ns, false);
	return NOT_REFUSED;
}

void pause_start(struct session *s)
{
	pause_recording(s);
	set_flags(s, RECORDING_PAUSED | RECORDING_FROZEN);
}

/* A rank is paused as soon as it sleeps, and the recording when all do. */
void pause_follow_ranks(struct session *s)
{
	struct calls_held held = {0};

	if (s->calls)
		held = calls_held(s->calls);
	if (!held.nr)
		return;
	if (!s->pause.holds_ranks)
		set_lease(s, 0, false);
	s->pause.holds_ranks = true;
	set_flags(s, s->pause.flags | RECORDING_FROZEN);
	if (!held.all || s->pause.flags & RECORDING_PAUSED || !pause_has_room(s))
		return;
	pause_recording(s);
	set_flags(s, RECORDING_PAUSED | RECORDING_FROZEN);
}

static void release_ranks(struct session *s)
{
	s->pause.holds_ranks = false;
	calls_release(s->calls);
}

static void let_target_go(struct session *s)
{
	if (s->pause.holds_ranks)
		release_ranks(s);
	if (s->launch.waits)
		launch_go(&s->launch);
	if (s->pause.freezes)
		freeze_end(&s->pause.freeze);
	s->pause.freezes = false;
	return_to_cgroup(s);
}

struct refusal pause_end(struct session *s, uint64_t ns)
{
	const bool freezes = s->pause.freezes;

	if (!s->pause.flags)
		return REFUSED(EALREADY, "nothing is paused");
	if (s->pause.flags & RECORDING_PAUSED && s->started)
		go_on_sampling(s);
	wakers_release(&s->wakers);
	if (s->pause.flags & RECORDING_FROZEN)
		let_target_go(s);
	set_flags(s, 0);
	s->pause.again_target = freezes;
	set_lease(s, ns, true);
	return NOT_REFUSED;
}

bool pause_has_expired(const struct session *s)
{
	return wakers_expired(s->pause.lease_fd);
}

/* The gaps end with the recording, and no sample follows. */
void pause_finish(struct session *s)
{
	if (!s->pause.flags)
		return;
	if (s->pause.flags & RECORDING_PAUSED && s->started) {
		s->pause.own_ns += overhead_guard_cpu_time() - s->pause.cpu;
		if (s->idle_start)
			s->idle_start += summary_idle(s) - s->pause.idle;
		end_gaps(s, sampler_now());
	}
	if (s->pause.flags & RECORDING_FROZEN)
		let_target_go(s);
	set_flags(s, 0);
}
