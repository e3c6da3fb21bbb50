/* While it runs: what the recorder does whenever something wakes it. */
#include "record/tasks/process_fd.h"
#include "record/in_step.h"
#include "record/session.h"
#include "record/session_control.h"
#include "record/summary.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SOON          10 /* ticks */
#define SELDOM        10
#define SLACK_MS      ((int)(SAMPLER_SLACK_NS / 1000000))
#define NAP_NS        12500000
#define MOST_SWITCHES 2400
#define MANY_ENDED    20 /* in a tick: to be woken by each costs more than naps do */

static void allow_stop(int how)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTSTP);
	sigprocmask(how, &mask, NULL);
}

void session_allow_stop(struct session *s)
{
	session_notice(s, (struct notice){NOTICE_MAY_STOP});
	allow_stop(SIG_UNBLOCK);
}

void session_forget_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->wakers.signal_fd, &info, sizeof(info)) == sizeof(info))
		continue;
}

static void stop(struct session *s)
{
	raise(SIGTSTP);
	session_allow_stop(s);
	allow_stop(SIG_BLOCK);
}

/*
 * Tells whether the target gets this signal from the kernel itself, as it does with signals of the
 * terminal. A limit of CPU time applies to each process separately. An alarm that was set before
 * the recorder started is sent to the recorder only.
 */
static bool target_has(const struct signalfd_siginfo *info)
{
	return info->ssi_code == SI_KERNEL && info->ssi_signo != SIGALRM;
}

static bool ends_programs(int number)
{
	return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT;
}

/* The target is not reaped yet: nobody else has its number. */
static void pass_on(struct session *s, int number)
{
	if (!kill(s->launch.pid, number) || errno != EPERM || !ends_programs(number))
		return;
	s->refused_signal = number;
	s->over = true;
}

/*
 * A target whose program lies on a file system that does not answer takes no signal: it is not
 * waited for.
 */
static void on_ending_signal(struct session *s, const struct signalfd_siginfo *info)
{
	const int number = (int)info->ssi_signo;

	if (!target_has(info))
		pass_on(s, number);
	/* A target that is stopped would take the signal later. */
	if (ends_programs(number) && s->pause.flags & RECORDING_FROZEN)
		pause_end(s, 0);
	if (ends_programs(number) && launch_is_executing(&s->launch)) {
		s->early_signal = number;
		s->over = true;
	}
}

static void on_signals(struct session *s, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGPIPE || info.ssi_signo == SIGXFSZ) /* ours */
			continue;
		if (info.ssi_signo == SIGTSTP)
			stop(s);
		else if (!s->config->command)
			s->over = true;
		else
			on_ending_signal(s, &info);
	}
}

/* Whether the target is where it is sampled. To ask takes as long as a hundred samples. */
static void look_for_target(struct session *s)
{
	uint32_t *flags = &tables_run(s->tables)->flags;

	if (s->sampling.way != SAMPLER_CGROUP || s->config->wide ||
	    *flags & TRACE_RUN_LEFT_CGROUP || (s->ticks >= SOON && s->ticks % SELDOM))
		return;
	if (!cgroup_holds(&s->cgroup, s->launch.pid))
		*flags |= TRACE_RUN_LEFT_CGROUP;
}

/*
 * At the end: the same of what it started, as far as no records of that were lost, nor are missing
 * of a CPU where it may have ended.
 */
static void look_for_others(struct session *s)
{
	uint32_t *flags = &tables_run(s->tables)->flags;

	if (s->sampling.way == SAMPLER_CGROUP && !s->config->wide &&
	    !(*flags & TRACE_RUN_MISSED_CPU) && !sampler_lost_records(s->sampler) &&
	    tasks_left(&s->tasks, &s->cgroup))
		*flags |= TRACE_RUN_LEFT_CGROUP;
}

static void look_for_cpus(struct session *s)
{
	const struct record_config *config = s->config;

	if (sampler_misses_cpu(s->sampler, config->some_cpus ? &config->cpus : NULL))
		tables_run(s->tables)->flags |= TRACE_RUN_MISSED_CPU;
}

