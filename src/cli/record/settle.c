#include "cli/record/settle.h"

#include "cli/record/counters.h"
#include "cli/record/events.h"
#include "cli/output_name.h"
#include "record/period.h"
#include "record/memory_room.h"
#include "cli/say.h"
#include "hmb/call.h"
#include "base/new_file.h"
#include "perf/machine/machine.h"
#include "perf/machine/permission.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_user_only(const struct event *event)
{
	struct permission permission;
	struct advice advice;
	char line[WHY_SIZE];

	permission_read(&permission);
	advice = permission_advise(&permission, PERMISSION_KERNEL, 0);
	advice_line(&advice, line, sizeof(line));
	say("not permitted to sample the kernel: user code only (%s)%s%s", event->name,
	    *line ? "; " : "", line);
}

/*
 * The default event gives way to what is permitted and there, with a line; an event that was asked
 * for by name does not.
 */
static int settle_event(struct record_config *config, struct event *event)
{
	char why[WHY_SIZE];
	int err;

	if (event->freq && event->unit == EVENT_COUNT) {
		say("freq= is for clocks, not for '%s'; try period=N", event->name);
		return -EINVAL;
	}
	if (event->freq > FREQUENCY_MAX || event->period > PERIOD_MAX) {
		say("impossible %s of '%s'; at most %llu", event->freq ? "frequency" : "period",
		    event->name,
		    event->freq ? (unsigned long long)FREQUENCY_MAX
		                : (unsigned long long)PERIOD_MAX);
		return -EINVAL;
	}
	err = event_probe(event);
	if ((err == -EACCES || err == -EPERM) && event_exclude_kernel(event)) {
		err = event_probe(event);
		if (!err && !config->user_only)
			say_user_only(event);
		config->user_only |= !err;
	}
	if (!err)
		return 0;
	event_explain(event, err, why);
	say("%s", why);
	return -EINVAL;
}

/*
 * Cycles where the machine counts them, as with perf; else the clock of the CPUs. Who asks for a
 * frequency wants a clock, and only clocks can be in step, which ranks that wait for each other
 * need.
 */
static int default_event(struct record_config *config)
{
	char why[WHY_SIZE];
	struct event cycles;
	int err;

	if (config->frequency > 0 || (config->calls.wanted && !config->period))
		return record_add_events(config, "cpu-clock");
	err = event_parse(&cycles, "cycles", why);
	if (!err)
		err = event_probe(&cycles);
	/* Permission is asked for before existence. */
	if ((err == -EACCES || err == -EPERM) && event_exclude_kernel(&cycles))
		err = event_probe(&cycles);
	if (!err)
		return record_add_events(config, "cycles");
	if (config->period) {
		say("-c counts hardware events, and there are none here; try -F, or -e EVENT -c");
		return -EINVAL;
	}
	/* who is refused is told so by the clock */
	if (!config->quiet && err != -EACCES && err != -EPERM && err != -ENOSYS)
		say("no hardware counters here: sampling cpu-clock instead of cycles");
	return record_add_events(config, "cpu-clock");
}

/* Reports and formats know events by their names, the sides that were left to them included. */
static int find_repeated(const struct record_config *config, const char *name, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		if (strcmp(name, config->events[i].name) != 0)
			continue;
		say("cannot sample '%s' twice; give -e %s once", name, name);
		return -EEXIST;
	}
	return 0;
}

bool config_has_clock(const struct record_config *config)
{
	for (unsigned e = 0; e < config->nr_events; e++)
		if (config->events[e].unit == EVENT_NS)
			return true;
	return false;
}

/* -F and -c must be of use to at least one event. */
static int settle_rates(const struct record_config *config)
{
	bool free_event = false, free_clock = false;

	for (unsigned e = 0; e < config->nr_events; e++) {
		const struct event *event = &config->events[e];
		bool is_free = !event->period && !event->freq;

		free_event |= is_free;
		free_clock |= is_free && event->unit == EVENT_NS;
	}
	if (config->frequency > 0 && !config_has_clock(config))
		say("-F is for clocks, not for '%s'; try -c PERIOD", config->events[0].name);
	else if (config->frequency > 0 && !free_clock)
		say("-F is for clocks that name no freq= or period= of their own");
	else if (config->period && !free_event)
		say("-c is for events that name no freq= or period= of their own");
	else
		return 0;
	return -EINVAL;
}

