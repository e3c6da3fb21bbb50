/*
 * adaptrace report: where the time went, or whatever was sampled.
 */
#include "cli/commands.h"
#include "cli/late_names.h"
#include "cli/reading.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "output/function_choice.h"
#include "output/report.h"
#include "output/report_job.h"
#include "output/text.h"
#include "symbolize/debuginfod.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_LIMIT  40
#define MAX_CANDIDATES 20

enum {
	OPT_JSON = 256,
	OPT_SORT,
	OPT_TREE,
	OPT_PER_THREAD,
	OPT_TIME,
	OPT_LIMIT,
	OPT_ALL,
	OPT_NO_HEADER,
	OPT_NO_INLINE,
	OPT_CALLERS,
	OPT_CALLEES,
	OPT_MAX_DEPTH,
	OPT_ANNOTATE,
	OPT_MPI,
	OPT_PER_RANK,
	OPT_SYMBOLS,
	OPT_DEBUGINFOD,
};

struct report_command {
	const char *path, *event, *time, *function;
	struct function_choice choice;
	bool json, mpi, per_rank, symbols;
	struct debug_places places;
	struct report_options options;
};

/* --- options ---------------------------------------------------------------------------------- */

static const struct argp_option options_known[] = {
	{"event", 'e', "NAME", 0, "this event alone, of those that were sampled", 0},
	{"sort", 's', "KEYS", 0,
         "rows and columns: symbol, module, file, line, thread, process, comm, cpu; of "
         "record --data mem, op, tlb, snoop, latency",
         0},
	{"per-thread", OPT_PER_THREAD, NULL, 0, "a table for every thread", 0},
	{"tree", OPT_TREE, NULL, 0, "call paths, from the roots down", 0},
	{"callers", OPT_CALLERS, "NAME", 0, "what called a function, as a tree", 0},
	{"callees", OPT_CALLEES, "NAME", 0, "what a function called, as a tree", 0},
	{"annotate", OPT_ANNOTATE, "NAME", 0, "a function's hot lines and instructions", 0},
	{"mpi", OPT_MPI, NULL, 0, "time in MPI by rank, call and caller, and who sends to whom", 0},
	{"per-rank", OPT_PER_RANK, NULL, 0, "how evenly ranks share the work, by function", 0},
	{"max-depth", OPT_MAX_DEPTH, "N", 0, "levels of trees to show", 0},
	{"time", OPT_TIME, "FROM,TO", 0, "only this part: seconds since the start, or 25%", 0},
	{"limit", OPT_LIMIT, "N", 0, "rows to show (40)", 0},
	{"all", OPT_ALL, NULL, 0, "show all rows, and all branches of a tree", 0},
	{"json", OPT_JSON, NULL, 0, "one JSON object, weights in the event's unit", 0},
	{"no-inline", OPT_NO_INLINE, NULL, 0, "count inlined functions to those around them", 0},
	{"symbols", OPT_SYMBOLS, "DIR", OPTION_ARG_OPTIONAL,
         "look names up again, with the files of this machine and those in DIR", 0},
	{"debuginfod", OPT_DEBUGINFOD, NULL, 0,
         "look names up again, with files from the servers in DEBUGINFOD_URLS, too", 0},
	{"no-header", OPT_NO_HEADER, NULL, 0, "leave out the lines above the table", 0},
	{"quiet", 'q', NULL, 0, "rows alone", 0},
	{0},
};

static enum profile_keys key_named(const char *name)
{
	static const struct {
		const char *name;
		enum profile_keys key;
	} keys[] = {
		{"symbol", PROFILE_BY_SYMBOL}, {"module", PROFILE_BY_MODULE},
		{"thread", PROFILE_BY_THREAD}, {"comm", PROFILE_BY_COMM},
		{"cpu", PROFILE_BY_CPU},       {"file", PROFILE_BY_FILE},
		{"line", PROFILE_BY_LINE},     {"process", PROFILE_BY_PROCESS},
		{"mem", PROFILE_BY_MEM},       {"tlb", PROFILE_BY_TLB},
		{"snoop", PROFILE_BY_SNOOP},   {"latency", PROFILE_BY_LATENCY},
		{"op", PROFILE_BY_OPERATION},
	};

	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!strcmp(name, keys[i].name))
			return keys[i].key;
	return 0;
}

