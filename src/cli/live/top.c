/*
 * adaptrace top: the functions of a recording at work.
 */
#include "cli/commands.h"
#include "cli/ctl/whom.h"
#include "cli/foreign_options.h"
#include "cli/open_trace.h"
#include "cli/plain_text.h"
#include "cli/row_options.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "cli/live/interval.h"
#include "cli/live/lease.h"
#include "cli/live/orders.h"
#include "cli/live/own_recorder.h"
#include "cli/live/watched.h"
#include "output/report/report_top.h"
#include "output/screen/screen.h"
#include "output/views/report_rows.h"
#include "trace/format.h"
#include "trace/selection.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND         ((uint64_t)1000000000)
#define MAX_OF_RUN     200000 /* samples that stand for the whole run */
#define BEGIN_PATIENCE 100    /* tenths of a second that a recorder may set up */

enum { OPT_ONCE = OPT_OTHERS, OPT_INTERVAL, OPT_NO_WINDOW };

struct top {
	const char *whom;
	char **command; /* to be recorded; NULL: none */
	bool once, no_window;
	uint64_t interval; /* ns */
	struct row_options rows;
	struct watched watched;
	struct lease lease;
	struct orders orders;
	struct own_recorder own;
	struct selection selection;
};

/* --- once ------------------------------------------------------------------------------------- */

static int update(struct watched *watched)
{
	int err = watched_update(watched);

	for (int i = 0; err == -EAGAIN && i < BEGIN_PATIENCE; i++) {
		const struct timespec tenth = {0, 100000000};

		if (watched_state(watched) != LIVE_RECORDING)
			break;
		nanosleep(&tenth, NULL);
		err = watched_update(watched);
	}
	return err;
}

/* Samples reach the buffer late, so that the interval ends with the latest one. */
static int note_latest(void *latest, const struct trace_sample *sample)
{
	if (sample->time > *(uint64_t *)latest)
		*(uint64_t *)latest = sample->time;
	return 0;
}

static int choose_interval(struct top *top)
{
	const struct trace *trace = watched_trace(&top->watched);
	uint64_t end = trace_run(trace)->end, latest = 0, behind = top->interval + SECOND;
	int err;

	watched_choose(&top->watched, end > behind ? end - behind : 1, UINT64_MAX);
	err = trace_each_sample(trace_walk_unordered(trace, TRACE_ALL_EVENTS), note_latest,
	                        &latest);
	if (latest)
		end = latest + 1;
	top->selection.from = end > top->interval ? end - top->interval : 0;
	top->selection.to = UINT64_MAX;
	return err;
}

static struct profile *make_profile(struct top *top, const struct view_query *query)
{
	const struct trace *trace = watched_trace(&top->watched);
	uint32_t event = query->event == TRACE_ALL_EVENTS ? 0 : query->event;
	struct profile_view view;

	return report_profile(trace, event, query, &view);
}

/* Looks up the names of all functions in a part. */
static int name_all(struct top *top, const struct view_query *query)
{
	struct profile *profile = make_profile(top, query);

	if (!profile)
		return -errno;
	watched_name(&top->watched, profile, false);
	profile_free(profile);
	return 0;
}

static int sum_up_run(struct top *top, const struct view_query *query, struct function_shares *run)
{
	struct profile *profile = make_profile(top, query);
	int err = profile ? function_shares_init(run, profile) : -errno;

	profile_free(profile);
	return err;
}

static const char *state_name(const struct top *top)
{
	const struct recording_state recorder = watched_recorder(&top->watched);

	switch (watched_state(&top->watched)) {
	case LIVE_ENDED:
		return "ended";
	case LIVE_KILLED:
		return "killed";
	default:
		return recording_state_name(&recorder);
	}
}

static void put_state(struct json_writer *json, const struct top *top)
{
	json_text(json, "trace", top->watched.path);
	json_text(json, "state", state_name(top));
}

static int put_json(struct top *top, const struct view_query *part, const struct view_query *whole)
{
	const struct trace *trace = watched_trace(&top->watched);
	struct json_writer json = {.to = stdout};
	int err;

	json_begin(&json, NULL);
	put_state(&json, top);
	err = report_json_keys(&json, trace, part);
	watched_choose(&top->watched, 0, MAX_OF_RUN);
	json_begin(&json, "run");
	if (!err)
		err = report_json_keys(&json, trace, whole);
	json_end(&json);
	json_end(&json);
	putchar('\n');
	return err;
}

static int put_text(struct top *top, const struct view_query *whole)
{
	const struct trace *trace = watched_trace(&top->watched);
	struct function_shares run = {0};
	int err = plain_text_start();

	if (!err && watched_recorder(&top->watched).flags)
		printf("%s\n", state_name(top));
	watched_choose(&top->watched, 0, MAX_OF_RUN);
	if (!err)
		err = sum_up_run(top, whole, &run);
	watched_choose(&top->watched, top->selection.from, UINT64_MAX);
	if (!err)
		err = report_top_text(stdout, trace, &run, &top->rows.report);
	function_shares_fini(&run);
	return err;
}

