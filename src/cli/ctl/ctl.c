/*
 * adaptrace ctl: steers a recording that runs. Its commands go to the recorder as packets; only
 * `status` reads the recorder's image alone.
 */
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/foreign_options.h"
#include "cli/image_trace.h"
#include "cli/ctl/exchange.h"
#include "cli/ctl/whom.h"
#include "cli/say.h"
#include "cli/size.h"
#include "output/text/json_writer.h"
#include "record/calls/call_classes.h"
#include "output/text/text.h"
#include "trace/live/image_status.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define MAX_WORDS     4 /* WHOM COMMAND ARGUMENT OPTIONAL */
#define SAVED_POLL_NS 10000000
#define SAVED_POLLS   3000 /* after so many stop no longer waits for the trace */

enum { OPT_RECORDING = 1000, OPT_FOR, OPT_SAVE, OPT_ANYWAY };

struct ctl {
	const char *words[MAX_WORDS];
	unsigned nr_words;
	const char *whom, *name, *argument;
	const char *optional; /* argument; NULL: not given */
	const char *save; /* where reset writes a trace of what the recorder has; NULL: nowhere */
	double seconds;
	bool recording, anyway, json;
};

struct ctl_command {
	const char *name;
	const char *argument; /* what it must be given; NULL: nothing */
	bool takes_more;      /* it may be given one more word */
	int (*run)(const struct ctl *ctl, const struct whom *recorder);
};

/* --- status ----------------------------------------------------------------------------------- */

static void put_event_json(struct json_writer *json, const struct image_event *event)
{
	json_begin(json, NULL);
	json_text(json, "name", event->name);
	json_number(json, "floor", event->floor);
	json_number(json, "period", event->period);
	json_flag(json, "sampled", event->sampled);
	json_end(json);
}

static const char *event_of(const struct image_status *status, const struct image_window *window)
{
	return window->event < status->nr_events ? status->events[window->event].name : "";
}

static void put_window_json(struct json_writer *json, const struct image_status *status,
                            const struct image_window *window)
{
	json_begin(json, NULL);
	json_number(json, "number", window->number);
	json_text(json, "event", event_of(status, window));
	json_number(json, "from_ns", window->from);
	json_number(json, "to_ns", window->to);
	json_number(json, "period", window->period);
	json_number(json, "taken", window->taken);
	json_flag(json, "open", !window->to);
	json_end(json);
}

static void put_lease_json(struct json_writer *json, const struct image_window *lease)
{
	if (!lease->number) {
		json_null(json, "lease");
		return;
	}
	json_begin(json, "lease");
	json_number(json, "from_ns", lease->from);
	json_number(json, "period", lease->period);
	json_number(json, "taken", lease->taken);
	json_end(json);
}

/* Returns the ns that the history goes back. */
static uint64_t history_length(const struct image_status *status)
{
	return status->end > status->history.from ? status->end - status->history.from : 0;
}

static void put_history_json(struct json_writer *json, const struct image_status *status)
{
	if (!status->history.wanted) {
		json_null(json, "history");
		return;
	}
	json_begin(json, "history");
	json_number(json, "wanted_ns", status->history.wanted);
	json_number(json, "from_ns", status->history.from);
	json_number(json, "length_ns", history_length(status));
	json_flag(json, "full", status->history.full);
	json_end(json);
}

static void put_history(const struct image_status *status)
{
	char length[TEXT_SIZE], wanted[TEXT_SIZE];

	text_quantity(length, (double)history_length(status), TRACE_NS);
	text_quantity(wanted, (double)status->history.wanted, TRACE_NS);
	if (status->history.wanted)
		printf("history: the last %s, %s or more are wanted%s\n", length, wanted,
		       status->history.full ? ": full" : "");
}