static void parse_keys(struct argp_state *state, char *text, struct report_options *options)
{
	unsigned seen = 0;
	char *name;

	options->nr_keys = 0;
	while ((name = strsep(&text, ","))) {
		enum profile_keys key = key_named(name);

		if (!key)
			argp_error(state,
			           "cannot sort by '%s'; keys are symbol, module, file, line, "
			           "thread, process, comm, cpu, and of memory accesses mem, op, "
			           "tlb, snoop "
			           "and latency, separated by commas",
			           name);
		if (seen & key)
			argp_error(state, "key '%s' is there twice", name);
		seen |= key;
		options->keys[options->nr_keys++] = key;
	}
}

static uint32_t parse_limit(struct argp_state *state, const char *what, const char *text)
{
	char *end;
	unsigned long limit;

	errno = 0;
	limit = strtoul(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || !limit || limit >= UINT32_MAX)
		argp_error(state, "cannot limit %s to '%s'; give a number from 1 on", what, text);
	return (uint32_t)limit;
}

static void parse_function(struct argp_state *state, const char *name, enum profile_direction way)
{
	struct report_command *command = state->input;

	if (command->function)
		argp_error(state, "one function at a time; '%s' is the second", name);
	if (!*name)
		argp_error(state, "a function has a name");
	command->function = name;
	command->options.direction = way;
}

