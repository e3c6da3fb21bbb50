/*
 * adaptrace watch: what a recording at work gets, as JSON lines for programs.
 */
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/foreign_options.h"
#include "cli/live/interval.h"
#include "cli/live/watched.h"
#include "cli/open_trace.h"
#include "cli/row_options.h"
#include "cli/say.h"
#include "output/report/watch_json.h"
#include "output/views/report_rows.h"
#include "trace/selection.h"

#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A reader of a pipe that has room has at least so much. */
#define PIECE 4096

enum { OPT_SAMPLES = OPT_OTHERS, OPT_TABLES, OPT_INTERVAL };

struct watch {
	const char *whom;
	bool json, samples;
	uint64_t interval; /* ns */
	struct watched watched;
	struct watch_json *lines;
	uint64_t from;     /* samples up to here were told */
	uint64_t left_out; /* lines since the last one */
	char *pending;     /* of lines, to be written */
	size_t size, written;
};

/* --- output ----------------------------------------------------------------------------------- */

/* Waits up to a second for room at the reader's side. */
static bool has_room(uint64_t end)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), left = now < end ? end - now : 0;
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&out, 1, left < 1000000000 ? (int)(left / 1000000) : 1000) > 0;
}

/* Writes what the reader takes until then. 0 or -errno. */
static int flush_until(struct watch *watch, uint64_t end)
{
	while (watch->written < watch->size) {
		size_t left = watch->size - watch->written;
		ssize_t wrote;

		if (!has_room(end)) {
			if (clock_ns(CLOCK_MONOTONIC) >= end)
				return 0;
			continue;
		}
		wrote = write(STDOUT_FILENO, watch->pending + watch->written,
		              left < PIECE ? left : PIECE);
		if (wrote < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		watch->written += wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}

static void sleep_until(uint64_t end)
{
	const struct timespec time = clock_timespec(end);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static bool is_behind(const struct watch *watch)
{
	return watch->written < watch->size;
}

/* --- lines ------------------------------------------------------------------------------------ */

static const struct view_query query_template = {
	.keys = {PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
	.nr_keys = 2,
	.limit = UINT32_MAX,
	.no_inline = true,
	.sampled_alone = true,
};

static int name_part(struct watch *watch, const struct view_query *query)
{
	struct profile_view view;
	const struct trace *trace = watched_trace(&watch->watched);
	int err = 0;

	for (uint32_t event = 0; event < trace_nr_events(trace) && !err; event++) {
		struct profile *profile = report_profile(trace, event, query, &view);

		if (profile)
			watched_name(&watch->watched, profile, watch->from);
		else
			err = -errno;
		profile_free(profile);
	}
	return err;
}

static int note_latest(void *latest, const struct trace_sample *sample)
{
	if (sample->time > *(uint64_t *)latest)
		*(uint64_t *)latest = sample->time;
	return 0;
}

static int put_part(struct watch *watch, FILE *to, const struct selection *selection)
{
	const struct trace *trace = watched_trace(&watch->watched);
	struct view_query query = query_template;
	int err;

	query.selection = selection;
	query.event = TRACE_ALL_EVENTS;
	query.interval = selection->to - selection->from;
	err = name_part(watch, &query);
	if (err)
		return err;
	if (watch->samples)
		return watch_json_samples(watch->lines, to, trace, selection->from, selection->to,
		                          watch->left_out);
	return watch_json_table(to, trace, &query, watch->left_out);
}

/* Writes the line of all samples that have arrived since the last one into memory. */
static int make_line(struct watch *watch, FILE *to)
{
	const struct trace *trace = watched_trace(&watch->watched);
	struct selection selection = {.from = watch->from};
	uint64_t latest = 0;
	int err;

	if (!watch->from) {
		watch_json_begin(to, trace, watch->watched.path);
		selection.from = trace_run(trace)->end > watch->interval
		                         ? trace_run(trace)->end - watch->interval
		                         : 1;
	}
	watched_choose(&watch->watched, selection.from, UINT64_MAX);
	err = trace_each_sample(trace_walk_unordered(trace, TRACE_ALL_EVENTS), note_latest,
	                        &latest);
	selection.to = latest >= selection.from ? latest + 1 : selection.from;
	if (!err)
		err = put_part(watch, to, &selection);
	watch->from = selection.to;
	return err;
}

static int new_line(struct watch *watch)
{
	FILE *to;
	int err;

	free(watch->pending);
	watch->pending = NULL;
	watch->size = watch->written = 0;
	to = open_memstream(&watch->pending, &watch->size);
	if (!to)
		return -ENOMEM;
	err = make_line(watch, to);
	if (!err && watched_state(&watch->watched) != LIVE_RECORDING)
		watch_json_end(to,
		               watched_state(&watch->watched) == LIVE_KILLED ? "killed" : "ended");
	if (fclose(to) || !watch->pending)
		return -ENOMEM;
	watch->left_out = 0;
	return err;
}

/* A reader that is behind loses the samples of this interval. */
static int take_interval(struct watch *watch)
{
	int err = watched_update(&watch->watched);

	if (err == -EAGAIN && watched_state(&watch->watched) == LIVE_RECORDING)
		return 0;
	if (err)
		return err;
	if (!is_behind(watch) || watched_state(&watch->watched) != LIVE_RECORDING)
		return new_line(watch);
	watch->left_out++;
	watch->from = trace_run(watched_trace(&watch->watched))->end;
	return 0;
}

static int follow(struct watch *watch)
{
	uint64_t next = clock_ns(CLOCK_MONOTONIC);
	int err;

	do {
		err = take_interval(watch);
		next += watch->interval;
		if (!err)
			err = flush_until(watch, next);
		if (!err && watched_state(&watch->watched) == LIVE_RECORDING)
			sleep_until(next);
	} while (!err && watched_state(&watch->watched) == LIVE_RECORDING);
	return err ? err : flush_until(watch, UINT64_MAX / 2);
}

/* --- the command line ------------------------------------------------------------------------- */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct watch *watch = state->input;

	switch (key) {
	case 'j':
		watch->json = true;
		return 0;
	case OPT_SAMPLES:
		watch->samples = true;
		return 0;
	case OPT_TABLES:
		watch->samples = false;
		return 0;
	case OPT_INTERVAL:
		watch->interval = interval_parse(arg);
		return 0;
	case ARGP_KEY_ARG:
		open_trace_take(&watch->whom, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int run(struct watch *watch)
{
	int err;

	watch->lines = watch_json_new();
	err = watch->lines ? follow(watch) : -ENOMEM;
	watch_json_free(watch->lines);
	free(watch->pending);
	return err;
}

int cmd_watch(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"json", 'j', NULL, 0, "as JSON, one object a line; this must be given", 1},
		{"tables", OPT_TABLES, NULL, 0, "functions of each interval, as report --json", 1},
		{"samples", OPT_SAMPLES, NULL, 0, "each sample, with its call path", 1},
		{"interval", OPT_INTERVAL, "SECONDS", 0, "write a line each SECONDS (1)", 1},
		{0},
	};
	const struct argp argp = {
		options, parse_option, "[WHOM]",
		"Writes what a recording gets while it goes on, for other programs.\v"
		"WHOM is the PID of a recorder or of what it records, or the trace that it will "
		"write. If it is not given it is adaptrace.atr, or else the only recorder of yours "
		"that is at work."};
	struct watch watch = {.interval = 1000000000};
	int err;

	if (foreign_options_parse(&argp, argc, argv, 2, 0, &watch))
		return 2;
	if (!watch.json)
		say_usage("watch writes JSON alone; give --json");
	if (!watched_open(&watch.watched, watch.whom))
		return 1;
	err = run(&watch);
	if (err && err != -EPIPE)
		say("cannot follow the recording of '%s': %s", watch.watched.path, strerror(-err));
	watched_close(&watch.watched);
	return err ? 1 : 0;
}
