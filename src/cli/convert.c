#include "cli/bounds.h"
#include "cli/commands.h"
#include "cli/convert_output.h"
#include "cli/foreign_options.h"
#include "cli/selection_options.h"
#include "cli/open_trace.h"
#include "cli/say.h"
#include "output/profile/profile.h"
#include "output/profile/thread_shares.h"
#include "output/text/text.h"
#include "trace/trace_calls.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct convert_options {
	struct convert_output output;
	const char *event;
	struct selection_options selection;
	bool enter_leave;
};

/* --- which event ------------------------------------------------------------------------------ */

#define NAMES_SIZE 512

static void append(char names[NAMES_SIZE], const char *before, const char *name)
{
	size_t size = strlen(names);

	snprintf(names + size, NAMES_SIZE - size, "%s%s", before, name);
}

static void add_known(char known[NAMES_SIZE], const struct trace *trace, uint32_t name)
{
	append(known, *known ? ", " : "", trace_string(trace, name));
}

static void complain_event(const struct trace *trace, const struct converter *converter,
                           const char *wanted)
{
	const struct trace_event *event;
	const struct trace_counter *counter;
	char known[NAMES_SIZE] = "";

	for (uint32_t i = 0; (event = trace_event(trace, i)); i++)
		add_known(known, trace, event->name);
	for (uint32_t i = 0; converter->one_counter && (counter = trace_counter(trace, i)); i++)
		add_known(known, trace, counter->name);
	say("the trace has no event '%s'; it has: %s", wanted, known);
}

/* An event, or a counter where the format can be of one. */
static int find_event(const struct trace *trace, const struct converter *converter,
                      const char *wanted, struct conversion *conversion)
{
	const struct trace_counter *counter;

	conversion->event = wanted ? trace_find_event(trace, wanted) : 0;
	conversion->event_alone = wanted && !converter->one_event;
	if (conversion->event != TRACE_ALL_EVENTS)
		return 0;
	conversion->event = 0;
	for (uint32_t i = 0; (counter = trace_counter(trace, i)); i++) {
		if (strcmp(trace_string(trace, counter->name), wanted) != 0)
			continue;
		conversion->counter = i + 1;
		if (converter->one_counter)
			return 0;
		say("'%s' is a counter, which --%s does not show by itself; --flamegraph does",
		    wanted, converter->name);
		return -EINVAL;
	}
	complain_event(trace, converter, wanted);
	return -EINVAL;
}

/* --- one trace ------------------------------------------------------------------------------- */

/* Makes "report, --folded and --flamegraph" of the formats that show what was not sampled. */
static void name_shown(char names[NAMES_SIZE])
{
	const struct converter *converter, *last = NULL;

	append(names, "", "report");
	for (unsigned i = 0; (converter = converter_at(i)); i++) {
		if (!converter->unsampled)
			continue;
		if (last)
			append(names, ", --", last->name);
		last = converter;
	}
	if (last)
		append(names, " and --", last->name);
}

/* The formats of samples alone cannot show what was not sampled. */
static void tell_unsampled(const struct convert_options *options,
                           const struct conversion *conversion)
{
	const struct trace *trace = conversion->trace;
	const struct trace_event *event = trace_event(trace, 0);
	struct coverage coverage;
	char exact[TEXT_SIZE], part[TEXT_SIZE], shown[NAMES_SIZE] = "";

	if (options->output.converter->unsampled || conversion->event || conversion->selection ||
	    trace_chosen_window(trace) || !shares_lack_samples(trace, &coverage))
		return;
	text_quantity(exact, (double)coverage.exact, event->unit);
	name_shown(shown);
	say("samples cover %s of the exact %s of %s; %s show the rest as %s, --%s has no place for "
	    "it",
	    text_share(part, coverage.sampled, coverage.exact), exact,
	    trace_string(trace, event->name), shown, profile_unsampled_in(trace),
	    options->output.converter->name);
}

static void tell_unpaired(const struct conversion *conversion)
{
	if (conversion->unpaired)
		say("%" PRIu64 " ends of messages and collectives are left out: their other ends "
		    "were dropped with their iterations, or cannot be told from others",
		    conversion->unpaired);
	if (conversion->has_unsure_pairs)
		say("viewers pair messages by their order, and may pair wrong ones, as calls were "
		    "dropped: record with a larger -m, or with --events-policy iterations");
}

static int check_calls(const struct convert_options *options, const struct trace *trace)
{
	if (!options->enter_leave || trace_has_calls(trace))
		return 0;
	say("'%s' has no calls to enter and to leave: record it with --mpi, or convert it with its "
	    "samples",
	    options->output.from);
	return -ENODATA;
}

/* The exit status for an error that was told. */
static int convert_trace(struct convert_options *options, const struct trace *trace)
{
	char *name = convert_output_name(&options->output);
	char *scratch = name ? convert_output_scratch(name) : NULL;
	struct conversion conversion = {
		.trace = trace, .scratch = scratch, .enter_leave = options->enter_leave};
	int err = -ENOMEM, status = 1;

	if (!scratch)
		say("cannot convert '%s': %s", options->output.from, strerror(ENOMEM));
	else
		err = find_event(trace, options->output.converter, options->event, &conversion);
	if (!err) {
		err = selection_choose(&options->selection, trace, options->output.from,
		                       &conversion.selection);
		status = err == -EINVAL ? 2 : 1;
	}
	/* Viewers that show all of a run have the window's samples in it. */
	if (!options->output.converter->one_part)
		conversion.selection = NULL;
	if (!err)
		err = check_calls(options, trace);
	if (!err)
		err = convert_output_check(&options->output, name);
	if (!err)
		err = convert_output_write(&options->output, &conversion, name);
	if (!err)
		tell_unsampled(options, &conversion);
	if (!err)
		tell_unpaired(&conversion);
	if (!err && !options->enter_leave)
		say_callers(trace);
	if (!err && !options->output.named && !options->output.quiet)
		say("\u2192 %s", name);
	free(name);
	free(scratch);
	return err ? status : 0;
}

