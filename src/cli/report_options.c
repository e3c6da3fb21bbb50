#include "cli/report_options.h"

#include "cli/foreign_options.h"
#include "cli/open_trace.h"
#include "cli/say.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_TREE = OPT_OTHERS,
	OPT_PER_THREAD,
	OPT_CALLERS,
	OPT_CALLEES,
	OPT_MAX_DEPTH,
	OPT_LEAST,
	OPT_ANNOTATE,
	OPT_MPI,
	OPT_PER_RANK,
	OPT_SYMBOLS,
	OPT_DEBUGINFOD,
};

static const struct argp_option options_known[] = {
	{"event", 'e', "NAME", 0, "only this event, of those that were sampled", 0},
	{"sort", 's', "KEYS", 0,
         "rows and columns: symbol, module, file, line, thread, process, comm, cpu; "
         "with record --data mem, op, tlb, snoop, latency; total: sort by it",
         0},
	{"per-thread", OPT_PER_THREAD, NULL, 0, "a table for every thread", 0},
	{"tree", OPT_TREE, NULL, 0, "call paths, from the roots down", 0},
	{"callers", OPT_CALLERS, "NAME", 0, "what called a function, as a tree", 0},
	{"callees", OPT_CALLEES, "NAME", 0, "what a function called, as a tree", 0},
	{"annotate", OPT_ANNOTATE, "NAME", 0, "a function's hot lines and instructions", 0},
	{"mpi", OPT_MPI, NULL, 0, "time in MPI by rank, call and caller, and who sends to whom", 0},
	{"per-rank", OPT_PER_RANK, NULL, 0, "how evenly ranks share the work, by function", 0},
	{"max-depth", OPT_MAX_DEPTH, "N", 0, "levels of trees to show", 0},
	{TIME_OPTION, 0},
	{ONLY_OPTION, 0},
	{"percent-limit", OPT_LEAST, "N", 0,
         "leave out rows below this percentage, and branches of trees (0.5)", 0},
	{"limit", OPT_LIMIT, "N", 0, "rows to show (40)", 0},
	{"all", OPT_ALL, NULL, 0, "show all rows, and all branches of a tree", 0},
	{"json", 'j', NULL, 0, "one JSON object, weights in the event's unit", 0},
	{"no-inline", OPT_NO_INLINE, NULL, 0,
         "attribute inlined functions to those that contain them", 0},
	{"symbols", OPT_SYMBOLS, "DIR", OPTION_ARG_OPTIONAL,
         "look names up again, with the files of this machine and those in DIR", 0},
	{"debuginfod", OPT_DEBUGINFOD, NULL, 0,
         "look names up again, with files from the servers in DEBUGINFOD_URLS, too", 0},
	{"no-header", OPT_NO_HEADER, NULL, 0, "leave out the lines above the table", 0},
	{"quiet", 'q', NULL, 0, "only the rows", 0},
	{WIDTH_OPTION, 0},
	{NO_PAGER_OPTION, 0},
	{0},
};

static void take_function(struct report_command *command, const char *name,
                          enum profile_direction way)
{
	if (command->function)
		say_usage("one function at a time; '%s' is the second", name);
	if (!*name)
		say_usage("name a function");
	command->function = name;
	command->rows.report.query.direction = way;
}

static error_t parse_view(struct report_command *command, int key, char *arg)
{
	switch (key) {
	case OPT_PER_THREAD:
		command->rows.report.query.per_thread = true;
		return 0;
	case OPT_TREE:
		command->rows.report.query.tree = true;
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
	default:
		if (!selection_options_parse(&command->selection, key, arg))
			return 0;
		return row_options_parse(&command->rows, key, arg);
	}
}

static bool has_trees(const struct report_options *options)
{
	return options->query.tree || options->query.direction != PROFILE_ALL;
}

/* Tells whether the rows name functions, which callers and callees require. */
static bool keys_name_functions(const struct report_options *options)
{
	unsigned keys = 0;

	for (unsigned k = 0; k < options->query.nr_keys; k++)
		keys |= options->query.keys[k] & ~(unsigned)PROFILE_CLASS_KEYS;
	return !keys || keys == PROFILE_BY_SYMBOL ||
	       keys == (PROFILE_BY_SYMBOL | PROFILE_BY_MODULE);
}