static void put_status_json(const struct image_status *status)
{
	struct json_writer json = {.to = stdout};

	json_begin(&json, NULL);
	json_text(&json, "state", recording_state_name(&status->state));
	json_begin(&json, "samples");
	json_number(&json, "taken", status->taken);
	json_number(&json, "stored", status->state.stored);
	json_number(&json, "lost", status->state.lost);
	json_end(&json);
	json_begin_list(&json, "events");
	for (unsigned e = 0; e < status->nr_events; e++)
		put_event_json(&json, &status->events[e]);
	json_end_list(&json);
	json_begin(&json, "memory");
	json_number(&json, "budget", status->budget);
	json_number(&json, "used", status->used);
	json_end(&json);
	json_begin_list(&json, "windows");
	for (unsigned i = 0; i < status->nr_windows; i++)
		put_window_json(&json, status, &status->windows[i]);
	json_end_list(&json);
	put_lease_json(&json, &status->lease);
	put_history_json(&json, status);
	json_end(&json);
	putchar('\n');
}

static void put_lease(const struct image_status *status)
{
	const struct image_window *lease = &status->lease;
	char rate[TEXT_SIZE];

	if (!lease->number || lease->event >= status->nr_events)
		return;
	text_rate(rate, lease->period, (enum trace_unit)status->events[lease->event].unit);
	printf("window of those who look on: %s\n", rate);
}

static void put_status(const struct image_status *status, const struct whom *recorder)
{
	char used[TEXT_SIZE], budget[TEXT_SIZE], period[TEXT_SIZE];

	text_bytes(used, status->used);
	text_bytes(budget, status->budget);
	text_put(stdout, recorder->trace_path, 0);
	printf(", recorder %d: %s\n", (int)recorder->pid, recording_state_name(&status->state));
	printf("%llu samples taken, %llu stored, %llu lost; %s of %s used\n",
	       (unsigned long long)status->taken, (unsigned long long)status->state.stored,
	       (unsigned long long)status->state.lost, used, budget);
	for (unsigned i = 0; i < status->nr_windows; i++)
		printf("window %u%s: %llu samples taken\n", status->windows[i].number,
		       status->windows[i].to ? "" : " (open)",
		       (unsigned long long)status->windows[i].taken);
	put_lease(status);
	put_history(status);
	for (unsigned e = 0; e < status->nr_events; e++) {
		text_put(stdout, status->events[e].name, 0);
		text_period(period, status->events[e].period,
		            (enum trace_unit)status->events[e].unit);
		printf(": one every %s, floor %u%s\n", period, status->events[e].floor,
		       status->events[e].sampled ? "" : ", not sampled now");
	}
}

static void say_unanswered(const struct whom *recorder, int err)
{
	if (err == -ENOENT || err == -ECONNREFUSED)
		say("the recorder of '%s' has just ended", recorder->trace_path);
	else if (err == -EACCES)
		say("the control socket of '%s' is not of the recorder's user alone",
		    recorder->trace_path);
	else if (err == -EBADMSG)
		say("cannot understand the recorder of '%s': is it another version of adaptrace?",
		    recorder->trace_path);
	else if (err == -EAGAIN)
		say("the recorder of '%s' does not answer; is process %d stopped?",
		    recorder->trace_path, (int)recorder->pid);
	else
		say("cannot reach the recorder of '%s': %s", recorder->trace_path, strerror(-err));
}

static int show_status(const struct ctl *ctl, const struct whom *recorder)
{
	struct image_status status;
	int err = image_status_read(recorder->image_file, &status);

	if (err) {
		say_unanswered(recorder, err);
		return 1;
	}
	if (ctl->json)
		put_status_json(&status);
	else
		put_status(&status, recorder);
	return 0;
}

/* --- commands to the recorder ----------------------------------------------------------------- */

static int ask(const struct whom *recorder, const struct control_request *request)
{
	struct control_answer answer;
	int err = exchange(recorder->image_file, request, &answer);

	if (err < 0)
		say_unanswered(recorder, err);
	else if (!answer.ok)
		say("the recorder refuses '%s': %s", control_command_name(request->command),
		    answer.error);
	else if (*answer.note)
		say("%s", answer.note);
	return !err && answer.ok ? 0 : 1;
}

static bool is_plain(const char *text)
{
	uint32_t character;
	unsigned size;

	for (; *text; text += size) {
		size = text_decode(text, &character);
		if (!size || character < ' ' || character == 127)
			return false;
	}
	return true;
}

