#include "cli/report_options.h"

#include "cli/foreign_options.h"
#include "cli/open_trace.h"
#include "cli/say.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_MAX_DEPTH = OPT_OTHERS,
	OPT_LEAST,
	OPT_SYMBOLS,
	OPT_DEBUGINFOD,
	OPT_SVG,
	OPT_VIEW, /* the number of a view is added */
};

static const struct argp_option others[] = {
	{"event", 'e', "NAME", 0, "only this event, of those that were sampled", 0},
	{"sort", 's', "KEYS", 0,
         "rows and columns: symbol, module, file, line, thread, process, comm, cpu; "
         "with record --data mem, op, tlb, snoop, latency; total: sort by it; with --mpi "
         "site: calls by the place that made them",
         0},
	{"max-depth", OPT_MAX_DEPTH, "N", 0, "levels of trees to show", 0},
	{TIME_OPTION, 0},
	{ONLY_OPTION, 0},
	{WINDOW_OPTION, 0},
	{"percent-limit", OPT_LEAST, "N", 0,
         "leave out rows below this percentage, and branches of trees (0.5)", 0},
	{"limit", OPT_LIMIT, "N", 0, "rows to show (40)", 0},
	{"all", OPT_ALL, NULL, 0, "show all rows, and all branches of a tree", 0},
	{"json", 'j', NULL, 0, "one JSON object, weights in the event's unit", 0},
	{"svg", OPT_SVG, NULL, 0, "a picture, of --fold", 0},
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

static void take_function(struct report_command *command, const char *name)
{
	if (command->function)
		say_usage("one function at a time; '%s' is the second", name);
	if (!*name)
		say_usage("name a function");
	command->function = name;
}

static void take_view(struct report_command *command, unsigned number, const char *arg)
{
	const struct view *view = view_at(number);

	if (view->argument)
		take_function(command, arg);
	if (view->phase && arg)
		command->rows.report.query.phase = row_options_limit("the loop", arg);
	if (view->choose)
		view->choose(&command->rows.report.query);
	command->view = view;
	command->views |= 1U << number;
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

/* --- refusals --------------------------------------------------------------------------------- */

/* Options that views take or not. */
static const struct {
	enum view_takes takes;
	const char *name;
} view_options[] = {
	{VIEW_ONLY, "only"},      {VIEW_SORT, "sort"},           {VIEW_DEPTH, "max-depth"},
	{VIEW_LIMIT, "limit"},    {VIEW_SHARE, "percent-limit"}, {VIEW_SVG, "svg"},
	{VIEW_SITE, "sort site"},
};

#define NR_VIEW_OPTIONS (sizeof(view_options) / sizeof(*view_options))

/* Names for a message. */
struct name_list {
	const char *names[MAX_VIEWS + NR_VIEW_OPTIONS]; /* of options, or NULL: the table */
	unsigned nr;
};

/* Returns "--mpi, --per-rank and --annotate". The process ends soon, so nobody frees the text. */
static const char *joined(const struct name_list *list)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	for (unsigned i = 0; to && i < list->nr; i++)
		fprintf(to, "%s%s%s",
		        !i                 ? ""
		        : i + 1 < list->nr ? ", "
		                           : " and ",
		        list->names[i] ? "--" : "the table of functions",
		        list->names[i] ? list->names[i] : "");
	return to && !fclose(to) && text ? text : "others";
}

static const char *view_name(const struct view *view)
{
	return joined(&(struct name_list){{view->option}, 1});
}

static const char *views_that_take(enum view_takes takes)
{
	struct name_list list = {.nr = 0};
	const struct view *view;

	for (unsigned i = 0; (view = view_at(i)); i++)
		if (view->takes & takes)
			list.names[list.nr++] = view->option;
	return joined(&list);
}

static const char *options_of(const struct view *view)
{
	struct name_list list = {.nr = 0};

	for (unsigned i = 0; i < NR_VIEW_OPTIONS; i++)
		if (view->takes & view_options[i].takes)
			list.names[list.nr++] = view_options[i].name;
	return joined(&list);
}

/* Refuses a view that is by itself together with another one. */
static void check_alone(const struct report_command *command)
{
	struct name_list list = {.nr = 0};
	const struct view *view;
	bool alone = false;

	for (unsigned i = 0; (view = view_at(i)); i++) {
		if (view->alone)
			list.names[list.nr++] = view->option;
		alone |= view->alone && command->views >> i & 1;
	}
	if (alone && command->views & (command->views - 1))
		say_usage("%s are views by themselves: one at a time, and with no other view",
		          joined(&list));
}

/* Returns the view that decides which options have an effect: trees of threads are trees. */
static const struct view *decisive_view(const struct report_command *command)
{
	unsigned number = 0;

	for (unsigned i = 1; view_at(i); i++)
		if (command->views >> i & 1)
			number = i;
	return view_at(number);
}

/* Refuses an option that would have no effect. */
static void check_option(const struct report_command *command, bool given, enum view_takes takes)
{
	const struct view *view = decisive_view(command);

	for (unsigned i = 0; i < NR_VIEW_OPTIONS; i++)
		if (given && view_options[i].takes == takes && !(view->takes & takes))
			say_usage("--%s is not for %s, but for %s; %s takes %s",
			          view_options[i].name, view_name(view), views_that_take(takes),
			          view_name(view), options_of(view));
}

static void check_views(const struct report_command *command)
{
	const struct view_query *query = &command->rows.report.query;

	check_alone(command);
	check_option(command, command->selection.nr_only, VIEW_ONLY);
	check_option(command, command->rows.sorted && !command->by_site, VIEW_SORT);
	check_option(command, command->by_site, VIEW_SITE);
	check_option(command, query->max_depth, VIEW_DEPTH);
	/* JSON has tables besides trees. */
	check_option(command, query->limit && !command->rows.json, VIEW_LIMIT);
	check_option(command, query->least > 0, VIEW_SHARE);
	check_option(command, command->svg, VIEW_SVG);
	if (command->svg && command->rows.json)
		say_usage("--svg and --json exclude each other");
	if (query->direction != PROFILE_ALL && !keys_name_functions(&command->rows.report))
		say_usage("--callers and --callees are of functions: with them --sort "
		          "takes symbol, thread, process, comm and cpu");
	if (query->least > 0 && query->all)
		say_usage("--percent-limit and --all exclude each other");
	/* Code has instructions besides its rows. */
	row_options_check(&command->rows,
	                  query->annotate || (query_has_trees(query) && command->rows.json));
}

/* --- parsing ---------------------------------------------------------------------------------- */

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

/* The place of a call is no key of samples. */
static error_t take_keys(struct report_command *command, char *arg)
{
	command->by_site = !strcmp(arg, "site");
	if (!command->by_site)
		return row_options_parse(&command->rows, 's', arg);
	command->rows.sorted = true;
	return 0;
}

/* Takes the views, and options that other commands have, too. */
static error_t parse_shared(struct report_command *command, int key, char *arg)
{
	unsigned view = (unsigned)key - OPT_VIEW;

	if (key > OPT_VIEW && view_at(view))
		take_view(command, view, arg);
	else if (selection_options_parse(&command->selection, key, arg))
		return row_options_parse(&command->rows, key, arg);
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct report_command *command = state->input;

	switch (key) {
	case 's':
		return take_keys(command, arg);
	case OPT_SYMBOLS:
		command->symbols = true;
		command->search.folder = arg;
		return 0;
	case OPT_MAX_DEPTH:
		command->rows.report.query.max_depth = row_options_limit("the depth", arg);
		return 0;
	case OPT_LEAST:
		command->rows.report.query.least = parse_share(arg);
		return 0;
	case ARGP_KEY_ARG:
		open_trace_take(&command->path, arg);
		return 0;
	case ARGP_KEY_END:
		check_views(command);
		return 0;
	case OPT_SVG:
		command->svg = true;
		return 0;
	case OPT_DEBUGINFOD:
		command->symbols = command->search.ask_server = true;
		return 0;
	default:
		return parse_shared(command, key, arg);
	}
}

#define NR_OTHERS (sizeof(others) / sizeof(*others))

/* The options of the views, and then the rest. */
static void list_options(struct argp_option known[MAX_VIEWS + NR_OTHERS])
{
	const struct view *view;
	unsigned nr = 0;

	for (int i = 1; (view = view_at((unsigned)i)); i++)
		known[nr++] = (struct argp_option){.name = view->option,
		                                   .key = OPT_VIEW + i,
		                                   .arg = view->argument ?: view->phase,
		                                   .flags = view->phase ? OPTION_ARG_OPTIONAL : 0,
		                                   .doc = view->what};
	memcpy(&known[nr], others, sizeof(others));
}

int report_options(struct report_command *command, int argc, char **argv)
{
	struct argp_option known[MAX_VIEWS + NR_OTHERS];
	const struct argp argp = {
		known,
		parse_option,
		"[FILE]",
		"Shows what a recorded program spent in each function: in the function itself "
		"(self), and including everything that it called (total).\v"
		"FILE is adaptrace.atr if not given.\n\n"
		"  adaptrace report --tree\n"
		"  adaptrace report --sort comm,symbol\n"
		"  adaptrace report --time 50%,",
	};

	*command = (struct report_command){.view = view_at(0)};
	list_options(known);
	if (selection_options_init(&command->selection, argc)) {
		say("no memory");
		return 1;
	}
	row_options_init(&command->rows);
	if (foreign_options_parse(&argp, argc, argv, 2, 0, command))
		return 2;
	if (command->by_site)
		command->view = command->view->by_site;
	if (!command->path)
		command->path = DEFAULT_TRACE;
	row_options_complete(&command->rows);
	return 0;
}
