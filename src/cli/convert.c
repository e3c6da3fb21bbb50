#include "cli/commands.h"
#include "cli/expected_size.h"
#include "cli/habits.h"
#include "cli/part_options.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/say.h"
#include "output/convert.h"
#include "output/trace_calls.h"
#include "output/new_file.h"
#include "output/new_folder.h"
#include "output/profile.h"
#include "output/shares.h"
#include "output/text.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct convert_options {
	const struct converter *converter;
	const char *output, *event, *file;
	struct part_options part;
	bool force, quiet;
	bool enter_leave;
};

/* --- names ------------------------------------------------------------------------------------ */

/* Beside the trace: x.atr becomes x.folded, or x-otf2. */
static char *default_output(const struct convert_options *options)
{
	size_t size = strlen(options->file);
	char *name;

	if (size > 4 && !strcmp(options->file + size - 4, ".atr"))
		size -= 4;
	if (asprintf(&name, "%.*s%s", (int)size, options->file, options->converter->suffix) < 0)
		return NULL;
	return name;
}

/* Where -o names the archive's first file its folder is meant. */
static char *wanted_output(const struct convert_options *options)
{
	static const char anchor[] = "/traces.otf2";
	size_t size = strlen(options->output);

	if (options->converter->to_folder) {
		if (size > strlen(anchor) &&
		    !strcmp(options->output + size - strlen(anchor), anchor))
			size -= strlen(anchor);
		while (size > 1 && options->output[size - 1] == '/')
			size--;
	}
	return strndup(options->output, size);
}

static char *scratch_folder(const char *output)
{
	const char *folder = getenv("TMPDIR");
	char *copy, *name;

	if (!strcmp(output, "-"))
		return strdup(folder && *folder ? folder : "/var/tmp");
	copy = strdup(output);
	name = copy ? strdup(dirname(copy)) : NULL;
	free(copy);
	return name;
}

/* --- which event ------------------------------------------------------------------------------ */

static void add_known(char known[512], const struct trace *trace, uint32_t name)
{
	size_t size = strlen(known);

	snprintf(known + size, 512 - size, "%s%s", size ? ", " : "", trace_string(trace, name));
}