static int mark(const struct ctl *ctl, const struct whom *recorder)
{
	struct control_request request = {.command = CONTROL_MARK};

	if (strlen(ctl->argument) > CONTROL_TEXT_MAX) {
		say("the text of a mark has at most %d bytes", CONTROL_TEXT_MAX);
		return 2;
	}
	if (!is_plain(ctl->argument))
		say_usage("the text of a mark is UTF-8 without control characters");
	memcpy(request.text, ctl->argument, strlen(ctl->argument) + 1);
	return ask(recorder, &request);
}

static int pause_(const struct ctl *ctl, const struct whom *recorder)
{
	const struct control_request request = {
		.command = CONTROL_PAUSE, .recording = ctl->recording, .seconds = ctl->seconds};

	return ask(recorder, &request);
}

static int resume(const struct ctl *ctl, const struct whom *recorder)
{
	const struct control_request request = {.command = CONTROL_RESUME, .seconds = ctl->seconds};

	return ask(recorder, &request);
}

/* Returns whether the recorder has written its trace, or has ended, which removes its image. */
static bool is_saved(const struct whom *recorder)
{
	struct image_status status;

	return image_status_read(recorder->image_file, &status) == -ENOENT ||
	       status.state.flags & RECORDING_SAVED;
}

static int stop(const struct ctl *ctl, const struct whom *recorder)
{
	const struct control_request request = {.command = CONTROL_STOP};
	const struct timespec pause = {.tv_nsec = SAVED_POLL_NS};
	int status = ask(recorder, &request);

	(void)ctl;
	for (unsigned i = 0; !status && !is_saved(recorder); i++) {
		if (i == SAVED_POLLS) {
			say("the trace is still being written to '%s'", recorder->trace_path);
			break;
		}
		nanosleep(&pause, NULL);
	}
	return status;
}

/* The samples between the copy and the reset are in neither. */
static int reset(const struct ctl *ctl, const struct whom *recorder)
{
	const struct control_request request = {.command = CONTROL_RESET};

	if (ctl->save && snapshot_write(&(struct image_command){.path = recorder->trace_path,
	                                                        .output = ctl->save}))
		return 1;
	return ask(recorder, &request);
}

/* The recorder takes no notice. */
static int snapshot(const struct ctl *ctl, const struct whom *recorder)
{
	struct image_command command = {.path = recorder->trace_path, .output = ctl->optional};

	return command.output || snapshot_settle_output(&command) ? snapshot_write(&command) : 1;
}

static int overhead(const struct ctl *ctl, const struct whom *recorder)
{
	struct control_request request = {.command = CONTROL_OVERHEAD};
	char *end;

	request.percent = strtod(ctl->argument, &end);
	if (end == ctl->argument || (*end && strcmp(end, "%") != 0) ||
	    !(request.percent >= 0 && request.percent <= 100))
		say_usage(
			"impossible overhead '%s'; overhead takes a percentage, or 0 for no limit",
			ctl->argument);
	return ask(recorder, &request);
}

static int memory(const struct ctl *ctl, const struct whom *recorder)
{
	struct control_request request = {.command = CONTROL_MEMORY};
	size_t size;

	if (size_parse(ctl->argument, &size))
		say_usage("impossible size '%s'; memory takes one as 100M (K, M or G)",
		          ctl->argument);
	request.bytes = (double)size;
	return ask(recorder, &request);
}

static int event(const struct ctl *ctl, const struct whom *recorder)
{
	struct control_request request = {.command = CONTROL_EVENT, .anyway = ctl->anyway};

	request.change = control_change_find(ctl->argument);
	if (request.change == NR_CONTROL_CHANGES)
		say_usage("event takes only, add or drop, and names of events; not '%s'",
		          ctl->argument);
	if (!ctl->optional || !*ctl->optional)
		say_usage("event %s takes names of events as record -e", ctl->argument);
	if (strlen(ctl->optional) > CONTROL_TEXT_MAX)
		say_usage("the names of events have at most %d bytes", CONTROL_TEXT_MAX);
	memcpy(request.text, ctl->optional, strlen(ctl->optional) + 1);
	return ask(recorder, &request);
}