unsigned session_cpus_in_use(const struct session *s)
{
	unsigned cpus = sampler_nr_sampled(s->sampler), tasks = HASH_COUNT(s->tasks.tasks);

	return s->sampling.way == SAMPLER_LADDER && tasks < cpus ? tasks : cpus;
}

static void look_at_cost(struct session *s)
{
	const uint64_t since = s->guard.since;

	if (!session_has_clock(s))
		overhead_guard_target_time(&s->guard, cgroup_cpu_time(&s->cgroup));
	in_step_tell_guard(s);
	if (overhead_guard_exceeded(&s->guard, sampler_now(), session_cpus_in_use(s)) &&
	    !windows_cut(s, since) && !history_slow_down(s))
		session_slow_down(s);
}

/* More switches than these in a tick would cost the program 1 % of its time. */
static void look_at_switches(struct session *s)
{
	uint64_t nr = s->tasks.nr_switches;

	s->tasks.nr_switches = 0;
	if (!s->tasks.by_switches || nr <= (uint64_t)MOST_SWITCHES * session_cpus_in_use(s))
		return;
	sampler_stop_switches(s->sampler);
	tasks_forget_switches(&s->tasks);
}

void session_pace(struct session *s)
{
	uint64_t ended = s->tasks.nr_ended - s->seen_ended;

	s->seen_ended = s->tasks.nr_ended;
	if (s->sampling.way == SAMPLER_LADDER && ended >= MANY_ENDED)
		wakers_nap(&s->wakers, s->sampler);
	else
		wakers_wake(&s->wakers, s->sampler);
}

static void tick(struct session *s)
{
	if (s->started && !s->pause.flags)
		look_at_cost(s);
	look_at_switches(s);
	if (!s->pause.flags)
		adoption_tick(s);
	look_for_target(s);
	look_for_cpus(s);
	session_pace(s);
	launch_reap_others(&s->launch);
	tasks_tick(&s->tasks, sampler_drained(s->sampler));
	summary_progress(s);
	if (s->watcher)
		s->watcher->tick(s->watcher->arg, s);
	s->ticks++;
}

static void drain_calls(struct session *s)
{
	uint64_t before;

	if (!s->calls)
		return;
	before = overhead_guard_cpu_time();
	calls_drain(s->calls);
	s->guard.others_ns += overhead_guard_cpu_time() - before;
	pause_follow_ranks(s);
}

/* A tick is the first wake-up of a tenth of a second. */
static void on_pace(struct session *s, int fd)
{
	uint64_t tenth = sampler_now() / PACE_LONGEST;

	if (!wakers_expired(fd) || tenth == s->tenth)
		return;
	s->tenth = tenth;
	tick(s);
}

static void on_start(struct session *s, int fd)
{
	if (wakers_expired(fd))
		session_start_late(s);
}

static void on_end(struct session *s, int fd)
{
	(void)fd;
	s->over = true;
}

static void on_command(struct session *s, int fd)
{
	bool ended = process_fd_ended(fd, s->launch.pid);

	if (s->config->until)
		s->until_ended = ended;
	else
		s->over |= ended;
}

static void on_attached(struct session *s, int fd)
{
	(void)fd;
	s->over |= session_attached_ended(s);
}

static void on_unobserved(struct session *s, int fd)
{
	(void)fd;
	tasks_count_unobserved(&s->tasks);
}

static void on_control(struct session *s, int fd)
{
	(void)fd;
	session_serve(s);
}

static void on_lease(struct session *s, int fd)
{
	(void)fd;
	session_expire_pause(s);
}

static void on_windows(struct session *s, int fd)
{
	(void)fd;
	windows_expire(s);
}

static int listen_to(struct session *s, const struct session_listener *listener)
{
	s->listeners[s->nr_listeners++] = *listener;
	return wakers_watch(&s->wakers, listener->fd);
}

