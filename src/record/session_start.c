/*
 * The start of sampling: with the target's, or some time later, and once more after a reset. Until
 * then the kernel tells of tasks and mappings all the same, so that every sample finds them; what
 * tasks use is not counted.
 */
#include "record/session.h"
#include "record/spare_cpus.h"
#include "record/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Above the target, which began with our priority: at the same one it would never wait for us. */
static bool hurry_in_real_time(void)
{
	struct sched_param param;
	int policy = sched_getscheduler(0);

	if (policy < 0 || sched_getparam(0, &param) || !param.sched_priority)
		return false;
	param.sched_priority++;
	return !sched_setscheduler(0, policy, &param);
}

/* -10, or one better than the target's nice value, which is ours. */
static int better_nice(void)
{
	int nice = getpriority(PRIO_PROCESS, 0) - 1;

	return nice < -10 ? nice : -10;
}

/* The recorder competes with its target: a high priority, else at least a short wait. */
static void hurry(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t slice, deadline, period;
	} attr = {.size = sizeof(attr), .slice = 100000};

	if (hurry_in_real_time() || sched_getscheduler(0) != SCHED_OTHER)
		return; /* where a higher priority is not permitted, the one it has is kept */
	if (setpriority(PRIO_PROCESS, 0, better_nice()))
		syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* Restarts the counts of time, tasks and CPU time of the target and the recorder. */
static void count_from_now(struct session *s)
{
	tasks_begin(&s->tasks);
	summary_begin(s);
	s->start = s->guard.since = sampler_now();
	s->guard.cpu_since = s->cpu_start = overhead_guard_cpu_time();
	s->guard.others_ns = 0;
	s->seen_ended = 0;
	session_close_first_levels(s);
}

static int begin(struct session *s)
{
	int err;

	if (s->watcher && s->watcher->helper)
		own_processes_add(&s->sampling.own, s->watcher->helper);
	count_from_now(s);
	err = history_begin(s);
	if (!err)
		err = sampler_enable(s->sampler);
	if (!err)
		err = wakers_end_after(&s->wakers, s->config->duration);
	s->started = !err;
	return err;
}

/* --- anew ------------------------------------------------------------------------------------- */

static void clear_buffer(struct session *s)
{
	for (unsigned k = 0; k < s->hmb->nr_kinds; k++)
		hmb_clear(s->hmb, k);
	s->hmb->truncated = 0;
}

/* Streams start anew: the samples until now are not there any more to be continued. */
static void restart_streams(struct session *s)
{
	const unsigned nr_cpus = sampler_nr_cpus(s->sampler);

	for (unsigned e = 0; e < s->config->nr_events; e++) {
		if (session_has_kind(s, e))
			s->sampling.shift[e] =
				tables_event(s->tables, s->events[e].kind)->initial_shift;
		s->sampling.guarded[e] = s->before_exec[e] = 0;
		for (unsigned c = 0; c < nr_cpus; c++) {
			struct cpu_event *state = &s->cpu_events[e * nr_cpus + c];

			state->throttled = 0;
			state->stream = stream_start(s->config->seed, s->nr_streams++,
			                             s->sampling.shift[e]);
		}
	}
	for (struct task *task = s->tasks.tasks; task; task = task->hh.next) {
		task->streams_started = false;
		free(task->added);
		task->added = NULL;
	}
}

static void restart_counts(struct session *s)
{
	overhead_guard_restart(&s->guard);
	s->sampling.forked_ns = 0;
	s->calls_told = s->calls ? calls_cost(s->calls) : 0;
	s->pause.own_ns = 0;
	s->stack.built = s->stack.truncated = s->stack.stitched = 0;
	memset(s->stack.cut, 0, sizeof(s->stack.cut));
}

int session_reset(struct session *s)
{
	int err = 0;

	if (!s->started)
		return -EAGAIN;
	session_drain(s, false);
	if (s->calls)
		err = calls_prepare_restart(s->calls);
	if (err)
		return err;
	clear_buffer(s);
	windows_forget(s);
	sampler_restart(s->sampler);
	restart_streams(s);
	restart_counts(s);
	count_from_now(s);
	history_restart(s);
	for (unsigned e = 0; e < s->config->nr_events; e++)
		s->events[e] = (struct session_event){
			.kind = s->events[e].kind,
			.on = s->events[e].on,
			.own_at = s->cpu_start,
		};
	if (s->calls)
		calls_restart(s->calls);
	tables_restart_threads(s->tables, s->start);
	summary_progress(s);
	return 0;
}

/* --- the start -------------------------------------------------------------------------------- */

/* Keeps some descriptors free for files of programs and for the trace. */
static int leave_descriptors(void)
{
	int fds[SESSION_SPARE_FILES], nr = 0, err = 0;

	while (!err && nr < SESSION_SPARE_FILES) {
		fds[nr] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
		err = fds[nr] < 0 ? -errno : 0;
		nr += !err;
	}
	while (nr > 0)
		close(fds[--nr]);
	return err == -EMFILE ? err : 0;
}

int session_start(struct session *s)
{
	int err = leave_descriptors();

	if (err)
		return err;
	if (sampler_shortage(s->sampler))
		session_notice(
			s, (struct notice){NOTICE_SAMPLER, .text = sampler_shortage(s->sampler)});
	summary_start(s);
	err = session_open_cpu_events(s);
	if (err)
		return err;
	hurry();
	if (s->config->rank >= 0 && s->config->command && !s->config->wide)
		spare_cpus_use(); /* else it stays where it is */
	return s->config->delay ? wakers_start_after(&s->wakers, s->config->delay) : begin(s);
}

void session_start_late(struct session *s)
{
	int err;

	session_drain(s, false);
	err = begin(s);
	if (!err)
		return;
	session_notice(s, (struct notice){NOTICE_NOT_SAMPLING, err});
	s->over = true;
}

void session_note_early_end(struct session *s)
{
	uint64_t left = wakers_starts_in(&s->wakers);

	s->waited = s->config->delay > left ? s->config->delay - left : 0;
	count_from_now(s);
}