static int calls(const struct ctl *ctl, const struct whom *recorder)
{
	struct control_request request = {.command = CONTROL_CALLS};
	uint32_t wanted;

	if (call_classes_parse(ctl->argument, &wanted))
		say_usage("no such calls '%s'; " CALL_CLASSES_WAY_OUT, ctl->argument);
	memcpy(request.text, ctl->argument, strlen(ctl->argument) + 1);
	return ask(recorder, &request);
}

/* A number of seconds, or of minutes or hours with m or h behind it. */
static double parse_seconds(const char *arg, const char *what)
{
	char *end;
	double seconds = strtod(arg, &end);

	if (end != arg && *end && !end[1])
		switch (*end++) {
		case 's':
			break;
		case 'm':
			seconds *= 60;
			break;
		case 'h':
			seconds *= 3600;
			break;
		default:
			end--;
		}
	if (end == arg || *end || !(seconds >= 0.001 && seconds <= CONTROL_SECONDS_MAX))
		say_usage("impossible time '%s'; %s takes seconds, as in 10, 10m or 2h", arg, what);
	return seconds;
}

static double parse_rate(const char *arg)
{
	char *end;
	double hz = strtod(arg, &end);

	if (end == arg || (*end && strcasecmp(end, "hz") != 0) ||
	    !(hz >= CONTROL_HZ_MIN && hz <= CONTROL_HZ_MAX))
		say_usage("impossible rate '%s'; detail takes samples a second, as in 1000", arg);
	return hz;
}

static int detail(const struct ctl *ctl, const struct whom *recorder)
{
	const struct control_request request = {
		.command = CONTROL_DETAIL,
		.seconds = parse_seconds(ctl->argument, "detail"),
		.hz = ctl->optional ? parse_rate(ctl->optional) : 0,
	};

	return ask(recorder, &request);
}

/* --- the command line ------------------------------------------------------------------------- */

static const struct ctl_command ctl_commands[] = {
	{"status", NULL, false, show_status},
	{"mark", "a text", false, mark},
	{"pause", NULL, false, pause_},
	{"resume", NULL, false, resume},
	{"stop", NULL, false, stop},
	{"reset", NULL, false, reset},
	{"snapshot", NULL, true, snapshot},
	{"detail", "a number of seconds", true, detail},
	{"overhead", "a percentage", false, overhead},
	{"memory", "a size", false, memory},
	{"event", "only, add or drop", true, event},
	{"calls", "on, off or a class", false, calls},
};

#define NR_CTL_COMMANDS (sizeof(ctl_commands) / sizeof(*ctl_commands))