static int show_once(struct top *top)
{
	struct view_query *part = &top->rows.report.query, whole;
	int err = choose_interval(top);

	part->selection = &top->selection;
	part->interval = top->interval;
	whole = *part;
	whole.selection = NULL;
	whole.interval = 0;
	if (!err)
		err = name_all(top, part);
	watched_choose(&top->watched, 0, MAX_OF_RUN);
	if (!err)
		err = name_all(top, &whole);
	watched_choose(&top->watched, top->selection.from, UINT64_MAX);
	if (err)
		return err;
	return top->rows.json ? put_json(top, part, &whole) : put_text(top, &whole);
}

/* --- on a terminal ---------------------------------------------------------------------------- */

static int recording_update(void *arg)
{
	struct top *top = arg;

	lease_renew(&top->lease);
	return watched_update(&top->watched);
}

static int recording_choose_window(void *arg, uint32_t number)
{
	struct top *top = arg;

	return watched_choose_window(&top->watched, number);
}

static void recording_choose(void *arg, uint64_t from, uint64_t max)
{
	struct top *top = arg;

	watched_choose(&top->watched, from, max);
}

static const struct trace *recording_trace(void *arg)
{
	struct top *top = arg;

	return watched_trace(&top->watched);
}

static enum live_state recording_state(void *arg)
{
	struct top *top = arg;

	return watched_state(&top->watched);
}

static bool recording_name(void *arg, const struct profile *profile, bool patient)
{
	struct top *top = arg;

	return watched_name(&top->watched, profile, patient);
}

static void recording_add_names(void *arg, const struct profile *profile)
{
	struct top *top = arg;

	watched_add_names(&top->watched, profile);
}

static void recording_give(void *arg, enum top_command command, const char *text,
                           char answer[TOP_ANSWER])
{
	struct top *top = arg;

	orders_give(&top->orders, command, text, answer);
}

static bool recording_hear(void *arg, char answer[TOP_ANSWER])
{
	struct top *top = arg;

	return orders_hear(&top->orders, answer);
}

static struct recording_state recording_recorder(void *arg)
{
	struct top *top = arg;

	return watched_recorder(&top->watched);
}

/* Returns 0, 1 after reporting an error, or the number of the signal that ended it, as a negative
 * number. */
static int show_screen(struct top *top)
{
	const bool live = top->watched.image_file;
	const struct top_recording recording = {
		.update = recording_update,
		.choose = recording_choose,
		.choose_window = recording_choose_window,
		.trace = recording_trace,
		.state = recording_state,
		.name = recording_name,
		.add_names = recording_add_names,
		.give = live ? recording_give : NULL,
		.hear = live ? recording_hear : NULL,
		.recorder = recording_recorder,
		.arg = top,
		.path = top->watched.path,
		.event = top->rows.report.query.event,
		.interval = top->interval,
		.put_plain = plain_text_wanted() ? plain_text_put : NULL,
	};
	int err;

	top->orders = (struct orders){
		.watched = &top->watched,
		.snapshots = top->own.folder ? DEFAULT_TRACE : top->watched.path,
	};
	lease_init(&top->lease, top->no_window ? NULL : top->watched.image_file);
	err = screen_run(&recording);
	lease_fini(&top->lease);
	orders_fini(&top->orders);
	if (err > 0)
		return -err;
	if (err == -ENOTTY)
		say("cannot show this on a terminal of the type '%s'; --once prints one table",
		    getenv("TERM") ? getenv("TERM") : "");
	else if (err == -ENOSYS)
		say("cannot show a screen: built without ncurses; --once prints one table");
	else if (err < 0)
		say("cannot show the recording of '%s': %s", top->watched.path, strerror(-err));
	return err ? 1 : 0;
}

/* --- the command line ------------------------------------------------------------------------- */

static bool is_trace(const char *path)
{
	char magic[sizeof(TRACE_MAGIC)] = "";
	FILE *file = fopen(path, "re");
	bool is = file && fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
	          !memcmp(magic, TRACE_MAGIC, sizeof(magic));

	if (file)
		fclose(file);
	return is;
}

/* A trace that its recorder will write need not be there yet. */
static bool names_recording(const char *arg)
{
	static const char suffix[] = ".atr";
	const size_t size = strlen(arg);

	return whom_pid(arg) || is_trace(arg) || whom_is_recorded(arg) ||
	       (size > strlen(suffix) && !strcmp(arg + size - strlen(suffix), suffix));
}

