#include "cli/session.h"

#include "cli/preload_path.h"
#include "cli/process_fd.h"
#include "cli/save.h"
#include "cli/say.h"
#include "cli/status.h"
#include "cli/summary.h"
#include "perf/permission.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOON           10 /* ticks */
#define SELDOM         10
#define SLACK_MS       ((int)(SAMPLER_SLACK_NS / 1000000))
#define EXIT_ADAPTRACE 125
#define MOST_SWITCHES  2400

/* What is started, if anything: the target, or what only measures time. */
static char **to_launch(const struct options *options)
{
	return options->command ? options->command : options->until;
}

/* --- setting up ------------------------------------------------------------------------------- */

/* A blocked signal arrives even so, as where nohup asked not to be hung up on. */
static bool is_ignored(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && action.sa_handler == SIG_IGN;
}

static int open_signals(struct session *s)
{
	static const int signals[] = {SIGINT,  SIGQUIT, SIGTERM, SIGALRM, SIGUSR1,
	                              SIGUSR2, SIGPIPE, SIGXFSZ, SIGXCPU};
	static const int unless_ignored[] = {SIGHUP, SIGTSTP};
	sigset_t mask;

	sigemptyset(&mask);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&mask, signals[i]);
	for (unsigned i = 0; i < sizeof(unless_ignored) / sizeof(unless_ignored[0]); i++)
		if (!is_ignored(unless_ignored[i]))
			sigaddset(&mask, unless_ignored[i]);
	if (sigprocmask(SIG_BLOCK, &mask, NULL))
		return -errno;
	s->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signal_fd < 0 ? -errno : 0;
}

/* --- running ---------------------------------------------------------------------------------- */

static void allow_stop(int how)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTSTP);
	sigprocmask(how, &mask, NULL);
}

/* As we are asked to, but not before the terminal is whole again: others have it meanwhile. */
static void stop(struct session *s)
{
	status_clear(s);
	raise(SIGTSTP);
	allow_stop(SIG_UNBLOCK);
	allow_stop(SIG_BLOCK);
}

/*
 * As it has the terminal's. Of its CPU time it is told for itself; an alarm that was set before we
 * were started is not.
 */
static bool target_has(const struct signalfd_siginfo *info)
{
	return info->ssi_code == SI_KERNEL && info->ssi_signo != SIGALRM;
}

static void on_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGPIPE || info.ssi_signo == SIGXFSZ) /* ours */
			continue;
		if (info.ssi_signo == SIGTSTP)
			stop(s);
		else if (!s->options->command)
			s->over = true;
		else if (!target_has(&info))
			kill(s->launch.pid, (int)info.ssi_signo); /* not reaped yet: nobody else */
	}
}

/* Whether the target is where it is sampled. To ask takes as long as a hundred samples. */
static void look_for_target(struct session *s)
{
	if (s->way != SAMPLER_CGROUP || s->options->wide || s->left_cgroup ||
	    (s->ticks >= SOON && s->ticks % SELDOM))
		return;
	s->left_cgroup = !cgroup_holds(&s->cgroup, s->launch.pid);
}

/*
 * At the end: the same of what it started, as far as no records of that were lost, nor are missing
 * of a CPU where it may have ended.
 */
static void look_for_others(struct session *s)
{
	if (s->way == SAMPLER_CGROUP && !s->options->wide && !s->missed_cpu &&
	    !sampler_lost_records(s->sampler))
		s->left_cgroup |= tasks_left(&s->tasks, &s->cgroup);
}

static void look_for_cpus(struct session *s)
{
	const struct options *options = s->options;

	s->missed_cpu = s->missed_cpu ||
	                sampler_misses_cpu(s->sampler, options->some_cpus ? &options->cpus : NULL);
}

static bool has_expired(int timer_fd)
{
	uint64_t expirations;

	return read(timer_fd, &expirations, sizeof(expirations)) > 0;
}

static void look_at_cost(struct session *s)
{
	if (!options_have_clock(s->options))
		guard_target_time(&s->guard, cgroup_cpu_time(&s->cgroup));
	if (guard_exceeded(&s->guard, sampler_now(), sampler_nr_sampled(s->sampler)))
		session_slow_down(s);
}

/* At more than these in a tick they would cost the program 1 % of its time. */
static void look_at_switches(struct session *s)
{
	uint64_t nr = s->tasks.nr_switches;

	s->tasks.nr_switches = 0;
	if (!s->tasks.by_switches || nr <= MOST_SWITCHES * sampler_nr_cpus(s->sampler))
		return;
	sampler_stop_switches(s->sampler);
	tasks_forget_switches(&s->tasks);
}