static void settle_period(const struct record_config *config, const struct event *event)
{
	uint64_t asked = event->period || event->freq ? event->period : config->period;
	uint64_t given = period_base(event, config->frequency, config->period);

	if (event->unit == EVENT_NS && asked && given != asked)
		say("the kernel's clocks have no period of %llu ns: sampling '%s' every %llu ns",
		    (unsigned long long)asked, event->name, (unsigned long long)given);
}

/* Branch stacks are there for events of the processor that has them. */
static int settle_branches(struct record_config *config)
{
	const struct advice advice = {ADVICE_NO_BRANCHES};
	struct machine machine;
	char line[WHY_SIZE];

	if (config->stack.mode != TRACE_STACKS_LBR)
		return 0;
	machine_read(&machine);
	config->stack.branches = machine.branches > 0 ? (unsigned)machine.branches : 0;
	for (unsigned e = 0; e < config->nr_events; e++) {
		if (!event_probe_branches(&config->events[e]))
			continue;
		advice_line(&advice, line, sizeof(line));
		say("cannot sample '%s' with -g lbr: %s", config->events[e].name,
		    config->stack.branches ? "only events of the processor have branch stacks; try "
		                             "-g dwarf, or -e cycles"
		                           : line);
		return -EINVAL;
	}
	return 0;
}

/* Resolves the folder of the trace: recovery finds the trace by this name. */
static void find_place(const char *path, char place[PATH_MAX])
{
	char copy[PATH_MAX], name[PATH_MAX], real[PATH_MAX];
	const char *folder;

	snprintf(copy, sizeof(copy), "%s", path);
	snprintf(name, sizeof(name), "%s", path);
	folder = dirname(copy);
	/* Else one above it is closed to us, and it will do from here. */
	if (realpath(folder, real))
		folder = real;
	if (snprintf(place, PATH_MAX, "%s/%s", folder, basename(name)) >= PATH_MAX)
		snprintf(place, PATH_MAX, "%s", path);
}

static void say_no_place(const char *output, int err)
{
	struct permission permission;
	struct advice advice;

	permission_read(&permission);
	advice = permission_advise(&permission, PERMISSION_FILES, 2 * permission.nofile);
	if (err != -EMFILE || !say_advice("cannot start recording: ", &advice))
		say("cannot write to '%s': %s; -o names another place", output,
		    err == -ENOENT ? "its folder does not exist" : new_file_error(err));
}

static int settle_output(struct record_config *config)
{
	const char *pattern = config->output_pattern;
	const char *why = output_name(pattern, config->output);
	int err;

	config->rank = output_rank();
	config->nr_local_ranks = output_nr_local_ranks();
	if (why) {
		say("cannot write to '%s': %s", pattern ? pattern : "", why);
		return -EINVAL;
	}
	/* The place is checked now, and not after hours of recording. */
	err = new_file_settle(config->output, config->settled, sizeof(config->settled));
	if (err)
		say_no_place(config->output, err);
	else
		find_place(config->output, config->place);
	return err;
}

/* Refuses to record without /proc: the kernel's answers would be misunderstood. */
static int settle_proc(void)
{
	const struct advice advice = machine_advise_proc();

	return say_advice("cannot record: ", &advice) ? -ENOENT : 0;
}

/* Reports a missing permission to sample whole CPUs before anything else is tried. */
static int settle_wide(const struct record_config *config)
{
	struct permission permission;
	struct advice advice;

	if (!config->wide)
		return 0;
	permission_read(&permission);
	advice = permission_advise(&permission, PERMISSION_CPU, 0);
	return say_advice(config->cgroup ? "cannot sample a cgroup: "
	                                 : "cannot sample whole CPUs: ",
	                  &advice)
	               ? -EINVAL
	               : 0;
}

/* Later every process would be refused, one by one. */
static int settle_calls(const struct record_config *config)
{
	struct advice advice;

	if (!config->calls.wanted)
		return 0;
	advice = memory_room_for_calls();
	return say_advice(config->calls.mpi ? "cannot record with --mpi: "
	                                    : "cannot record with --openmp: ",
	                  &advice)
	               ? -EFBIG
	               : 0;
}