/* A command has all the words that follow. */
static void take_argument(struct top *top, char *arg, struct argp_state *state)
{
	const bool quoted = state->quoted && state->next > state->quoted;

	if (top->whom || (!quoted && names_recording(arg))) {
		open_trace_take(&top->whom, arg);
		return;
	}
	top->command = state->argv + state->next - 1;
	state->next = state->argc;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;

	switch (key) {
	case OPT_ONCE:
		top->once = true;
		return 0;
	case OPT_INTERVAL:
		top->interval = interval_parse(arg);
		return 0;
	case OPT_NO_WINDOW:
		top->no_window = true;
		return 0;
	case ARGP_KEY_ARG:
		take_argument(top, arg, state);
		return 0;
	default:
		return row_options_parse(&top->rows, key, arg);
	}
}

static const struct argp_option options[] = {
	{"once", OPT_ONCE, NULL, 0, "print one table and end", 1},
	{"json", 'j', NULL, 0, "with --once: as one JSON object", 1},
	{"interval", OPT_INTERVAL, "SECONDS", 0, "show the last SECONDS (1)", 1},
	{"no-window", OPT_NO_WINDOW, NULL, 0,
         "do not ask the recorder to sample at 250 Hz as long as somebody looks", 1},
	{"event", 'e', "EVENT", 0, "show this event instead of the first at work", 1},
	{"limit", OPT_LIMIT, "N", 0, "print at most N rows (40)", 1},
	{0},
};

static int top_status(const struct top *top, int err)
{
	if (err != -EAGAIN)
		return open_trace_status(top->watched.path, err);
	say("the recorder of '%s' has not begun to sample yet", top->watched.path);
	return 1;
}

/* Returns the first event that was sampled in the last interval; 0 if none was. */
static uint32_t event_at_work(const struct top *top)
{
	const struct trace *trace = watched_trace(&top->watched);

	for (uint32_t event = 0; event < trace_nr_events(trace); event++)
		if (trace_was_sampled(trace, event, top->interval))
			return event;
	return 0;
}

static int show(struct top *top)
{
	struct view_query *query = &top->rows.report.query;
	int err = update(&top->watched);

	row_options_complete(&top->rows);
	query->no_inline = query->sampled_alone = true;
	query->self_alone = !top->rows.json;
	query->event = err ? 0 : event_at_work(top);
	if (!err && top->rows.event &&
	    open_trace_find_event(watched_trace(&top->watched), top->watched.path, top->rows.event,
	                          &query->event))
		return 1;
	if (!top->once && !err)
		return show_screen(top);
	return top_status(top, err ? err : show_once(top));
}

/* Checks what the options and the terminal fit. */
static void check(const struct top *top)
{
	if (top->rows.json && !top->once)
		say_usage("--json goes with --once");
	if (top->command && top->once)
		say_usage("--once looks at what is recorded already; record the command first");
	if (!top->once && (!isatty(STDIN_FILENO) || !terminal_obeys(STDOUT_FILENO)))
		say_usage("top needs a terminal; --once prints one table");
}

/* --- a recorder of its own -------------------------------------------------------------------- */

static bool needs_recorder(const struct top *top)
{
	return top->command ||
	       (!top->once && top->whom && whom_pid(top->whom) && !whom_is_recorded(top->whom));
}

static int open_and_show(struct top *top, const char *whom)
{
	int status;

	if (!watched_open(&top->watched, whom))
		return 1;
	status = show(top);
	watched_close(&top->watched);
	return status;
}

/* One that has ended already may have left a trace. */
static int record_and_show(struct top *top)
{
	const struct own_request request = {
		.command = top->command, .pid = top->whom, .event = top->rows.event};
	int status = 1;

	if (!own_recorder_start(&top->own, &request))
		return 1;
	top->rows.event = NULL; /* it is the first one there, or they are */
	if (own_recorder_await(&top->own))
		status = open_and_show(top, top->own.trace);
	else if (top->own.ended_by > 0)
		status = -top->own.ended_by;
	else if (!access(top->own.trace, R_OK))
		status = open_and_show(top, top->own.trace);
	own_recorder_end(&top->own, status < 0 ? -status : 0);
	return status;
}

/* Ends the program as the signal would have, had the screen not been there. */
static void end_by(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

int cmd_top(int argc, char **argv)
{
	const struct argp argp = {
		options, parse_option, "[WHOM]\nCOMMAND [ARG...]",
		"Shows the functions of a recording that is still running, without disturbing "
		"it.\v"
		"WHOM is the PID of a recorder or of what it records, or of a process that is then "
		"recorded; the trace that a recorder will write; or a trace that is complete. A "
		"command is recorded; what it prints is shown at the end. If neither is given it "
		"is adaptrace.atr, or else the only recorder of yours that is at work."};
	struct top top = {.interval = SECOND};
	int status;

	row_options_init(&top.rows);
	if (foreign_options_parse(&argp, argc, argv, 2, ARGP_IN_ORDER, &top))
		return 2;
	check(&top);
	status = needs_recorder(&top) ? record_and_show(&top) : open_and_show(&top, top.whom);
	own_recorder_free(&top.own);
	if (status < 0)
		end_by(-status);
	return status;
}