static const struct ctl_command *find_command(const char *name)
{
	for (size_t i = 0; i < NR_CTL_COMMANDS; i++)
		if (!strcmp(name, ctl_commands[i].name))
			return &ctl_commands[i];
	return NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct ctl *ctl = state->input;

	switch (key) {
	case 'j':
		ctl->json = true;
		return 0;
	case OPT_RECORDING:
		ctl->recording = true;
		return 0;
	case OPT_ANYWAY:
		ctl->anyway = true;
		return 0;
	case OPT_SAVE:
		ctl->save = arg;
		return 0;
	case OPT_FOR:
		ctl->seconds = parse_seconds(arg, "--for");
		return 0;
	case ARGP_KEY_ARG:
		if (ctl->nr_words == MAX_WORDS)
			say_usage("too many arguments: '%s'", arg);
		ctl->words[ctl->nr_words++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void check_options(const struct ctl *ctl)
{
	const bool pauses = !strcmp(ctl->name, "pause"), resumes = !strcmp(ctl->name, "resume");

	if (ctl->json && strcmp(ctl->name, "status") != 0)
		say_usage("--json is for status");
	if (ctl->recording && !pauses)
		say_usage("--recording is for pause");
	if (ctl->save && strcmp(ctl->name, "reset") != 0)
		say_usage("--save is for reset");
	if (ctl->anyway && strcmp(ctl->name, "event") != 0)
		say_usage("--anyway is for event");
	if (ctl->seconds > 0 && !pauses && !resumes)
		say_usage("--for is for pause and resume");
}

/* The first word may be a recorder, or a command with a typing error. */
static _Noreturn void say_no_command(const struct ctl *ctl)
{
	const char *word = "";
	char ending[4 * SUGGEST_NAME_MAX];
	struct suggest suggest = {0};

	if (!ctl->nr_words)
		say_usage("no command for a recorder; 'adaptrace help ctl' lists them");
	for (unsigned w = 0; w < ctl->nr_words && w < 2 && !suggest.nr; w++) {
		word = ctl->words[w];
		suggest_init(&suggest, word);
		for (size_t i = 0; i < NR_CTL_COMMANDS; i++)
			suggest_offer(&suggest, ctl_commands[i].name);
	}
	suggest_print(&suggest, "; 'adaptrace help ctl' lists them", ending, sizeof(ending));
	say_usage("no command '%s' for a recorder%s", word, ending);
}

/* Tells whom, command and argument apart: a first word that is a command is no trace. */
static const struct ctl_command *take_words(struct ctl *ctl)
{
	const struct ctl_command *command = NULL;
	unsigned at = 0;

	if (ctl->nr_words)
		command = find_command(ctl->words[0]);
	if (!command && ctl->nr_words > 1) {
		ctl->whom = ctl->words[at++];
		command = find_command(ctl->words[1]);
	}
	if (!command)
		say_no_command(ctl);
	ctl->name = ctl->words[at++];
	if (command->argument && at == ctl->nr_words)
		say_usage("%s takes %s", command->name, command->argument);
	if (command->argument)
		ctl->argument = ctl->words[at++];
	if (command->takes_more && at < ctl->nr_words)
		ctl->optional = ctl->words[at++];
	if (at < ctl->nr_words)
		say_usage("too many arguments: '%s'", ctl->words[at]);
	check_options(ctl);
	return command;
}

static const char doc[] =
	"Steers a recording that runs.\v"
	"WHOM is the PID of a recorder or of what it records, or the name of the trace that it "
	"will write. If it is not given it is the recorder of adaptrace.atr in this folder, or "
	"else the only one of yours.\n\n"
	"Commands:\n"
	"  status             shows how the recording stands\n"
	"  mark TEXT          marks this time in the trace\n"
	"  pause              stops the program until resume, for 10 minutes at most\n"
	"  pause --recording  takes no samples until resume; the program runs on\n"
	"  resume             ends a pause\n"
	"  stop               writes the trace now; the program runs on\n"
	"  reset              drops all samples, and begins anew with the first rate\n"
	"  snapshot [FILE]    writes a trace of what there is so far (snapshot.atr)\n"
	"  detail TIME [HZ]   samples as often as at the start, or at HZ, for this time\n"
	"  overhead PERCENT   limits the overhead from now on, as record --max-overhead\n"
	"  memory SIZE        limits the buffer to so much, at most record -m\n"
	"  event only NAMES   samples these events from now on, and no others\n"
	"  event add NAMES    samples these events as well; drop: these no longer\n"
	"  calls WHICH        records MPI calls: on, off, mpi, regions, or only a class";

int cmd_ctl(int argc, char **argv)
{
	const struct argp_option options[] = {
		{"json", 'j', NULL, 0, "status as one JSON object", 0},
		{"recording", OPT_RECORDING, NULL, 0, "pause the recording, not the program", 0},
		{"for", OPT_FOR, "TIME", 0,
	         "end the pause, or the time until the next one, after so many seconds; 10m and 2h "
	         "are minutes and hours",
	         0},
		{"anyway", OPT_ANYWAY, NULL, 0,
	         "open an event for each thread where events are inherited; the program stands "
	         "still meanwhile, and its switches of threads cost more afterwards",
	         0},
		{"save", OPT_SAVE, "FILE", 0, "write a trace of what there is before a reset", 0},
		{0},
	};
	const struct argp argp = {options, parse_option, "[WHOM] COMMAND [ARGUMENT]", doc};
	const struct ctl_command *command;
	struct whom recorder;
	struct ctl ctl = {0};
	int status = 1;

	if (foreign_options_parse(&argp, argc, argv, 2, 0, &ctl))
		return 2;
	command = take_words(&ctl);
	if (!whom_find(&recorder, ctl.whom))
		status = command->run(&ctl, &recorder);
	whom_free(&recorder);
	return status;
}