/* Rejects combinations of options that contradict each other or have no effect. */
static int settle_combination(const struct record_config *config)
{
	const bool running = config->nr_attach || config->wide;
	const struct {
		bool wrong;
		const char *why;
	} rules[] = {
		{!config->command && !running,
	         "nothing to record; try 'adaptrace record ./app', -p PID or -a"},
		{config->command && config->duration,
	         "--duration is for -p, -a, -C and --cgroup; a command ends by itself, or after 10 "
	         "seconds by adaptrace record timeout 10 COMMAND"},
		{config->calls.tuned && !config->calls.wanted,
	         "--calls, --events-share, --events-policy, --events-wait, --polls and "
	         "--scale-trace are for --mpi and --openmp"},
		{(config->waits || config->holds) && !config->command,
	         "--pause-at is for a command"},
		{config->holds && !config->calls.mpi, "--pause-at mpi-init is for --mpi"},
		{config->calls.wanted && running,
	         "--mpi or --openmp, which works from a program's start, excludes -p, -a, -C and "
	         "--cgroup"},
		{config->calls.wanted && config->delay,
	         "--mpi or --openmp, which works from a program's start, excludes --delay"},
		{config->wide && config->nr_attach, "-p and -a, -C or --cgroup exclude each other"},
		{config->frequency > 0 && config->period,
	         "-F and -c exclude each other; for one event write EVENT:freq=HZ or "
	         "EVENT:period=N"},
		{config->wide && config->inherit,
	         "--inherit is for one program, not for -a, -C or --cgroup"},
		{config->stack.engine_given && config->stack.mode != TRACE_STACKS_DWARF,
	         "--unwinder is for -g dwarf: nothing else needs one"},
		{config->stack.max_given && config->stack.mode == TRACE_STACKS_NONE,
	         "--max-stack is for stacks, which -g none leaves out"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].wrong) {
			say("%s", rules[i].why);
			return -EINVAL;
		}
	return 0;
}

/* A rate is of time. */
static int settle_history(const struct record_config *config)
{
	const struct event *event = &config->events[0];

	if (!config->history.asked || event->unit == EVENT_NS)
		return 0;
	say("the history is of '%s', which counts no time; leave out the rate of --history",
	    event->name);
	return -EINVAL;
}

/* Calls of MPI are only summed where --openmp is given alone. */
static void settle_classes(struct calls_options *calls)
{
	if (!calls->mpi && calls->classes == UINT32_MAX)
		calls->classes = 1U << CLASS_OPENMP | 1U << CLASS_USER;
}

/* Moments would leave parts of the iterations that --scale-trace stores. */
static void settle_policy(struct calls_options *calls)
{
	if (calls->keep && !calls->policy_given)
		calls->policy = TRACE_POLICY_ITERATIONS;
}

/* The habit of perf record -p PID sleep 10. */
static void settle_until(struct record_config *config)
{
	if (!config->nr_attach)
		return;
	config->until = config->command;
	config->command = NULL;
}

static int settle_spares(struct record_config *config)
{
	if (config->nr_events + config->nr_spares > SAMPLER_MAX_EVENTS) {
		say("too many spare events; at most 16 events can be opened at once");
		return -E2BIG;
	}
	for (unsigned i = 0; i < config->nr_spares; i++) {
		struct event *event = &config->spares[i];

		if (settle_event(config, event) ||
		    find_repeated(config, event->name, config->nr_events))
			return -EINVAL;
	}
	return 0;
}

int record_settle(struct record_config *config)
{
	settle_until(config);
	settle_classes(&config->calls);
	settle_policy(&config->calls);
	if (settle_proc() || settle_combination(config) || settle_wide(config) ||
	    settle_output(config) || settle_calls(config))
		return -EINVAL;
	if (!config->nr_events && default_event(config))
		return -EINVAL;
	for (unsigned e = 0; e < config->nr_events; e++) {
		struct event *event = &config->events[e];

		if (settle_event(config, event) || find_repeated(config, event->name, e))
			return -EINVAL;
		settle_period(config, event);
	}
	if (settle_spares(config) || settle_history(config))
		return -EINVAL;
	if (settle_branches(config) || record_settle_counters(config) || settle_rates(config))
		return -EINVAL;
	return 0;
}
