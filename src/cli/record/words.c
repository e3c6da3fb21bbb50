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
 * Returns a remedy for an -errno of setting a recording up, as "; ...", or "". Permission to sample
 * was checked before, so EPERM comes from a filter of system calls.
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

static void say_not_started(const struct notice *n)
{
	struct advice advice = {ADVICE_NONE};
	struct permission permission;
	char line[WHY_SIZE];

	permission_read(&permission);
	if (n->err == -EMFILE)
		advice = permission_advise(&permission, PERMISSION_FILES, 2 * permission.nofile);
	advice_line(&advice, line, sizeof(line));
	say("cannot start recording: %s%s", *line ? line : strerror(-n->err), remedy(n->err));
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

static void say_not_executed(const struct record_config *config, const struct notice *n)
{
	char **argv = config->command ?: config->until;

	say("cannot execute '%s': %s%s", argv[0], strerror(-n->err),
	    way_to_execute(config, argv, n->err));
}

static void say_slower(const struct record_config *config, const struct notice *n)
{
	char rate[TEXT_SIZE];

	text_rate(rate, n->nr, TRACE_NS);
	say("'%s' is sampled at %s, and not as asked for: that might cost more than %g %% "
	    "of the time, which --max-overhead 0 permits",
	    n->text, rate, 100 * config->max_overhead);
}

static void say_history_slower(const struct record_config *config, const struct notice *n)
{
	char rate[TEXT_SIZE];

	text_rate(rate, n->nr, TRACE_NS);
	say("the history has %s of samples, and not %g Hz: sampling begins no faster, see -F and "
	    "--max-overhead",
	    rate, config->history.hz);
}

/* Returns MB that would do. */
static size_t memory_for(const struct record_config *config, const struct notice *n)
{
	const double factor = (double)n->total / (double)n->nr;

	return ((size_t)((double)config->budget * factor) >> 20) + 1;
}

static void say_history_short(const struct record_config *config, const struct notice *n)
{
	char fits[TEXT_SIZE], wanted[TEXT_SIZE];

	text_quantity(fits, (double)n->nr, TRACE_NS);
	text_quantity(wanted, (double)n->total, TRACE_NS);
	say("where all CPUs are busy, about %s of history fit, and not %s; -m %zuM would hold it",
	    fits, wanted, memory_for(config, n));
}

static void say_history_cut(const struct notice *n)
{
	char rate[TEXT_SIZE];

	text_rate(rate, n->nr, TRACE_NS);
	if (n->nr)
		say("sampling cost too much: the history has %s of samples in the end", rate);
	else
		say("sampling cost too much: the history has fewer samples than at first");
}

static void say_history_full(const struct record_config *config, const struct notice *n)
{
	char held[TEXT_SIZE], wanted[TEXT_SIZE];

	text_quantity(held, (double)n->nr, TRACE_NS);
	text_quantity(wanted, (double)n->total, TRACE_NS);
	say("the history held the %s of %s at times, and not of %s: their memory was used up; -m "
	    "%zuM would hold them",
	    n->text, held, wanted, memory_for(config, n));
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

/* Prints the whole path: recover finds a bare name in one folder alone, which may have gone. */
static void say_kept(const struct record_config *config, const struct notice *n)
{
	say("cannot write '%s': %s; it is kept in memory, and saved by: adaptrace recover "
	    "-o ANOTHER.atr '%s'",
	    config->output, new_file_error(n->err), config->place);
}

static void say_text(const struct notice *n)
{
	say("%s", n->text);
}

static void say_not_sampling(const struct notice *n)
{
	say("cannot start sampling: %s", strerror(-n->err));
}

static void say_no_cgroup(const struct record_config *config, const struct notice *n)
{
	say("cannot sample cgroup '%s': %s%s", config->cgroup, strerror(-n->err),
	    n->err == -ENOENT ? "; systemd-cgls shows what there is" : "");
}

static void say_of_advice(const struct notice *n)
{
	say_advice("", &n->advice);
}

static void say_no_counters(const struct notice *n)
{
	say_advice("recording without --counters: ", &n->advice);
}

static void say_no_library(const struct notice *n)
{
	if (n->err == -EINVAL)
		say("cannot preload '%s': its path has a blank or a colon; install adaptrace "
		    "elsewhere, or record without --mpi",
		    n->text);
	else
		say("the library for MPI, libadaptrace-mpi.so, is not where adaptrace is "
		    "installed; install it, or record without --mpi");
}

static void say_signal_refused(const struct record_config *config, const struct notice *n)
{
	say("not permitted to pass SIG%s on to '%s', which runs as another user: the recording "
	    "ends, and it runs on",
	    sigabbrev_np((int)n->nr), config->command[0]);
}

static void say_exec_stalled(const struct record_config *config, const struct notice *n)
{
	(void)n;
	say("'%s' has not started: its file system does not answer; its process is left behind",
	    config->command[0]);
}

static void say_not_listed(const struct notice *n)
{
	say("cannot attach to process %d: %s", (int)n->pid, strerror(-n->err));
}

static void say_not_attached(const struct notice *n)
{
	say("cannot attach to process %d: %s%s", (int)n->pid, strerror(-n->err), remedy(n->err));
}

static void say_process_ended(const struct notice *n)
{
	say("process %d has ended; only its parent has still to see that", (int)n->pid);
}

static void say_process_thread(const struct notice *n)
{
	say("%d is a thread; give its process: -p %d", (int)n->pid, (int)n->nr);
}

static void say_process_missing(const struct notice *n)
{
	say("no process %d: %s", (int)n->pid, strerror(-n->err));
}

static void say_code_hidden(const struct notice *n)
{
	say("not permitted to see what code process %d has: it is [unknown]; root may, or who has "
	    "CAP_SYS_PTRACE",
	    (int)n->pid);
}

static void say_namespace(const struct notice *n)
{
	say("processes outside of this PID namespace are shown as one, %s; a container that has "
	    "the host's (--pid=host) tells them apart",
	    n->text);
}

static void say_other_recorder(const struct record_config *config, const struct notice *n)
{
	(void)n;
	say("another recorder is at work on '%s'; -o names another place", config->output);
}

static void say_leftover(const struct record_config *config, const struct notice *n)
{
	(void)n;
	say("an earlier recording of '%s' was never written; when this one is done, it is saved "
	    "by: adaptrace recover '%s'",
	    config->output, config->output);
}

/* One of the ranks reports it for all. */
static void say_leftovers_beside(const struct record_config *config, const struct notice *n)
{
	(void)n;
	if (config->rank <= 0)
		leftovers_say_beside(config->output);
}

static void say_name_taken(const struct record_config *config, const struct notice *n)
{
	(void)n;
	say("another recorder, or recover, writes '%s': this one would leave nothing to recover "
	    "if it was killed; -o names another place",
	    config->output);
}

static void say_names_skipped(const struct notice *n)
{
	say("names in %llu file%s were skipped; adaptrace report --symbols looks them up",
	    (unsigned long long)n->nr, plural(n->nr));
}

static void say_names_missing(const struct notice *n)
{
	say("names in %llu file%s are missing, whose file system does not answer; when it does, "
	    "adaptrace report --symbols looks them up",
	    (unsigned long long)n->nr, plural(n->nr));
}

static void say_elsewhere(const struct record_config *config, const struct notice *n)
{
	say("cannot write '%s': %s; the trace is '%s' instead", config->output,
	    new_file_error(n->err), n->text);
}

static void say_lost(const struct record_config *config, const struct notice *n)
{
	say("cannot write '%s': %s; the trace is lost", config->output, new_file_error(n->err));
}

static void say_beside(const struct record_config *config, const struct notice *n)
{
	say("'%s' was taken meanwhile, and stays as it is: the trace is '%s'", config->output,
	    n->text);
}

/* Topics of which record_warning() has the words are missing. */
static const struct notice_words words[NR_NOTICES] = {
	[NOTICE_NOT_STARTED] = {.say = say_not_started},
	[NOTICE_SAMPLER] = {.say = say_text},
	[NOTICE_NOT_SAMPLING] = {.say = say_not_sampling},
	[NOTICE_NO_LIBRARY] = {.say = say_no_library},
	[NOTICE_NOT_EXECUTED] = {.say_for = say_not_executed},
	[NOTICE_OTHER_RECORDER] = {.say_for = say_other_recorder},
	[NOTICE_NO_CGROUP] = {.say_for = say_no_cgroup},
	[NOTICE_NOT_LISTED] = {.say = say_not_listed},
	[NOTICE_NOT_ATTACHED] = {.say = say_not_attached},
	[NOTICE_PROCESS_ENDED] = {.say = say_process_ended},
	[NOTICE_PROCESS_MISSING] = {.say = say_process_missing},
	[NOTICE_PROCESS_THREAD] = {.say = say_process_thread},
	[NOTICE_ADVICE] = {.say = say_of_advice},
	[NOTICE_NO_COUNTERS] = {.say = say_no_counters},
	[NOTICE_CODE_HIDDEN] = {.say = say_code_hidden},
	[NOTICE_CHILDREN] = {.say = say_children},
	[NOTICE_THREADS_MISSED] = {"threads start faster than they can be attached to: some may be "
                                   "missing"},
	[NOTICE_NAMESPACE] = {.say = say_namespace},
	[NOTICE_SLOWER] = {.say_for = say_slower},
	[NOTICE_HISTORY_SLOWER] = {.say_for = say_history_slower},
	[NOTICE_HISTORY_SHORT] = {.say_for = say_history_short},
	[NOTICE_HISTORY_CUT] = {.say = say_history_cut},
	[NOTICE_HISTORY_FULL] = {.say_for = say_history_full},
	[NOTICE_LEFTOVER] = {.say_for = say_leftover},
	[NOTICE_TABLES] = {.say_for = say_leftovers_beside},
	[NOTICE_NAME_TAKEN] = {.say_for = say_name_taken},
	[NOTICE_UNRECOVERABLE] = {.say = say_unrecoverable},
	[NOTICE_SIGNAL_REFUSED] = {.say_for = say_signal_refused},
	[NOTICE_EXEC_STALLED] = {.say_for = say_exec_stalled},
	[NOTICE_NAMES_SKIPPED] = {.say = say_names_skipped},
	[NOTICE_NAMES_MISSING] = {.say = say_names_missing},
	[NOTICE_KEPT] = {.say_for = say_kept},
	[NOTICE_ELSEWHERE] = {.say_for = say_elsewhere},
	[NOTICE_LOST] = {.say_for = say_lost},
	[NOTICE_BESIDE] = {.say_for = say_beside},
};

static bool has_words(const struct notice_words *of)
{
	return of->text || of->say || of->say_for;
}

void record_say(const struct record_config *config, const struct notice *n)
{
	const struct notice_words *of =
		has_words(&words[n->topic]) ? &words[n->topic] : record_warning(n->topic);

	if (of->text)
		say("%s", of->text);
	else if (of->say)
		of->say(n);
	else if (of->say_for)
		of->say_for(config, n);
}
