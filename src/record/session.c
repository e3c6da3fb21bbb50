#include "record/session.h"

#include "record/calls/calls_socket.h"
#include "record/save.h"
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

/* A signal ends a target within this time, unless its exec() waits for a file system. */
#define EXEC_PATIENCE_MS 2000

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
		session_notice(s, (struct notice){NOTICE_SIGNAL_REFUSED,
		                                  .nr = (uint64_t)s->refused_signal});
		return 128 + s->refused_signal;
	}
	if (s->early_signal && !launch_ends(&s->launch, EXEC_PATIENCE_MS)) {
		session_notice(s, (struct notice){NOTICE_EXEC_STALLED});
		return 128 + s->early_signal;
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

/* Writes the trace and reports it. 0 or -errno. */
static int save(struct session *s)
{
	struct session_state state;
	uint64_t bytes = 0;
	int err;

	if (!s->started)
		session_note_early_end(s);
	summary_totals(s);
	err = save_trace(s, &bytes);
	s->saved = true;
	if (err)
		return err;
	tables_note_saved(s->tables);
	session_warn(s);
	session_state_read(s, &state);
	state.lost = sampler_all_lost(s->sampler);
	if (s->watcher)
		s->watcher->saved(s->watcher->arg, &state, s->beside ?: s->config->output, bytes);
	return 0;
}

/*
 * Writes the trace while the command goes on, and waits for its end. Nothing that it does meanwhile
 * is recorded.
 */
static int finish_stopped(struct session *s)
{
	int err = save(s);

	sampler_close(s->sampler);
	s->sampler = NULL;
	calls_close(s->calls);
	s->calls = NULL;
	session_wait(s);
	return err ? EXIT_ADAPTRACE : reap_command(s);
}

static int finish(struct session *s)
{
	int exit_status;

	if (s->stopped && s->config->command)
		return finish_stopped(s);
	exit_status = reap_command(s);
	session_allow_stop(s);
	session_forget_signals(s);
	return save(s) ? EXIT_ADAPTRACE : exit_status;
}

static int setup_failed(const struct session *s, int err)
{
	session_notice(s, (struct notice){NOTICE_NOT_STARTED, err});
	return EXIT_ADAPTRACE;
}

/* Lets the command go, and records. */
static int run_launched(struct session *s)
{
	int err = 0;

	if (s->config->holds)
		calls_hold(s->calls);
	if (s->config->waits)
		pause_start(s);
	else
		err = launch_go(&s->launch);
	if (!err) {
		session_loop(s);
		err = launch_failure(&s->launch);
	}
	if (!err)
		return finish(s);
	reap_command(s);
	session_notice(s, (struct notice){NOTICE_NOT_EXECUTED, err});
	return err == -ENOENT ? 127 : 126;
}

static int start(struct session *s)
{
	int err = pause_open(s);

	if (!err)
		err = windows_open(s);
	if (!err)
		err = control_open(&s->control, tables_image_file(s->tables),
		                   tables_memory_fd(s->tables));
	if (!err)
		err = session_open_loop(s);
	return err ? err : session_start(s);
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
	if (!err && !s->config->wide)
		err = tasks_add_forked(&s->tasks, s->launch.pid);
	if (!err)
		err = start(s);
	if (err)
		return setup_failed(s, err);
	return run_launched(s);
}

/* Records processes that run already. */
static int record_running(struct session *s)
{
	int err;

	if (s->config->wide ? session_open_wide(s) : session_attach(s))
		return EXIT_ADAPTRACE;
	err = start(s);
	if (err)
		return setup_failed(s, err);
	if (s->config->until)
		return run_launched(s);
	session_loop(s);
	return finish(s);
}

static void close_session(struct session *s)
{
	control_close(&s->control);
	pause_close(s);
	windows_close(s);
	launch_cancel(&s->launch);
	sampler_close(s->sampler);
	cgroup_remove(&s->cgroup);
	calls_close(s->calls);
	tasks_fini(&s->tasks);
	adoption_fini(&s->adoption);
	unwinder_free(s->stack.unwinder);
	module_table_free(s->modules);
	hmb_free(s->hmb);
	tables_free(s->tables);
	free(s->cpu_events);
	free(s->beside);
	free(s->own_config);
	/* Signals stay blocked: one that came late must not take the exit status away. */
	free(s);
}

/* Returns the environment that brings the target's calls to us, made of this one. NULL: errno. */
static char **calls_wanted_environment(struct session *s, char **own)
{
	const struct call_library *library = &call_libraries[CALLS_MPI];
	char path[PATH_MAX];
	int err = preload_path(path, library);

	if (err) {
		session_notice(s, (struct notice){NOTICE_NO_LIBRARY, err, .text = path});
		errno = EEXIST;
		return NULL;
	}
	own_code_find(&s->stack.own, path);
	s->calls = calls_open();
	return s->calls ? calls_environment(s->calls, own, library, path, s->config->calls.openmp)
	                : NULL;
}

/* Forks the target, in an environment that brings it to us where its calls are wanted. */
static int prepare_target(struct session *s)
{
	char **own = launch_environment(), **environment = own;
	int err;

	if (own && s->config->calls.wanted)
		environment = calls_wanted_environment(s, own);
	err = environment ? launch_prepare(&s->launch, to_launch(s->config), environment,
	                                   &s->config->mask, s->cgroup.fd)
	                  : -errno;
	if (environment != own)
		free(environment);
	free(own);
	return err;
}

/* Starts the command, which waits, and opens all that does not depend on who is sampled. */
static int open_all(struct session *s)
{
	int err = wakers_open_signals(&s->wakers);

	if (!err)
		session_choose_way(s);
	if (!err && to_launch(s->config))
		err = prepare_target(s);
	if (err)
		return err;
	session_join_cgroup(s);
	session_note_cores(s);
	session_choose_counters(s);
	return session_open(s);
}

/* Spare events are behind the others, and off. */
static int take_config(struct session *s, const struct record_config *config)
{
	struct record_config *own = malloc(sizeof(*own));

	if (!own)
		return -ENOMEM;
	*own = *config;
	session_init_events(s, config->nr_events);
	for (unsigned i = 0; i < config->nr_spares && own->nr_events < SAMPLER_MAX_EVENTS; i++)
		own->events[own->nr_events++] = config->spares[i];
	s->config = s->own_config = own;
	return 0;
}

int session_run(const struct record_config *config, const struct session_watcher *watcher)
{
	const struct notice no_memory = {NOTICE_NOT_STARTED, -ENOMEM};
	struct session *s = calloc(1, sizeof(*s));
	int err, status;

	if (!s || take_config(s, config)) {
		watcher->notice(watcher->arg, &no_memory);
		free(s);
		return EXIT_ADAPTRACE;
	}
	s->watcher = watcher;
	s->cgroup.fd = s->attached_fd = s->control.poll_fd = -1;
	err = open_all(s);
	if (err)
		status = err == -EEXIST ? EXIT_ADAPTRACE : setup_failed(s, err); /* told already */
	else
		status = config->command ? record_launched(s) : record_running(s);
	close_session(s);
	return status;
}