static error_t parse_format(int key, struct report_command *command)
{
	switch (key) {
	case OPT_PER_THREAD:
		command->options.per_thread = true;
		return 0;
	case OPT_TREE:
		command->options.tree = true;
		return 0;
	case OPT_ALL:
		command->options.limit = UINT32_MAX;
		command->options.all = true;
		return 0;
	case OPT_JSON:
		command->json = true;
		return 0;
	case OPT_MPI:
		command->mpi = true;
		return 0;
	case OPT_PER_RANK:
		command->per_rank = true;
		return 0;
	case OPT_DEBUGINFOD:
		command->symbols = command->places.ask_server = true;
		return 0;
	case OPT_NO_INLINE:
		command->options.no_inline = true;
		return 0;
	case OPT_NO_HEADER:
		command->options.no_header = true;
		return 0;
	case 'q':
		command->options.quiet = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Trees and tables of threads are of functions, and each of these is a view by itself. */
static unsigned nr_views(const struct report_command *command)
{
	const struct report_options *options = &command->options;

	return command->mpi + command->per_rank +
	       (options->tree || options->per_thread || command->function);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct report_command *command = state->input;

	switch (key) {
	case 'e':
		command->event = arg;
		return 0;
	case 's':
		parse_keys(state, arg, &command->options);
		return 0;
	case OPT_SYMBOLS:
		command->symbols = true;
		command->places.folder = arg;
		return 0;
	case OPT_TIME:
		command->time = arg;
		return 0;
	case OPT_LIMIT:
		command->options.limit = parse_limit(state, "rows", arg);
		return 0;
	case OPT_MAX_DEPTH:
		command->options.max_depth = parse_limit(state, "the depth", arg);
		return 0;
	case OPT_ANNOTATE:
		parse_function(state, arg, PROFILE_ALL);
		command->options.annotate = true;
		return 0;
	case OPT_CALLERS:
		parse_function(state, arg, PROFILE_CALLERS);
		return 0;
	case OPT_CALLEES:
		parse_function(state, arg, PROFILE_CALLEES);
		return 0;
	case ARGP_KEY_ARG:
		reading_take(state, &command->path, arg);
		return 0;
	case ARGP_KEY_END:
		if (nr_views(command) > 1)
			argp_error(state, "--mpi and --per-rank are views by themselves: one at a "
			                  "time, and without --tree and the like");
		return 0;
	default:
		return parse_format(key, command);
	}
}

/* --- what needs the trace --------------------------------------------------------------------- */

/* Seconds since the start, or a percentage of the run; what is empty keeps *time. */
static int parse_time(const struct trace_run *run, const char *text, uint64_t *time)
{
	double length = run->end > run->start ? (double)(run->end - run->start) : 0, value;
	char *end;

	if (!*text)
		return 0;
	value = strtod(text, &end);
	if (end == text || !isfinite(value) || value < 0 || value > 1e9)
		return -EINVAL;
	if (!strcmp(end, "%"))
		value = value / 100 * length;
	else if (!*end || !strcmp(end, "s"))
		value *= 1e9;
	else
		return -EINVAL;
	*time = run->start + (uint64_t)value;
	return 0;
}

static int parse_span(const struct trace_run *run, const char *text, struct report_options *options)
{
	char from[64];
	const char *comma = strchr(text, ',');

	if (!comma || (size_t)(comma - text) >= sizeof(from))
		return -EINVAL;
	memcpy(from, text, (size_t)(comma - text));
	from[comma - text] = 0;
	if (parse_time(run, from, &options->from) || parse_time(run, comma + 1, &options->to) ||
	    options->from >= options->to)
		return -EINVAL;
	/* The last sample belongs to the last part. */
	if (options->to >= run->end && run->end > run->start)
		options->to = UINT64_MAX;
	return 0;
}

static int find_event(const struct trace *trace, const char *name, uint32_t *found)
{
	const struct trace_event *event;

	for (uint32_t i = 0; (event = trace_event(trace, i)); i++) {
		if (!strcmp(trace_string(trace, event->name), name)) {
			*found = i;
			return 0;
		}
	}
	return -ENOENT;
}

/* Prints up to MAX_CANDIDATES names that a user may have meant. */
static void say_candidates(const struct report_command *command)
{
	const struct function_choice *choice = &command->choice;

	if (!choice->nr) {
		say("no sample is in a function named '%s'; adaptrace report --all shows those "
		    "there are",
		    command->function);
		return;
	}
	say("'%s' may be %zu functions; give more of the name, or one in full:", command->function,
	    choice->nr);
	for (size_t i = 0; i < choice->nr && i < MAX_CANDIDATES; i++) {
		fputs("  ", stderr);
		text_put(stderr, choice->names[i], 0);
		fputc('\n', stderr);
	}
	if (choice->nr > MAX_CANDIDATES)
		fprintf(stderr, "  and %zu more\n", choice->nr - MAX_CANDIDATES);
}

static int choose_function(const struct trace *trace, struct report_command *command)
{
	int err = function_choice_init(&command->choice, trace, command->function,
	                               !command->options.no_inline);

	if (err) {
		say("cannot look for '%s': %s", command->function, strerror(-err));
		return err;
	}
	if (command->choice.nr != 1) {
		say_candidates(command);
		return -ENOENT;
	}
	command->options.function = command->choice.names[0];
	return 0;
}

/* Trees are of functions if nothing else is asked for; callers and callees are of nothing else. */
static void complete_keys(struct report_options *options)
{
	unsigned nr = 0;

	if (!options->tree && options->direction == PROFILE_ALL)
		return;
	for (unsigned k = 0; k < options->nr_keys; k++)
		if (options->keys[k] & PROFILE_CLASS_KEYS || options->direction == PROFILE_ALL)
			options->keys[nr++] = options->keys[k];
	options->nr_keys = nr;
	for (unsigned k = 0; k < nr; k++)
		if (!(options->keys[k] & PROFILE_CLASS_KEYS))
			return;
	options->keys[options->nr_keys++] = PROFILE_BY_SYMBOL;
	options->keys[options->nr_keys++] = PROFILE_BY_MODULE;
}

static int complete_options(const struct trace *trace, struct report_command *command)
{
	struct report_options *options = &command->options;
	unsigned keys = 0;

	for (unsigned k = 0; k < options->nr_keys; k++)
		keys |= options->keys[k];
	if (keys & PROFILE_MEMORY_KEYS && !(trace_run(trace)->flags & TRACE_RUN_DATA)) {
		say("'%s' has no memory accesses; record them with adaptrace record --data",
		    command->path);
		return -ENOENT;
	}
	if (command->event && find_event(trace, command->event, &options->event)) {
		say("event '%s' is not in '%s'; adaptrace info shows those that are",
		    command->event, command->path);
		return -ENOENT;
	}
	if (command->time && parse_span(trace_run(trace), command->time, options)) {
		say("cannot take '%s' for a part of the run; give FROM,TO in seconds since its "
		    "start, or as in 25%%,50%%",
		    command->time);
		return -EINVAL;
	}
	complete_keys(options);
	return command->function ? choose_function(trace, command) : 0;
}

static void know_terminal(struct report_options *options)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (!isatty(STDOUT_FILENO))
		return;
	options->width = terminal_width(STDOUT_FILENO);
	options->color = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

static int put_report(const struct trace *trace, const struct report_command *command)
{
	const struct report_options *options = &command->options;
	const char *name = command->path;

	if (command->mpi)
		return command->json ? report_mpi_json(stdout, trace, options)
		                     : report_mpi_text(stdout, trace, name, options);
	if (command->per_rank)
		return command->json ? report_ranks_json(stdout, trace, options)
		                     : report_ranks_text(stdout, trace, name, options);
	return command->json ? report_json(stdout, trace, options)
	                     : report_text(stdout, trace, name, options);
}

/* The exit status; what of it has a way out is told with it. */
static int report_done(const struct report_command *command, int err)
{
	if (err == -E2BIG)
		say("'%s' has too many callers to show; --max-depth leaves out the outer ones",
		    command->options.function);
	else if (err == -ENODATA)
		say("'%s' knows no ranks; adaptrace merge makes one of the traces of all ranks",
		    command->path);
	else
		return reading_done(command->path, err);
	return 1;
}

static int renew_names(struct trace *trace, const struct debug_places *places)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (places->ask_server && !debuginfod_present()) {
		say("cannot ask debuginfod: its library is not installed (libdebuginfod1)");
		return -ENOENT;
	}
	if (places->ask_server && !(urls && *urls)) {
		say("cannot ask debuginfod: DEBUGINFOD_URLS names no server; for Debian's, set it "
		    "to https://debuginfod.debian.net");
		return -ENOENT;
	}
	return late_names(trace, places);
}

static int report(struct report_command *command)
{
	struct trace *trace = reading_open(command->path);
	int status = 1, err;

	if (!trace)
		return 1;
	err = command->symbols ? renew_names(trace, &command->places) : 0;
	if (!err)
		err = complete_options(trace, command);
	if (err == -EINVAL)
		status = 2;
	if (!err)
		status = report_done(command, put_report(trace, command));
	function_choice_fini(&command->choice);
	trace_close(trace);
	return status;
}

int cmd_report(int argc, char **argv)
{
	char name[] = "adaptrace report";
	const struct argp argp = {
		options_known,
		parse_option,
		"[FILE]",
		"Shows what a recorded program spent, by function: in the function itself (self) "
		"and with all that it called (total).\v"
		"FILE is adaptrace.atr if not given.\n\n"
		"  adaptrace report --tree\n"
		"  adaptrace report --sort comm,symbol\n"
		"  adaptrace report --time 50%,",
		NULL,
		NULL,
		NULL,
	};
	struct report_command command = {.options = {
						 .event = TRACE_ALL_EVENTS,
						 .keys = {PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
						 .nr_keys = 2,
						 .to = UINT64_MAX,
					 }};

	argv[0] = name; /* what argp calls the program */
	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &command))
		return 2;
	if (!command.path)
		command.path = DEFAULT_TRACE;
	if (!command.options.limit)
		command.options.limit = command.json ? UINT32_MAX : DEFAULT_LIMIT;
	know_terminal(&command.options);
	return report(&command);
}
