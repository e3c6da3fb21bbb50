#include "record/session.h"

#include "record/calls/preload_path.h"
#include "record/save.h"
#include "cli/say.h"
#include "cli/record_status.h"
#include "record/summary.h"
#include "perf/machine/permission.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_ADAPTRACE 125

/* Returns the command to start: the target, or the command that ends the recording. NULL: none. */
static char **to_launch(const struct record_config *config)
{
	return config->command ? config->command : config->until;
}

/*
 * The command's status, which the trace has as well if it is what was recorded. Who would wait for
 * no more than its end does not outlive the recording, and has no say where something else ended
 * it: Ctrl-C kills such a command, too.
 */
static int reap_command(struct session *s)
{
	struct trace_run *run = tables_run(s->tables);
	int status, exit_status;

	if (!s->launch.pid)
		return 0;
	if (s->refused_signal) {
		say("not permitted to pass SIG%s on to '%s', which runs as another user: the "
		    "recording ends, and it runs on",
		    sigabbrev_np(s->refused_signal), s->config->command[0]);
		return 128 + s->refused_signal;
	}
	if (s->config->until && (s->over || !s->until_ended)) {
		kill(s->launch.pid, SIGTERM);
		return 0;
	}
	while (waitpid(s->launch.pid, &status, 0) < 0 && errno == EINTR)
		continue;
	exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (s->config->command) {
		run->exit_status = exit_status;
		run->flags |= WIFSIGNALED(status) ? TRACE_RUN_KILLED : 0;
	}
	return exit_status;
}

/* --- one recording ---------------------------------------------------------------------------- */

static const char *way_to_execute(const struct record_config *config, char **argv, int err)
{
	const char *command = argv[0];

	if (err == -EACCES)
		return "; is it an executable file?";
	if (err != -ENOENT)
		return "";
	if (strchr(command, ' ') && !argv[1])
		return "; leave out the quotes around the whole command";
	if (strchr(command, '/'))
		return access(command, F_OK) ? "" : "; the interpreter that it names is missing";
	return command == config->no_mode
	               ? "; it is in no folder of PATH, and -g takes dwarf, fp, lbr or none"
	               : "; is it in PATH?";
}

static int exec_failed(const struct record_config *config, int err)
{
	char **argv = to_launch(config);

	say("cannot execute '%s': %s%s", argv[0], strerror(-err),
	    way_to_execute(config, argv, err));
	return err == -ENOENT ? 127 : 126;
}

static int finish(struct session *s)
{
	int exit_status = reap_command(s);
	uint64_t bytes = 0;

	session_allow_stop(s);
	session_forget_signals(s);
	if (!s->started)
		session_note_early_end(s);
	summary_totals(s);
	if (save_trace(s, &bytes))
		return EXIT_ADAPTRACE;
	session_warn(s);
	if (!s->config->quiet)
		status_final(s, bytes);
	return exit_status;
}

static bool is_limited(int resource)
{
	struct rlimit limit;

	return !getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

/* The kernel itself refuses nothing of what is left to who may sample. */
const char *session_remedy(int err)
{
	switch (err) {
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

static int setup_failed(int err)
{
	struct advice advice = {ADVICE_NONE};
	struct permission permission;
	char line[WHY_SIZE];

	permission_read(&permission);
	if (err == -EMFILE)
		advice = permission_advise(&permission, PERMISSION_FILES, 2 * permission.nofile);
	advice_line(&advice, line, sizeof(line));
	say("cannot start recording: %s%s", *line ? line : strerror(-err), session_remedy(err));
	return EXIT_ADAPTRACE;
}

/* Lets the command go, and records. */
static int run_launched(struct session *s)
{
	int err = launch_go(&s->launch);

	if (err) {
		reap_command(s);
		return exec_failed(s->config, err);
	}
	session_loop(s);
	return finish(s);
}

static int record_launched(struct session *s)
{
	const pid_t pid = s->launch.pid;
	int err = 0;

	if (s->config->wide ? session_open_wide(s) : session_open_sampler(s, &pid, 1))
		return EXIT_ADAPTRACE;
	/*
	 * With inherited events the target had better be none that has the ones we hold: they cost
	 * it more at a context switch, and alone would not tell their total at its end.
	 */
	if (s->sampling.way == SAMPLER_LADDER)
		err = launch_replace(&s->launch);
	s->target_fd = s->launch.pidfd;
	if (!err && !s->config->wide)
		err = tasks_add_forked(&s->tasks, s->launch.pid);
	if (!err)
		err = session_start(s);
	if (err)
		return setup_failed(err);
	return run_launched(s);
}

/* Records processes that run already. */
static int record_running(struct session *s)
{
	int err;

	s->target_fd = -1;
	if (s->config->wide ? session_open_wide(s) : session_attach(s))
		return EXIT_ADAPTRACE;
	err = session_start(s);
	if (err)
		return setup_failed(err);
	if (s->config->until)
		return run_launched(s);
	session_loop(s);
	return finish(s);
}

static void close_session(struct session *s)
{
	launch_cancel(&s->launch);
	sampler_close(s->sampler);
	cgroup_remove(&s->cgroup);
	calls_close(s->calls);
	tasks_fini(&s->tasks);
	unwinder_free(s->stack.unwinder);
	module_table_free(s->modules);
	hmb_free(s->hmb);
	tables_free(s->tables);
	free(s->sources);
	stderr_writer_close(&s->messages);
	free(s->beside);
	/* Signals stay blocked: one that came late must not take the exit status away. */
	free(s);
}

/* Says why where it cannot be had. */
static bool find_library(char library[PATH_MAX])
{
	int err = preload_path(library);

	if (err == -EINVAL)
		say("cannot preload '%s': its path has a blank or a colon; install "
		    "adaptrace elsewhere, or record without --mpi",
		    library);
	else if (err)
		say("the library for MPI, libadaptrace-mpi.so, is not where adaptrace is "
		    "installed; install it, or record without --mpi");
	return !err;
}

/* Forks the target, in an environment that brings it to us where its calls are wanted. */
static int prepare_target(struct session *s, const sigset_t *mask, const char *library)
{
	char **own = launch_environment(), **environment = own;
	int err;

	if (own && s->config->calls.wanted) {
		s->calls = calls_open();
		environment = s->calls ? calls_environment(s->calls, own, library) : NULL;
	}
	err = environment ? launch_prepare(&s->launch, to_launch(s->config), environment, mask,
	                                   s->cgroup.fd)
	                  : -errno;
	if (environment != own)
		free(environment);
	free(own);
	return err;
}

int session_run(const struct record_config *config, const sigset_t *mask)
{
	char library[PATH_MAX];
	struct session *s;
	int err, status;

	if (config->calls.wanted && !find_library(library))
		return EXIT_ADAPTRACE;
	s = calloc(1, sizeof(*s));
	if (!s)
		return setup_failed(-ENOMEM);
	s->config = config;
	s->cgroup.fd = -1;
	err = wakers_open_signals(&s->wakers);
	stderr_writer_open(&s->messages);
	if (!err)
		session_choose_way(s);
	if (!err && to_launch(config))
		err = prepare_target(s, mask, library);
	if (!err) {
		session_join_cgroup(s);
		session_note_cores(s);
		session_choose_counters(s);
		err = session_open(s);
	}
	if (err)
		status = err == -EEXIST ? EXIT_ADAPTRACE : setup_failed(err); /* told already */
	else
		status = config->command ? record_launched(s) : record_running(s);
	close_session(s);
	return status;
}
