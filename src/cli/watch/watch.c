/*
 * adaptrace watch: follows a recording at work; tells other programs what is new, as JSON lines,
 * and acts when a condition comes true.
 */
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/foreign_options.h"
#include "cli/live/interval.h"
#include "cli/live/watched.h"
#include "cli/open_trace.h"
#include "cli/row_options.h"
#include "cli/say.h"
#include "cli/watch/conditions.h"
#include "cli/watch/sink.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#define MAX_SINKS 17                      /* standard output and modules */
#define LAST_NS   ((uint64_t)2000000000)  /* to read the last lines */
#define MODULE_NS ((uint64_t)10000000000) /* for a module to end then */

enum { OPT_SAMPLES = OPT_OTHERS, OPT_TABLES, OPT_CALLS, OPT_INTERVAL, OPT_ON, OPT_MODULE };

struct watch {
	const char *whom;
	bool json;
	enum lines_form form;
	uint64_t interval; /* ns */
	const char *modules[MAX_SINKS];
	unsigned nr_modules;
	struct conditions conditions;
	struct watched watched;
	struct steering steering; /* for conditions and modules */
	struct sink sinks[MAX_SINKS];
	unsigned nr_sinks;
	uint64_t tenth; /* of a second, in which modules may write some lines */
};

static bool is_recording(const struct watch *watch)
{
	return watched_state(&watch->watched) == LIVE_RECORDING;
}

/* --- readers ---------------------------------------------------------------------------------- */

static int open_sinks(struct watch *watch)
{
	int err = 0;

	if (watch->json)
		err = sink_open(&watch->sinks[watch->nr_sinks++], watch->form, watch->interval);
	for (unsigned i = 0; i < watch->nr_modules && !err; i++)
		err = sink_start(&watch->sinks[watch->nr_sinks++], watch->modules[i], watch->form,
		                 watch->interval);
	return err;
}

static bool close_sinks(struct watch *watch)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + MODULE_NS;
	bool good = true;

	for (unsigned i = 0; i < watch->nr_sinks; i++)
		sink_end_input(&watch->sinks[i]);
	for (unsigned i = 0; i < watch->nr_sinks; i++)
		good &= sink_close(&watch->sinks[i], end);
	return good;
}

static int take_lines(struct watch *watch)
{
	int err = 0;

	for (unsigned i = 0; i < watch->nr_sinks && !err; i++)
		err = sink_take(&watch->sinks[i], &watch->watched);
	return err;
}

static void serve(struct watch *watch, const struct pollfd *fd)
{
	for (unsigned i = 0; i < watch->nr_sinks; i++) {
		struct sink *sink = &watch->sinks[i];

		if (fd->events == POLLOUT && sink->to == fd->fd)
			sink_write(sink);
		else if (fd->events == POLLIN && sink->from == fd->fd)
			sink_read(sink, &watch->steering);
	}
}

static bool is_any_behind(const struct watch *watch)
{
	bool any = false;

	for (unsigned i = 0; i < watch->nr_sinks; i++)
		any |= sink_is_behind(&watch->sinks[i]);
	return any;
}

/* Modules may write some lines in each tenth of a second. */
static void allow(struct watch *watch, uint64_t now)
{
	if (now / CONDITIONS_LOOK_NS == watch->tenth)
		return;
	watch->tenth = now / CONDITIONS_LOOK_NS;
	for (unsigned i = 0; i < watch->nr_sinks; i++)
		sink_allow(&watch->sinks[i], &watch->steering);
}

/* Serves readers and modules until then, or until nobody is behind if that is wanted. */
static void serve_until(struct watch *watch, uint64_t end, bool flush)
{
	struct pollfd fds[2 * MAX_SINKS];
	uint64_t now;

	while ((now = clock_ns(CLOCK_MONOTONIC)) < end && (!flush || is_any_behind(watch))) {
		const uint64_t next = (now / CONDITIONS_LOOK_NS + 1) * CONDITIONS_LOOK_NS;
		const uint64_t wait = (watch->nr_modules && next < end ? next : end) - now;
		const struct timespec left = clock_timespec(wait);
		unsigned nr = 0;

		allow(watch, now);
		for (unsigned i = 0; i < watch->nr_sinks; i++)
			nr += sink_poll(&watch->sinks[i], fds + nr);
		if (ppoll(fds, nr, &left, NULL) <= 0)
			continue;
		for (unsigned i = 0; i < nr; i++)
			if (fds[i].revents)
				serve(watch, &fds[i]);
	}
}

/* --- following -------------------------------------------------------------------------------- */

/* Whether somebody still wants to know of the recording. */
static bool is_wanted(const struct watch *watch)
{
	bool any = watch->conditions.nr > 0;

	for (unsigned i = 0; i < watch->nr_sinks; i++)
		any |= !watch->sinks[i].err;
	return any;
}

/* A recording that has not begun to sample has nothing to look at. */
static int look(struct watch *watch, bool line)
{
	int err = watched_update(&watch->watched);

	if (err == -EAGAIN && is_recording(watch))
		return 0;
	if (!err && watch->conditions.nr && is_recording(watch))
		err = conditions_look(&watch->conditions, &watch->watched);
	if (!err && line && is_recording(watch))
		err = take_lines(watch);
	return err;
}

