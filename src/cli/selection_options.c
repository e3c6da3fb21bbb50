#include "cli/selection_options.h"

#include "cli/open_trace.h"
#include "cli/say.h"
#include "output/text/text.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int selection_options_init(struct selection_options *options, int argc)
{
	*options = (struct selection_options){0};
	options->only = calloc((size_t)argc + 1, sizeof(*options->only));
	return options->only ? 0 : -ENOMEM;
}

static void parse_window(struct selection_options *options, const char *arg)
{
	char *end;
	unsigned long number = strtoul(arg, &end, 10);

	options->history = !strcmp(arg, "history");
	if (!options->history &&
	    (*arg < '0' || *arg > '9' || *end || !number || number > UINT32_MAX))
		say_usage("impossible window '%s'; --window takes a number from 1 on, as "
		          "adaptrace info shows it, or the word history",
		          arg);
	options->window = options->history ? 0 : (uint32_t)number;
}

int selection_options_parse(struct selection_options *options, int key, char *arg)
{
	switch (key) {
	case OPT_TIME:
		options->time = arg;
		return 0;
	case OPT_ONLY:
		options->only[options->nr_only++] = arg;
		return 0;
	case OPT_WINDOW:
		parse_window(options, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void selection_options_fini(struct selection_options *options)
{
	thread_filter_fini(&options->filter);
	free(options->only);
	*options = (struct selection_options){0};
}

/* --- when ------------------------------------------------------------------------------------- */

/* Returns the ns of a unit, as reports or people write it. < 0: there is no such unit. */
static double unit_of_time(const char **at, double length)
{
	const struct {
		const char *name;
		double ns;
	} units[] = {
		{"s", 1e9},  {"ms", 1e6},   {"us", 1e3},   {"µs", 1e3},         {"ns", 1},
		{"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"%", length / 100},
	};
	const char *name = *at + strspn(*at, " ");
	size_t size = strcspn(name, " 0123456789");

	*at = name + size + strspn(name + size, " ");
	if (!size && !**at)
		return 1e9;
	for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (size == strlen(units[i].name) && !strncmp(name, units[i].name, size))
			return units[i].ns;
	return -1;
}

/* Seconds since the start, "2 h 5 min", or a percentage of the run; what is empty keeps *time. */
static int parse_time(const struct trace_run *run, const char *text, uint64_t *time)
{
	double sum = 0, value, unit;
	char *end;

	if (!*text)
		return 0;
	do {
		value = strtod(text, &end);
		if (end == text || !isfinite(value))
			return -EINVAL;
		text = end;
		unit = unit_of_time(&text, (double)trace_wall(run));
		sum += value * unit;
		if (value < 0 || unit < 0 || sum > 1e18)
			return -EINVAL;
	} while (*text);
	*time = run->start + (uint64_t)sum;
	return 0;
}

static int parse_span(const struct trace_run *run, const char *text, struct selection *selection)
{
	char from[64];
	const char *comma = strchr(text, ',');

	if (!comma || (size_t)(comma - text) >= sizeof(from))
		return -EINVAL;
	memcpy(from, text, (size_t)(comma - text));
	from[comma - text] = 0;
	if (parse_time(run, from, &selection->from) || parse_time(run, comma + 1, &selection->to) ||
	    selection->from >= selection->to)
		return -EINVAL;
	if (selection->from > run->end && trace_wall(run))
		return -ERANGE;
	/* The last sample belongs to the last part. */
	if (selection->to >= run->end && trace_wall(run))
		selection->to = UINT64_MAX;
	return 0;
}

static int choose_span(const struct trace_run *run, const char *text, struct selection *selection)
{
	int err = parse_span(run, text, selection);
	char length[TEXT_SIZE];

	if (err == -ERANGE) {
		text_quantity(length, (double)trace_wall(run), TRACE_NS);
		say("'%s' begins after the end of the run, which took %s", text, length);
	} else if (err) {
		say("'%s' is no part of the run; --time takes FROM,TO in seconds since its "
		    "start, or as in 2min,3min or 25%%,50%%",
		    text);
	}
	return err;
}

/* --- who -------------------------------------------------------------------------------------- */

static bool has_ranks(const struct trace *trace)
{
	const struct trace_process *process;

	for (uint32_t i = 0; (process = trace_process(trace, i)); i++)
		if (process->rank >= 0)
			return true;
	return false;
}

/* Reports that the wanted part is not in the trace. */
static void say_nobody(const struct trace *trace, const char *path, const char *wanted)
{
	bool rank = !strncmp(wanted, "rank=", 5);

	if (rank && !has_ranks(trace))
		say("'%s' has no ranks; adaptrace merge joins the traces of all ranks", path);
	else
		say("nothing in '%s' is of %s; report %s shows what is", path, wanted,
		    rank ? "--per-rank" : "--sort comm, process, thread or cpu");
}

static int choose_filter(struct selection_options *options, const struct trace *trace,
                         const char *path)
{
	const char *wrong = NULL;
	int err = thread_filter_init(&options->filter, trace, options->only, options->nr_only,
	                             &wrong);

	if (err == -EINVAL)
		say("'%s' does not say whom to show; --only takes comm=NAME, process=PID, "
		    "thread=TID, rank=N and cpu=N",
		    wrong);
	else if (err == -ENOENT)
		say_nobody(trace, path, wrong);
	else if (err)
		open_trace_status(path, err);
	else
		options->chosen.filter = &options->filter;
	return err;
}

/* --- window ----------------------------------------------------------------------------------- */

int selection_choose_window(const struct selection_options *options, struct trace *trace,
                            const char *path)
{
	int err = 0;

	if (options->window)
		err = trace_choose_window(trace, options->window);
	else if (options->history)
		err = trace_choose_history(trace);
	if (err == -ENOENT && options->history)
		say("there is no history in '%s'; adaptrace record --history 10s keeps one", path);
	else if (err == -ENOENT)
		say("there is no window %u in '%s'; adaptrace info shows those that there are",
		    options->window, path);
	else if (err)
		open_trace_status(path, err);
	return err;
}

/* --time is of the run, and its part outside of the window has no samples. */
static void limit_to_window(const struct trace *trace, struct selection *selection)
{
	const struct trace_window *window = trace_chosen_window(trace);

	if (!window)
		return;
	if (selection->from < window->from)
		selection->from = window->from;
	if (window->to && selection->to > window->to)
		selection->to = window->to;
}

int selection_choose(struct selection_options *options, const struct trace *trace, const char *path,
                     const struct selection **selection)
{
	options->chosen = (struct selection){.to = UINT64_MAX};
	*selection =
		selection_wanted(options) || trace_chosen_window(trace) ? &options->chosen : NULL;
	if (options->time && choose_span(trace_run(trace), options->time, &options->chosen))
		return -EINVAL;
	limit_to_window(trace, &options->chosen);
	return options->nr_only ? choose_filter(options, trace, path) : 0;
}