int session_open_loop(struct session *s)
{
	int err = wakers_open(&s->wakers);
	const struct session_listener listeners[] = {
		{s->wakers.signal_fd, on_signals},
		{s->wakers.pace_fd, on_pace},
		{s->wakers.start_fd, on_start},
		{s->wakers.end_fd, on_end},
		{s->launch.pid ? s->launch.pidfd : -1, on_command},
		{s->attached_fd, on_attached},
		{s->calls ? calls_poll_fd(s->calls) : -1, NULL}, /* read in each round */
		{s->tasks.unobserved_list.poll_fd, on_unobserved},
		{s->control.poll_fd, on_control},
		{s->pause.lease_fd, on_lease},
		{s->windows.timer_fd, on_windows},
	};

	for (unsigned i = 0; !err && i < sizeof(listeners) / sizeof(*listeners); i++)
		err = listen_to(s, &listeners[i]);
	pace_begin(&s->pace, sampler_now());
	s->tenth = s->pace.drained / PACE_LONGEST;
	return err ? err : wakers_watch_rings(&s->wakers, s->sampler);
}

static void on_readable(struct session *s, int fd)
{
	for (unsigned i = 0; i < s->nr_listeners; i++)
		if (s->listeners[i].fd == fd && s->listeners[i].on_readable)
			s->listeners[i].on_readable(s, fd);
}

/*
 * A burst fills a ring within the slack, with records that are too new to be taken. Then the ring
 * wakes nobody any more.
 */
static int wait_ms(const struct session *s)
{
	return sampler_is_crowded(s->sampler) ? SLACK_MS : -1;
}

static uint64_t sooner(uint64_t ns, uint64_t other)
{
	return ns < other ? ns : other;
}

/* Chooses the next wake-up. steer: the longest interval at which timers are to be steered. */
static void choose_wake_up(struct session *s, uint64_t steer)
{
	uint64_t interval = sooner(s->pace.interval, sooner(steer, stack_copy_wait(s)));
	uint64_t now = sampler_now(), next;

	if (s->wakers.naps)
		interval = sooner(interval, NAP_NS);
	next = pace_next(pace_interval(interval), sampler_grid(s->sampler), now);
	/* One that is near stays, however long the interval is now. */
	if (s->wakers.next <= now || next < s->wakers.next)
		wakers_wake_at(&s->wakers, next);
}

static void end_sampling(struct session *s)
{
	pause_finish(s);
	tasks_count_unobserved(&s->tasks);
	sampler_disable(s->sampler);
	if (s->sampling.own.nr)
		s->sampling.own_ns = overhead_guard_cpu_time() - s->cpu_start - s->pause.own_ns;
	tasks_note_dead(&s->tasks);
	session_drain(s, true);
	look_for_others(s);
	if (s->calls)
		calls_end(s->calls);
}

void session_loop(struct session *s)
{
	struct epoll_event events[16];

	choose_wake_up(s, PACE_LONGEST);
	while (!s->over && !s->until_ended) {
		int nr = epoll_wait(s->wakers.poll_fd, events, 16, wait_ms(s));

		for (int i = 0; i < nr; i++)
			on_readable(s, events[i].data.fd);
		session_drain(s, false);
		windows_drained(s);
		if (!s->pause.flags)
			stack_copy_follow(s);
		drain_calls(s);
		choose_wake_up(s, sampler_steer(s->sampler, s->pace.interval));
		in_step_note_round(s);
	}
	end_sampling(s);
}

/* Rings are of no interest any more. */
static int watch_command(const struct session *s, int poll_fd)
{
	const int fds[] = {s->wakers.signal_fd, s->launch.pidfd, s->control.poll_fd};
	int err = 0;

	for (unsigned i = 0; !err && i < sizeof(fds) / sizeof(*fds); i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.fd = fds[i]};

		if (fds[i] >= 0 && epoll_ctl(poll_fd, EPOLL_CTL_ADD, fds[i], &event))
			err = -errno;
	}
	return err;
}

void session_wait(struct session *s)
{
	int poll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event events[4];

	launch_reap_others(&s->launch);
	if (poll_fd < 0)
		return;
	s->over = watch_command(s, poll_fd) < 0;
	while (!s->over) {
		int nr = epoll_wait(poll_fd, events, 4, -1);

		for (int i = 0; i < nr; i++)
			on_readable(s, events[i].data.fd);
	}
	close(poll_fd);
}