/* The last lines come behind those that were pending, if their readers still read. */
static int finish(struct watch *watch)
{
	int err = 0;

	serve_until(watch, clock_ns(CLOCK_MONOTONIC) + LAST_NS, true);
	if (trace_nr_events(watched_trace(&watch->watched)) || !watch->watched.live)
		err = take_lines(watch);
	if (!err)
		serve_until(watch, clock_ns(CLOCK_MONOTONIC) + LAST_NS, true);
	return err;
}

/* Looks take a fifth of the time at most. */
static uint64_t next_look(const struct watch *watch, uint64_t begun)
{
	const uint64_t step = watch->conditions.nr ? CONDITIONS_LOOK_NS : watch->interval;
	const uint64_t took = clock_ns(CLOCK_MONOTONIC) - begun;

	return begun + (watch->conditions.nr && 5 * took > step ? 5 * took : step);
}

static int follow(struct watch *watch)
{
	uint64_t next_line = clock_ns(CLOCK_MONOTONIC);
	int err;

	do {
		const uint64_t begun = clock_ns(CLOCK_MONOTONIC);
		const bool line = begun >= next_line;

		err = look(watch, line);
		while (line && next_line <= begun)
			next_line += watch->interval;
		if (!err && is_recording(watch))
			serve_until(watch, next_look(watch, begun), false);
	} while (!err && is_recording(watch) && is_wanted(watch));
	return err ? err : finish(watch);
}

/* --- the command line ------------------------------------------------------------------------- */

static void add_module(struct watch *watch, const char *command)
{
	if (watch->nr_modules == MAX_SINKS - 1)
		say_usage("there may be at most %d modules", MAX_SINKS - 1);
	watch->modules[watch->nr_modules++] = command;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct watch *watch = state->input;

	switch (key) {
	case 'j':
		watch->json = true;
		return 0;
	case OPT_SAMPLES:
		watch->form = LINES_SAMPLES;
		return 0;
	case OPT_CALLS:
		watch->form = LINES_CALLS;
		return 0;
	case OPT_TABLES:
		watch->form = LINES_TABLES;
		return 0;
	case OPT_INTERVAL:
		watch->interval = interval_parse(arg);
		return 0;
	case OPT_ON:
		conditions_add(&watch->conditions, arg);
		return 0;
	case OPT_MODULE:
		add_module(watch, arg);
		return 0;
	case ARGP_KEY_ARG:
		open_trace_take(&watch->whom, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool begin(struct watch *watch)
{
	int err;

	if (watch->conditions.nr || watch->nr_modules) {
		if (!watch->watched.live) {
			say("'%s' is not being recorded: --on and --module are for a recording at "
			    "work",
			    watch->watched.path);
			return false;
		}
		if (steering_init(&watch->steering, watch->watched.path))
			return false;
	}
	if (watch->conditions.nr && conditions_begin(&watch->conditions, &watch->steering))
		return false;
	err = open_sinks(watch);
	if (err)
		say("cannot start a module: %s", strerror(-err));
	return !err;
}

static bool was_read(const struct watch *watch)
{
	return !watch->json || !watch->sinks[0].err;
}

static int run(struct watch *watch)
{
	int err = 0;
	bool good = begin(watch);

	if (good)
		err = follow(watch);
	if (err && err != -EINVAL)
		say("cannot follow the recording of '%s': %s", watch->watched.path, strerror(-err));
	good &= close_sinks(watch) && !err && was_read(watch);
	steering_fini(&watch->steering);
	conditions_fini(&watch->conditions);
	return good ? 0 : 1;
}

int cmd_watch(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"json", 'j', NULL, 0, "write JSON to standard output, one object a line", 1},
		{"tables", OPT_TABLES, NULL, 0,
	         "lines: functions of each interval, as report --json", 1},
		{"calls", OPT_CALLS, NULL, 0,
	         "lines: each stored call of record --mpi, and the sums of all", 1},
		{"samples", OPT_SAMPLES, NULL, 0, "lines: each sample, with its call path", 1},
		{"interval", OPT_INTERVAL, "SECONDS", 0, "write a line each SECONDS (1)", 1},
		{"module", OPT_MODULE, "COMMAND", 0,
	         "start this program and write the lines to it; may be given again", 2},
		{"on", OPT_ON, "CONDITION", 0,
	         "act when this comes true, e.g. 'share(f*) > 20% for 2s: snapshot'; may be given "
	         "again",
	         2},
		{0},
	};
	const struct argp argp = {
		options, parse_option, "[WHOM]",
		"Follows a recording while it goes on: writes lines for other programs, and acts "
		"when conditions come true.\v"
		"WHOM is the PID of a recorder or of what it records, or the trace that it will "
		"write. If it is not given it is adaptrace.atr, or else the only recorder of yours "
		"that is at work."};
	struct watch watch = {.interval = 1000000000};
	int status;

	if (foreign_options_parse(&argp, argc, argv, 2, 0, &watch))
		return 2;
	if (!watch.json && !watch.nr_modules && !watch.conditions.nr)
		say_usage("nothing to do with the recording; give --json, --module or --on");
	if (!watched_open(&watch.watched, watch.whom))
		return 1;
	signal(SIGPIPE, SIG_IGN);
	status = run(&watch);
	watched_close(&watch.watched);
	return status;
}