/* Trees and tables of threads are of functions, and each of these is a view by itself. */
static void check_views(const struct report_command *command)
{
	const struct report_options *options = &command->rows.report;
	bool of_functions = has_trees(options) || options->query.per_thread;

	if (command->mpi + command->per_rank + options->query.annotate + of_functions > 1)
		say_usage("--mpi, --per-rank and --annotate are views by themselves: one "
		          "at a time, and without --tree and the like");
	if (command->selection.nr_only && (command->mpi || command->per_rank))
		say_usage("--only is not for --mpi and --per-rank, which are of all ranks");
	if (command->rows.sorted && (command->mpi || command->per_rank || options->query.annotate))
		say_usage("--sort is for tables and trees, not for --mpi, --per-rank and "
		          "--annotate");
	if (options->query.direction != PROFILE_ALL && !keys_name_functions(options))
		say_usage("--callers and --callees are of functions: with them --sort "
		          "takes symbol, thread, process, comm and cpu");
	if (options->query.max_depth && !has_trees(options))
		say_usage("--max-depth is for --tree, --callers and --callees");
}

/* JSON has tables besides trees, and code has instructions besides its rows. */
static void check_limits(const struct report_command *command)
{
	const struct report_options *options = &command->rows.report;

	if (options->query.limit && has_trees(options) && !command->rows.json)
		say_usage("--limit is for tables; in trees --percent-limit leaves out what is "
		          "small, and --max-depth what is deep");
	if (options->query.least > 0 &&
	    (options->query.all || options->query.annotate || command->mpi || command->per_rank))
		say_usage("--percent-limit is for tables of functions and trees, and without "
		          "--all");
	row_options_check(&command->rows,
	                  options->query.annotate || (has_trees(options) && command->rows.json));
}

static double parse_share(const char *arg)
{
	char *end;
	double percent = strtod(arg, &end);

	if (end == arg || (*end && strcmp(end, "%") != 0) || !(percent > 0 && percent <= 100))
		say_usage("impossible share '%s'; --percent-limit takes a percentage, and --all "
		          "shows everything",
		          arg);
	return percent / 100;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct report_command *command = state->input;

	switch (key) {
	case OPT_SYMBOLS:
		command->symbols = true;
		command->places.folder = arg;
		return 0;
	case OPT_MAX_DEPTH:
		command->rows.report.query.max_depth = row_options_limit("the depth", arg);
		return 0;
	case OPT_LEAST:
		command->rows.report.query.least = parse_share(arg);
		return 0;
	case OPT_ANNOTATE:
		take_function(command, arg, PROFILE_ALL);
		command->rows.report.query.annotate = true;
		return 0;
	case OPT_CALLERS:
		take_function(command, arg, PROFILE_CALLERS);
		return 0;
	case OPT_CALLEES:
		take_function(command, arg, PROFILE_CALLEES);
		return 0;
	case ARGP_KEY_ARG:
		reading_take(&command->path, arg);
		return 0;
	case ARGP_KEY_END:
		check_views(command);
		check_limits(command);
		return 0;
	default:
		return parse_view(command, key, arg);
	}
}

int report_options(struct report_command *command, int argc, char **argv)
{
	const struct argp argp = {
		options_known,
		parse_option,
		"[FILE]",
		"Shows what a recorded program spent in each function: in the function itself "
		"(self), and including everything that it called (total).\v"
		"FILE is adaptrace.atr if not given.\n\n"
		"  adaptrace report --tree\n"
		"  adaptrace report --sort comm,symbol\n"
		"  adaptrace report --time 50%,",
	};

	*command = (struct report_command){0};
	if (selection_options_init(&command->selection, argc)) {
		say("no memory");
		return 1;
	}
	row_options_init(&command->rows);
	if (habits_parse(&argp, argc, argv, 2, 0, command))
		return 2;
	if (!command->path)
		command->path = DEFAULT_TRACE;
	row_options_complete(&command->rows);
	return 0;
}