static void on_tick(struct session *s)
{
	if (!has_expired(s->timer_fd))
		return;
	if (s->sampling)
		look_at_cost(s);
	look_at_switches(s);
	look_for_target(s);
	look_for_cpus(s);
	session_pace(s);
	launch_reap_others(&s->launch);
	tasks_tick(&s->tasks, sampler_drained(s->sampler));
	summary_progress(s);
	status_show(s);
	s->ticks++;
}

static void drain_calls(struct session *s)
{
	uint64_t before;

	if (!s->calls)
		return;
	before = guard_cpu_time();
	calls_drain(s->calls);
	s->guard.others_ns += guard_cpu_time() - before;
}

static bool has_command_ended(const struct session *s)
{
	return process_fd_ended(s->launch.pidfd, s->launch.pid);
}

static bool has_target_ended(struct session *s)
{
	return s->options->command ? has_command_ended(s) : session_attached_ended(s);
}

/*
 * A burst fills a ring within the slack, with records that are too new to be taken. Then the ring
 * wakes nobody any more.
 */
static int wait_ms(const struct session *s)
{
	return sampler_is_crowded(s->sampler) ? SLACK_MS : stack_copy_wait(s);
}

static void run(struct session *s)
{
	struct epoll_event events[16];

	while (!s->over) {
		int nr = epoll_wait(s->poll_fd, events, 16, wait_ms(s));

		for (int i = 0; i < nr; i++) {
			if (events[i].data.fd == s->signal_fd)
				on_signals(s);
			else if (events[i].data.fd == s->timer_fd)
				on_tick(s);
			else if (events[i].data.fd == s->nap_fd)
				has_expired(s->nap_fd);
			else if (events[i].data.fd == s->start_fd && has_expired(s->start_fd))
				session_start_late(s);
			else if (events[i].data.fd == s->end_fd)
				s->over = true;
			else if (events[i].data.fd == s->target_fd)
				s->over |= has_target_ended(s);
			else if (s->options->until && events[i].data.fd == s->launch.pidfd)
				s->over |= s->until_ended = has_command_ended(s);
			else if (events[i].data.fd == s->tasks.unobserved_list.poll_fd)
				tasks_count_unobserved(&s->tasks);
		}
		session_drain(s, false);
		stack_copy_follow(s);
		drain_calls(s);
	}
	tasks_count_unobserved(&s->tasks);
	sampler_disable(s->sampler);
	tasks_note_dead(&s->tasks);
	session_drain(s, true);
	look_for_others(s);
	if (s->calls)
		calls_end(s->calls);
}