/* --- the command ------------------------------------------------------------------------------ */

enum { KEY_CONVERTER = 0x100, KEY_OTF2_EVENTS = 0x200 };

static void choose_converter(struct convert_options *options, const struct converter *converter)
{
	const struct converter *before = options->output.converter;

	if (before && before != converter)
		say_usage("--%s or --%s: one at a time", before->name, converter->name);
	options->output.converter = converter;
}

static void check_options(const struct convert_options *options)
{
	const struct converter *converter = options->output.converter;

	if (!converter)
		say_usage("name a format, for example --flamegraph; adaptrace help convert shows "
		          "all");
	if (options->output.named && !*options->output.named)
		say_usage("the output's name is empty");
	if (options->enter_leave && strcmp(converter->name, "otf2") != 0)
		say_usage("--otf2-events is for --otf2");
	if (options->event && !converter->one_event && !converter->event_alone)
		say_usage("--%s writes all events: --event does not apply", converter->name);
	if (selection_wanted(&options->selection) && !converter->one_part)
		say_usage("--%s writes all of a run, for viewers that choose the part to "
		          "show: --time and --only do not apply",
		          converter->name);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct convert_options *options = state->input;

	if (key >= KEY_CONVERTER && key < KEY_OTF2_EVENTS) {
		choose_converter(options, converter_at((unsigned)key - KEY_CONVERTER));
		return 0;
	}
	switch (key) {
	case KEY_OTF2_EVENTS:
		options->enter_leave = !strcmp(arg, "enter-leave");
		if (!options->enter_leave && strcmp(arg, "contexts") != 0)
			say_usage("--otf2-events is contexts or enter-leave, not '%s'", arg);
		return 0;
	case 'e':
		open_trace_take_event(&options->event, arg);
		return 0;
	case 'f':
		options->output.force = true;
		return 0;
	case 'o':
		options->output.named = arg;
		return 0;
	case 'q':
		options->output.quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		open_trace_take(&options->output.from, arg);
		return 0;
	case ARGP_KEY_END:
		check_options(options);
		return 0;
	default:
		return selection_options_parse(&options->selection, key, arg);
	}
}

/* The formats' options, and then the rest. */
static void list_options(struct argp_option known[MAX_CONVERTERS + 11])
{
	static const struct argp_option rest[] = {
		{NULL, 0, NULL, 0, "Options:", 2},
		{"event", 'e', "EVENT", 0, "the event or counter, for formats of one (the first)",
	         2},
		{"force", 'f', NULL, 0, "replace the output if it exists", 2},
		{"output", 'o', "FILE", 0,
	         "write here; -: to standard output (beside the trace, with its name)", 2},
		{"otf2-events", KEY_OTF2_EVENTS, "KIND", 0,
	         "contexts (default), or enter-leave: calls alone, for readers like ViTE", 2},
		{TIME_OPTION, 2},
		{ONLY_OPTION, 2},
		{WINDOW_OPTION, 2},
		{"quiet", 'q', NULL, 0, "show neither progress nor the name of the output", 2},
		{0},
	};
	const struct converter *converter;
	unsigned nr = 0;

	known[nr++] = (struct argp_option){.doc = "Formats:", .group = 1};
	for (unsigned i = 0; (converter = converter_at(i)); i++)
		known[nr++] = (struct argp_option){.name = converter->name,
		                                   .key = (int)(KEY_CONVERTER + i),
		                                   .doc = converter->what,
		                                   .group = 1};
	memcpy(&known[nr], rest, sizeof(rest));
}

static int convert_file(struct convert_options *options)
{
	const struct converter *converter = options->output.converter;
	struct trace *trace;
	int status;

	if (!converter->to_file && !converter->to_folder) {
		say("this adaptrace was built without --%s; install %s and build it again",
		    converter->name, converter->missing);
		return 1;
	}
	options->output.trace_size = bounds_trace_size(options->output.from);
	trace = open_trace(options->output.from);
	if (!trace)
		return 1;
	status = selection_choose_window(&options->selection, trace, options->output.from)
	                 ? 1
	                 : convert_trace(options, trace);
	trace_close(trace);
	return status;
}

int cmd_convert(int argc, char **argv)
{
	struct argp_option known[MAX_CONVERTERS + 11];
	const struct argp argp = {
		known,
		parse_option,
		"--FORMAT [FILE]",
		"Converts a trace to the formats of other tools.\v"
		"FILE is " DEFAULT_TRACE " if not given. The output appears under its name when "
		"it is whole, and an existing one is kept unless --force is given.",
	};
	struct convert_options options = {0};
	int status = 2;

	if (selection_options_init(&options.selection, argc))
		return open_trace_status(DEFAULT_TRACE, -ENOMEM);
	list_options(known);
	if (!foreign_options_parse(&argp, argc, argv, 2, 0, &options)) {
		if (!options.output.from)
			options.output.from = DEFAULT_TRACE;
		status = convert_file(&options);
	}
	selection_options_fini(&options.selection);
	return status;
}