static void complain_event(const struct trace *trace, const struct converter *converter,
                           const char *wanted)
{
	const struct trace_event *event;
	const struct trace_counter *counter;
	char known[512] = "";

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

/* --- writing ---------------------------------------------------------------------------------- */

#define BUFFER_SIZE (256 << 10)

struct writing {
	struct progress progress;
	struct expected_size expected;
	const struct convert_options *options;
	const char *output;
};

static void tell_size(struct writing *writing, uint64_t size)
{
	const struct converter *converter = writing->options->converter;
	char text[TEXT_SIZE];

	text_bytes(text, size);
	progress_clear(&writing->progress);
	say("'%s' will take about %s%s%s; for fewer samples, convert what 'adaptrace merge -m 4M "
	    "-o thin.atr %s' makes",
	    writing->output, text, converter->instead ? "; " : "",
	    converter->instead ? converter->instead : "", writing->options->file);
}

static int writing_tick(void *arg, double share)
{
	struct writing *writing = arg;
	uint64_t size = expected_size(&writing->expected, share);

	if (size)
		tell_size(writing, size);
	return progress_tick(&writing->progress, share);
}

static int to_standard_output(struct conversion *conversion, const struct converter *converter)
{
	int err;

	setvbuf(stdout, NULL, _IOFBF, BUFFER_SIZE);
	err = converter->to_file(conversion, stdout);
	return err ? err : new_file_flush(stdout);
}

/* A signal that came too late for the converter is in time for its output. */
static int finished(const struct conversion *conversion, int err)
{
	return err ? err : conversion->tick(conversion->arg, 1);
}

static int to_named_file(struct conversion *conversion, const struct converter *converter,
                         const char *output, bool force)
{
	struct writing *writing = conversion->arg;
	struct new_file file;
	int err = new_file_open(&file, output);

	if (err)
		return err;
	setvbuf(file.file, NULL, _IOFBF, BUFFER_SIZE);
	file.existing = force ? NEW_FILE_REPLACE : NEW_FILE_REFUSE;
	writing->expected.file = file.file;
	err = converter->to_file(conversion, file.file);
	return new_file_close(&file, finished(conversion, err));
}

static int to_named_folder(struct conversion *conversion, const struct converter *converter,
                           const char *output, bool force)
{
	struct new_folder folder;
	int err = new_folder_open(&folder, output, force, converter->known);

	if (err)
		return err;
	err = converter->to_folder(conversion, folder.temporary);
	return new_folder_close(&folder, finished(conversion, err));
}

static bool is_file_or_folder(const struct stat *stat)
{
	return S_ISREG(stat->st_mode) || S_ISDIR(stat->st_mode);
}

static bool is_writable(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/* Before a long conversion; what appears meanwhile is found when the result gets its name. */
static int check_output(const struct convert_options *options, const char *output)
{
	const struct converter *converter = options->converter;
	struct stat stat_now;

	if (!strcmp(output, "-")) {
		if (converter->to_folder)
			say("--%s writes a folder, not to standard output; name it with -o",
			    converter->name);
		else if (!converter->text && isatty(STDOUT_FILENO))
			say("--%s does not write to a terminal; redirect it or name a file with -o",
			    converter->name);
		else if (!is_writable(STDOUT_FILENO))
			say("cannot write to standard output: %s", strerror(EBADF));
		else
			return 0;
		return -EINVAL;
	}
	if (stat(output, &stat_now))
		return 0;
	if (new_file_is_same(options->file, output)) {
		say("'%s' is the trace itself; name another output with -o", output);
		return -EEXIST;
	}
	if (S_ISDIR(stat_now.st_mode) && !converter->to_folder) {
		say("'%s' is a folder, and --%s writes a file; name that with -o", output,
		    converter->name);
		return -EISDIR;
	}
	if (options->force)
		return 0;
	if (!is_file_or_folder(&stat_now))
		return 0; /* a device or pipe */
	say("'%s' exists; replace it with --force or name another with -o", output);
	return -EEXIST;
}

/* Not a link to one. */
static bool is_own_folder(const char *path)
{
	struct stat now;

	return !lstat(path, &now) && S_ISDIR(now.st_mode);
}

static void complain(const struct convert_options *options, const char *scratch, const char *output,
                     int err)
{
	if (err == -EBADMSG)
		say("cannot convert '%s': its records make no sense; record again", options->file);
	else if (err == -ENODATA)
		say("cannot convert '%s': --%s needs a sample or a call, and there is none; record "
		    "for longer, or more often (-F, -c)",
		    options->file, options->converter->name);
	else if (err == -EEXIST && options->force)
		say("'%s' is not replaced: it %s; name another with -o", output,
		    is_own_folder(output) ? "holds more than an archive" : "is no folder");
	else if (err == -EEXIST)
		say("'%s' exists; replace it with --force or name another with -o", output);
	else if (!strcmp(output, "-") && access(scratch, W_OK | X_OK))
		say("cannot keep intermediate data in '%s': %s; TMPDIR names a folder for it",
		    scratch, strerror(errno));
	else if (err != -EINTR && !strcmp(output, "-"))
		say("cannot write to standard output: %s", strerror(-err));
	else if (err != -EINTR)
		say("cannot write '%s': %s", output, strerror(-err));
}

static int write_output(const struct convert_options *options, struct conversion *conversion,
                        const char *output)
{
	const struct converter *converter = options->converter;
	bool standard = !strcmp(output, "-"), hold = !standard;
	struct writing writing = {.options = options, .output = output};
	struct stat stat_now;
	int err;

	/* There is nothing to clean up of a pipe, and it may wait for its reader for ever. */
	if (hold && !stat(output, &stat_now))
		hold = is_file_or_folder(&stat_now);
	progress_begin(&writing.progress, hold, options->quiet);
	conversion->tick = writing_tick;
	conversion->arg = &writing;
	if (converter->to_folder)
		err = to_named_folder(conversion, converter, output, options->force);
	else if (standard)
		err = to_standard_output(conversion, converter);
	else
		err = to_named_file(conversion, converter, output, options->force);
	progress_end(&writing.progress);
	conversion->tick = NULL;
	conversion->arg = NULL;
	if (err)
		complain(options, conversion->scratch, output, err);
	return err;
}

/* The formats of samples alone cannot show what was not sampled. */
static void tell_unsampled(const struct convert_options *options,
                           const struct conversion *conversion)
{
	const struct trace *trace = conversion->trace;
	const struct trace_event *event = trace_event(trace, 0);
	struct coverage coverage;
	char exact[TEXT_SIZE], part[TEXT_SIZE];

	if (options->converter->unsampled || conversion->event || conversion->part ||
	    !shares_lack_samples(trace, &coverage))
		return;
	text_quantity(exact, (double)coverage.exact, event->unit);
	say("samples cover %s of the exact %s of %s; report, --folded and --flamegraph show "
	    "the rest as %s, --%s has no place for it",
	    text_share(part, coverage.sampled, coverage.exact), exact,
	    trace_string(trace, event->name), profile_unsampled_in(trace),
	    options->converter->name);
}

static int check_calls(const struct convert_options *options, const struct trace *trace)
{
	if (!options->enter_leave || trace_has_calls(trace))
		return 0;
	say("'%s' has no calls to enter and to leave: record it with --mpi, or convert it with its "
	    "samples",
	    options->file);
	return -ENODATA;
}

/* The exit status for an error that was told. */
static int convert_trace(struct convert_options *options, const struct trace *trace)
{
	char *output = options->output ? wanted_output(options) : default_output(options);
	char *scratch = output ? scratch_folder(output) : NULL;
	struct conversion conversion = {
		.trace = trace, .scratch = scratch, .enter_leave = options->enter_leave};
	int err = -ENOMEM, status = 1;

	if (!scratch)
		say("cannot convert '%s': %s", options->file, strerror(ENOMEM));
	else
		err = find_event(trace, options->converter, options->event, &conversion);
	if (!err) {
		err = part_choose(&options->part, trace, options->file, &conversion.part);
		status = err == -EINVAL ? 2 : 1;
	}
	if (!err)
		err = check_calls(options, trace);
	if (!err)
		err = check_output(options, output);
	if (!err)
		err = write_output(options, &conversion, output);
	if (!err)
		tell_unsampled(options, &conversion);
	if (!err && !options->output && !options->quiet)
		say("\u2192 %s", output);
	free(output);
	free(scratch);
	return err ? status : 0;
}

/* --- the command ------------------------------------------------------------------------------ */

enum { MAX_CONVERTERS = 16, KEY_CONVERTER = 0x100, KEY_OTF2_EVENTS = 0x200 };

static void choose_converter(struct convert_options *options, const struct converter *converter)
{
	if (options->converter && options->converter != converter)
		say_usage("--%s or --%s: one at a time", options->converter->name, converter->name);
	options->converter = converter;
}

static void check_options(const struct convert_options *options)
{
	const struct converter *converter = options->converter;

	if (!converter)
		say_usage("name a format, for example --flamegraph; adaptrace help convert shows "
		          "all");
	if (options->output && !*options->output)
		say_usage("the output's name is empty");
	if (options->enter_leave && strcmp(converter->name, "otf2") != 0)
		say_usage("--otf2-events is for --otf2");
	if (options->event && !converter->one_event && !converter->event_alone)
		say_usage("--%s writes all events: --event does not apply", converter->name);
	if (part_wanted(&options->part) && !converter->one_part)
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
		reading_take_event(&options->event, arg);
		return 0;
	case 'f':
		options->force = true;
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		reading_take(&options->file, arg);
		return 0;
	case ARGP_KEY_END:
		check_options(options);
		return 0;
	default:
		return part_options_parse(&options->part, key, arg);
	}
}

/* The formats' options, and then the rest. */
static void list_options(struct argp_option known[MAX_CONVERTERS + 10])
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
		{"quiet", 'q', NULL, 0, "show neither progress nor the name of the output", 2},
		{0},
	};
	const struct converter *converter;
	unsigned nr = 0;

	known[nr++] = (struct argp_option){.doc = "Formats:", .group = 1};
	for (unsigned i = 0; i < MAX_CONVERTERS && (converter = converter_at(i)); i++)
		known[nr++] = (struct argp_option){.name = converter->name,
		                                   .key = (int)(KEY_CONVERTER + i),
		                                   .doc = converter->what,
		                                   .group = 1};
	memcpy(&known[nr], rest, sizeof(rest));
}

static int convert_file(struct convert_options *options)
{
	const struct converter *converter = options->converter;
	struct trace *trace;
	int status;

	if (!converter->to_file && !converter->to_folder) {
		say("this adaptrace was built without --%s; install %s and build it again",
		    converter->name, converter->missing);
		return 1;
	}
	trace = reading_open(options->file);
	if (!trace)
		return 1;
	status = convert_trace(options, trace);
	trace_close(trace);
	return status;
}

int cmd_convert(int argc, char **argv)
{
	struct argp_option known[MAX_CONVERTERS + 10];
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

	if (part_options_init(&options.part, argc))
		return reading_done(DEFAULT_TRACE, -ENOMEM);
	list_options(known);
	if (!habits_parse(&argp, argc, argv, 2, 0, &options)) {
		if (!options.file)
			options.file = DEFAULT_TRACE;
		status = convert_file(&options);
	}
	part_options_fini(&options.part);
	return status;
}