/* The command's status. Who would wait for no more than its end does not outlive the recording. */
static int reap_command(struct session *s)
{
	int status;

	if (!s->launch.pid)
		return 0;
	if (s->options->until && !s->until_ended) {
		kill(s->launch.pid, SIGTERM);
		return 0;
	}
	while (waitpid(s->launch.pid, &status, 0) < 0 && errno == EINTR)
		continue;
	s->killed = WIFSIGNALED(status);
	return s->killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* --- one recording ---------------------------------------------------------------------------- */

static const char *way_to_execute(const struct options *options, char **argv, int error)
{
	const char *command = argv[0];

	if (error == -EACCES)
		return "; is it an executable file?";
	if (error != -ENOENT)
		return "";
	if (strchr(command, ' ') && !argv[1])
		return "; leave out the quotes around the whole command";
	if (strchr(command, '/'))
		return "";
	return command == options->no_mode
	               ? "; it is in no folder of PATH, and -g takes dwarf, fp, lbr or none"
	               : "; is it in PATH?";
}

static int exec_failed(const struct options *options, int error)
{
	char **argv = to_launch(options);

	say("cannot execute '%s': %s%s", argv[0], strerror(-error),
	    way_to_execute(options, argv, error));
	return error == -ENOENT ? 127 : 126;
}

static int finish(struct session *s)
{
	uint64_t bytes = 0;

	s->exit_status = reap_command(s);
	status_clear(s);
	allow_stop(SIG_UNBLOCK);
	if (!s->sampling)
		session_note_early_end(s);
	summary_totals(s);
	if (save_trace(s, &bytes))
		return EXIT_ADAPTRACE;
	status_warnings(s);
	if (!s->options->quiet)
		status_final(s, bytes);
	return s->exit_status;
}

static bool is_limited(int resource)
{
	struct rlimit limit;

	return !getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

/* The kernel itself refuses nothing of what is left to who may sample. */
const char *session_way_out(int error)
{
	switch (error) {
	case -ENOMEM:
		return is_limited(RLIMIT_DATA) ? "; try a smaller -m, or: ulimit -d unlimited"
		                               : "; try a smaller -m, or: ulimit -v unlimited";
	case -EAGAIN:
		if (sched_getscheduler(0) == SCHED_DEADLINE)
			return "; who runs by SCHED_DEADLINE may start nothing without: chrt -R";
		return "; this user or container may have no more processes; raise "
		       "ulimit -u, or the limit of pids of its cgroup";
	case -EPERM:
	case -ENOSYS:
		return "; a filter of system calls (a container's?) or an old kernel refuses one "
		       "that recording takes; start the container with --security-opt "
		       "seccomp=unconfined";
	default:
		return "";
	}
}

static int setup_failed(int error)
{
	struct advice advice = {ADVICE_NONE};
	struct permission permission;
	char line[WHY_SIZE];

	permission_read(&permission);
	if (error == -EMFILE)
		advice = permission_advise(&permission, PERMISSION_FILES, 2 * permission.nofile);
	advice_line(&advice, line, sizeof(line));
	say("cannot start recording: %s%s", *line ? line : strerror(-error),
	    session_way_out(error));
	return EXIT_ADAPTRACE;
}

/* Lets the command go, and records. */
static int run_launched(struct session *s)
{
	int error = launch_go(&s->launch);

	if (error) {
		reap_command(s);
		return exec_failed(s->options, error);
	}
	run(s);
	return finish(s);
}

static int record_launched(struct session *s)
{
	const pid_t pid = s->launch.pid;
	int error = 0;

	if (s->options->wide ? session_open_wide(s) : session_open_sampler(s, &pid, 1))
		return EXIT_ADAPTRACE;
	/*
	 * With inherited events the target had better be none that has the ones we hold: they cost
	 * it more at a context switch, and alone would not tell their total at its end.
	 */
	if (s->way == SAMPLER_LADDER)
		error = launch_replace(&s->launch);
	s->target_fd = s->launch.pidfd;
	if (!error && !s->options->wide)
		error = tasks_add_forked(&s->tasks, s->launch.pid);
	if (!error)
		error = session_start(s);
	if (error)
		return setup_failed(error);
	return run_launched(s);
}

/* What runs already. */
static int record_running(struct session *s)
{
	int error;

	s->target_fd = -1;
	if (s->options->wide ? session_open_wide(s) : session_attach(s))
		return EXIT_ADAPTRACE;
	error = session_start(s);
	if (error)
		return setup_failed(error);
	if (s->options->until)
		return run_launched(s);
	run(s);
	return finish(s);
}

static void close_session(struct session *s)
{
	launch_cancel(&s->launch);
	sampler_close(s->sampler);
	cgroup_remove(&s->cgroup);
	calls_close(s->calls);
	tasks_fini(&s->tasks);
	unwinder_free(s->unwinder);
	module_table_free(s->modules);
	hmb_free(s->hmb);
	tables_free(s->tables);
	free(s->sources);
	/* Signals stay blocked: one that came late must not take the exit status away. */
	free(s);
}

/* Says why where it cannot be had. */
static bool find_library(char library[PATH_MAX])
{
	int error = preload_path(library);

	if (error == -EINVAL)
		say("cannot preload '%s': its path has a blank or a colon; install "
		    "adaptrace elsewhere, or record without --mpi",
		    library);
	else if (error)
		say("the library for MPI, libadaptrace-mpi.so, is not where adaptrace is "
		    "installed; install it, or record without --mpi");
	return !error;
}

/* Forks the target, in an environment that brings it to us where its calls are wanted. */
static int prepare_target(struct session *s, const sigset_t *mask, const char *library)
{
	char **own = launch_environment(), **environment = own;
	int error;

	if (own && s->options->calls) {
		s->calls = calls_open();
		environment = s->calls ? calls_environment(s->calls, own, library) : NULL;
	}
	error = environment ? launch_prepare(&s->launch, to_launch(s->options), environment, mask,
	                                     s->cgroup.fd)
	                    : -errno;
	if (environment != own)
		free(environment);
	free(own);
	return error;
}

int session_run(const struct options *options, const sigset_t *mask)
{
	char library[PATH_MAX];
	struct session *s;
	int error, status;

	if (options->calls && !find_library(library))
		return EXIT_ADAPTRACE;
	s = calloc(1, sizeof(*s));
	if (!s)
		return setup_failed(-ENOMEM);
	s->options = options;
	s->cgroup.fd = -1;
	error = open_signals(s);
	if (!error)
		session_choose_way(s);
	if (!error && to_launch(options))
		error = prepare_target(s, mask, library);
	if (!error) {
		session_join_cgroup(s);
		session_note_cores(s);
		session_choose_counters(s);
		error = session_open(s);
	}
	if (error)
		status = setup_failed(error);
	else
		status = options->command ? record_launched(s) : record_running(s);
	close_session(s);
	return status;
}
