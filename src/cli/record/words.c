#include "cli/record/words.h"

#include "cli/leftovers.h"
#include "cli/say.h"
#include "base/new_file.h"
#include "output/text/text.h"
#include "perf/machine/permission.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static bool is_limited(int resource)
{
	struct rlimit limit;

	return !getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

/*
 * Returns a remedy where a recording cannot be set up because of this -errno: "; ..." or "". The
 * kernel itself refuses nothing of what is left to who may sample.
 */
static const char *remedy(int err)
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

static void say_not_started(int err)
{
	struct advice advice = {ADVICE_NONE};
	struct permission permission;
	char line[WHY_SIZE];

	permission_read(&permission);
	if (err == -EMFILE)
		advice = permission_advise(&permission, PERMISSION_FILES, 2 * permission.nofile);
	advice_line(&advice, line, sizeof(line));
	say("cannot start recording: %s%s", *line ? line : strerror(-err), remedy(err));
}

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

static void say_not_executed(const struct record_config *config, int err)
{
	char **argv = config->command ?: config->until;

	say("cannot execute '%s': %s%s", argv[0], strerror(-err),
	    way_to_execute(config, argv, err));
}

static void say_slower(const struct record_config *config, const struct notice *n)
{
	char rate[TEXT_SIZE];

	text_rate(rate, n->nr, TRACE_NS);
	say("'%s' is sampled at %s, and not as asked for: that might cost more than %g %% "
	    "of the time, which --max-overhead 0 permits",
	    n->text, rate, 100 * config->max_overhead);
}

static void say_children(const struct notice *n)
{
	bool one = n->nr == 1;

	say("%llu process%s that %s started before %s not sampled; "
	    "-p %s,$(pgrep -d, -P %s) samples %s, too",
	    (unsigned long long)n->nr, one ? "" : "es", n->text, one ? "is" : "are", n->text,
	    n->text, one ? "it" : "them");
}

static void say_unrecoverable(const struct notice *n)
{
	if (!say_advice("", &n->advice))
		say("no file can be made in /dev/shm: a killed recorder would leave nothing to "
		    "recover");
}

/* The whole name is told: the folder may have gone, and recover looks for the name alone. */
static void say_kept(const struct record_config *config, const struct notice *n)
{
	say("cannot write '%s': %s; it is kept in memory, and saved by: adaptrace recover "
	    "-o ANOTHER.atr '%s'",
	    config->output, new_file_error(n->err), config->place);
}

/* --- by what they are about ------------------------------------------------------------------- */

static void say_of_trace(const struct record_config *config, const struct notice *n)
{
	const char *output = config->output;

	switch (n->topic) {
	case NOTICE_NAMES_SKIPPED:
		say("names in %llu file%s were skipped; adaptrace report --symbols looks them up",
		    (unsigned long long)n->nr, plural(n->nr));
		break;
	case NOTICE_NAMES_MISSING:
		say("names in %llu file%s are missing, whose file system does not answer; when it "
		    "does, adaptrace report --symbols looks them up",
		    (unsigned long long)n->nr, plural(n->nr));
		break;
	case NOTICE_KEPT:
		say_kept(config, n);
		break;
	case NOTICE_ELSEWHERE:
		say("cannot write '%s': %s; the trace is '%s' instead", output,
		    new_file_error(n->err), n->text);
		break;
	case NOTICE_LOST:
		say("cannot write '%s': %s; the trace is lost", output, new_file_error(n->err));
		break;
	case NOTICE_BESIDE:
		say("'%s' was taken meanwhile, and stays as it is: the trace is '%s'", output,
		    n->text);
		break;
	default:
		record_warn(config, n);
	}
}

static void say_of_memory(const struct record_config *config, const struct notice *n)
{
	switch (n->topic) {
	case NOTICE_OTHER_RECORDER:
		say("another recorder is at work on '%s'; -o names another place", config->output);
		break;
	case NOTICE_LEFTOVER:
		say("an earlier recording of '%s' was never written; when this one is done, it is "
		    "saved by: adaptrace recover '%s'",
		    config->output, config->output);
		break;
	case NOTICE_TABLES:
		if (config->rank <= 0) /* one of the ranks tells it for all */
			leftovers_say_beside(config->output);
		break;
	case NOTICE_NAME_TAKEN:
		say("another recorder, or recover, writes '%s': this one would leave nothing to "
		    "recover if it was killed; -o names another place",
		    config->output);
		break;
	case NOTICE_UNRECOVERABLE:
		say_unrecoverable(n);
		break;
	default:
		say_of_trace(config, n);
	}
}

static void say_of_processes(const struct record_config *config, const struct notice *n)
{
	const int pid = (int)n->pid;

	switch (n->topic) {
	case NOTICE_NOT_LISTED:
		say("cannot attach to process %d: %s", pid, strerror(-n->err));
		break;
	case NOTICE_NOT_ATTACHED:
		say("cannot attach to process %d: %s%s", pid, strerror(-n->err), remedy(n->err));
		break;
	case NOTICE_PROCESS_ENDED:
		say("process %d has ended; only its parent has still to see that", pid);
		break;
	case NOTICE_PROCESS_THREAD:
		say("%d is a thread; give its process: -p %d", pid, (int)n->nr);
		break;
	case NOTICE_PROCESS_MISSING:
		say("no process %d: %s", pid, strerror(-n->err));
		break;
	case NOTICE_CODE_HIDDEN:
		say("not permitted to see what code process %d has: it is [unknown]; root may, or "
		    "who has CAP_SYS_PTRACE",
		    pid);
		break;
	case NOTICE_CHILDREN:
		say_children(n);
		break;
	case NOTICE_THREADS_MISSED:
		say("threads start faster than they can be attached to: some may be missing");
		break;
	case NOTICE_NAMESPACE:
		say("processes outside of this PID namespace are one with idle CPUs, as %s; a "
		    "container that has the host's (--pid=host) tells them apart",
		    n->text);
		break;
	default:
		say_of_memory(config, n);
	}
}

static void say_of_command(const struct record_config *config, const struct notice *n)
{
	switch (n->topic) {
	case NOTICE_NO_LIBRARY:
		if (n->err == -EINVAL)
			say("cannot preload '%s': its path has a blank or a colon; install "
			    "adaptrace elsewhere, or record without --mpi",
			    n->text);
		else
			say("the library for MPI, libadaptrace-mpi.so, is not where adaptrace is "
			    "installed; install it, or record without --mpi");
		break;
	case NOTICE_NOT_EXECUTED:
		say_not_executed(config, n->err);
		break;
	case NOTICE_SIGNAL_REFUSED:
		say("not permitted to pass SIG%s on to '%s', which runs as another user: the "
		    "recording ends, and it runs on",
		    sigabbrev_np((int)n->nr), config->command[0]);
		break;
	default:
		say_of_processes(config, n);
	}
}

void record_say(const struct record_config *config, const struct notice *n)
{
	switch (n->topic) {
	case NOTICE_NOT_STARTED:
		say_not_started(n->err);
		break;
	case NOTICE_SAMPLER:
		say("%s", n->text);
		break;
	case NOTICE_NOT_SAMPLING:
		say("cannot start sampling: %s", strerror(-n->err));
		break;
	case NOTICE_NO_CGROUP:
		say("cannot sample cgroup '%s': %s%s", config->cgroup, strerror(-n->err),
		    n->err == -ENOENT ? "; systemd-cgls shows what there is" : "");
		break;
	case NOTICE_ADVICE:
		say_advice("", &n->advice);
		break;
	case NOTICE_NO_COUNTERS:
		say_advice("recording without --counters: ", &n->advice);
		break;
	case NOTICE_SLOWER:
		say_slower(config, n);
		break;
	default:
		say_of_command(config, n);
	}
}
