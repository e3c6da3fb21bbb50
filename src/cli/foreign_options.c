#include "cli/foreign_options.h"

#include "cli/say.h"
#include "cli/wrong_option.h"

#include <argp.h>
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- commands --------------------------------------------------------------------------------- */

const char *foreign_command(const char *name)
{
	static const struct {
		const char *name, *advice;
	} foreign[] = {
		{"annotate", "report --annotate NAME shows a function's code"},
		{"archive", "a trace has its names with it: copy the file"},
		{"attach", "record -p PID attaches to a process"},
		{"collect", "record samples a program"},
		{"c2c", "record --data keeps what memory accesses met, report --sort mem shows it"},
		{"evlist", "info shows a trace's events"},
		{"export", "convert makes what other viewers open"},
		{"flamegraph", "convert --flamegraph makes an SVG"},
		{"graph", "report --tree shows call paths"},
		{"live", "record samples a program, report shows what it spent"},
		{"load", "convert --firefox makes what profiler.firefox.com opens"},
		{"lock", "record -e context-switches shows where threads wait for one"},
		{"mem", "record --data keeps what memory accesses met, report --sort mem shows it"},
		{"probe", "record -e uprobe:FILE:FUNCTION samples the calls of a function"},
		{"profile", "record samples a program"},
		{"replay", "report --tree shows call paths, dump every sample in order"},
		{"run", "record samples a program"},
		{"sched", "record -e context-switches shows where threads give up their CPU"},
		{"script", "dump shows every sample, convert --perf-script as perf script does"},
		{"stat", "info shows a trace's exact totals, record --counters reads more events"},
		{"trace", "record -e raw_syscalls:sys_enter samples system calls"},
		{"tui", "report shows tables, convert makes what other viewers open"},
	};

	for (unsigned i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		if (!strcmp(name, foreign[i].name))
			return foreign[i].advice;
	return NULL;
}

/* --- options ---------------------------------------------------------------------------------- */

/* A foreign option as a hidden option of argp, with the advice in place of its help text. */
#define FOREIGN(name, key, advice)                                             \
	{                                                                      \
		name, key, "X", OPTION_HIDDEN | OPTION_ARG_OPTIONAL, advice, 0 \
	}
/* Accepted, because it is always so. */
#define ALWAYS(name, key)                               \
	{                                               \
		name, key, NULL, OPTION_HIDDEN, NULL, 0 \
	}
/* Accepted before the name of the trace. */
#define INPUT                                                \
	{                                                    \
		"input", 'i', "FILE", OPTION_HIDDEN, NULL, 0 \
	}
#define NO_LETTER (256 + __LINE__)
#define OPT_USAGE 256
/* argp has these as well, but with three lines for each mistake. */
#define HELP                                                                  \
	{NULL, 'h', NULL, OPTION_HIDDEN, "", 0},                              \
		{"help", '?', NULL, 0, "Give this help list", -1},            \
	{                                                                     \
		"usage", OPT_USAGE, NULL, 0, "Give a short usage message", -1 \
	}

#define MAX_OPTIONS 64 /* of a command; more than there are */

#define PROGRAM "adaptrace "

struct parsing {
	struct argp argp; /* the root that argp knows */
	void *input;      /* of its parser */
};

static const struct argp_option record_foreign[] = {
	HELP,
	FOREIGN("all-kernel", NO_LETTER, "-e EVENT:k samples the kernel's side alone"),
	FOREIGN("all-user", NO_LETTER, "-e EVENT:u samples the programs' side alone"),
	FOREIGN("branch-any", 'b', "-g lbr takes call paths from the processor's branch records"),
	FOREIGN("branch-filter", 'j',
                "-g lbr takes call paths from the processor's branch records"),
	ALWAYS("buildid-all", NO_LETTER),
	FOREIGN("cgroup-name", 'G', "--cgroup NAME samples a cgroup"),
	FOREIGN("clockid", 'k', "times are those of CLOCK_MONOTONIC without it"),
	FOREIGN("compression-level", 'z', "the trace is compact already, and -m bounds its size"),
	FOREIGN("exclude-perf", NO_LETTER, "report --sort comm,symbol shows the recorder apart"),
	FOREIGN("filter", NO_LETTER,
                "events are sampled unfiltered; report --only shows some threads or CPUs"),
	FOREIGN("max-size", NO_LETTER, "-m bounds the memory, and the trace with it"),
	FOREIGN("mmap-pages", NO_LETTER, "-m is the memory for the whole run"),
	FOREIGN("no-inherit", 'i',
                "children are always sampled; report --only process=PID shows one process"),
	ALWAYS("no-open", NO_LETTER),
	FOREIGN("off-cpu", NO_LETTER,
                "threads are sampled on a CPU; -e context-switches shows where they give it up"),
	FOREIGN("overwrite", NO_LETTER,
                "the memory never overflows; adaptrace snapshot makes a "
                "trace of what it has"),
	FOREIGN("per-thread", NO_LETTER, "report --per-thread has a table for every thread"),
	FOREIGN("rate", 'r', "-F HZ is the frequency to start with"),
	ALWAYS("sample-cpu", NO_LETTER),
	ALWAYS("save-only", NO_LETTER),
	FOREIGN("start-after", 'D', "--delay SECONDS starts sampling later"),
	FOREIGN("stat", 's', "report --per-thread shows what each thread spent"),
	FOREIGN("switch-output", NO_LETTER,
                "the memory never overflows; adaptrace snapshot makes a "
                "trace of what it has"),
	FOREIGN("tid", 't',
                "-p PID samples a whole process; report --only thread=TID shows one thread of it"),
	ALWAYS("timestamp", 'T'),
	FOREIGN("uid", 'u', "--cgroup NAME does it, such as --cgroup user.slice/user-1000.slice"),
	FOREIGN("verbose", 'v', "adaptrace info tells how it was recorded"),
	FOREIGN("weight", 'W', "--data keeps what memory accesses met"),
	{0},
};

static const struct argp_option report_foreign[] = {
	HELP,
	FOREIGN("call-graph", 'g', "--tree shows call paths, --callers NAME who called a function"),
	FOREIGN("children", NO_LETTER, "the column total includes them; --sort total sorts by it"),
	FOREIGN("column-widths", 'w', "names are cut to the width of a terminal only"),
	FOREIGN("comms", 'c', "--only comm=NAME"),
	FOREIGN("cpu", 'C', "--only cpu=N"),
	FOREIGN("csv", NO_LETTER, "--json is for programs"),
	ALWAYS("demangle", NO_LETTER),
	FOREIGN("depth", NO_LETTER, "--max-depth N cuts trees"),
	FOREIGN("dsos", 'd', "--sort module shows what each module spent"),
	FOREIGN("dump-raw-trace", 'D', "adaptrace dump shows every sample"),
	FOREIGN("field-separator", 't', "--json is for programs"),
	FOREIGN("fields", 'F', "--sort KEYS chooses rows and columns"),
	ALWAYS("force", 'f'),
	FOREIGN("header", NO_LETTER, "adaptrace info tells how a trace was recorded"),
	FOREIGN("header-only", NO_LETTER, "adaptrace info tells how a trace was recorded"),
	FOREIGN("hierarchy", NO_LETTER, "--sort comm,module,symbol has a row for each"),
	ALWAYS("inline", NO_LETTER),
	INPUT,
	FOREIGN("inverted", 'G', "--tree goes from the roots down, --callers NAME up to them"),
	FOREIGN("max-stack", NO_LETTER, "--max-depth N cuts trees"),
	ALWAYS("no-children", NO_LETTER),
	FOREIGN("output", 'o', "tables go to standard output"),
	FOREIGN("parent", 'p', "--callers NAME shows who called a function"),
	FOREIGN("pid", NO_LETTER, "--only process=PID"),
	ALWAYS("show-nr-samples", 'n'),
	FOREIGN("stats", NO_LETTER, "adaptrace info has the numbers of samples"),
	ALWAYS("stdio", NO_LETTER),
	FOREIGN("symbol-filter", 'S', "--callers, --callees and --annotate show one function"),
	FOREIGN("symfs", NO_LETTER, "--symbols=DIR looks names up again with the files in DIR"),
	FOREIGN("threads", 'T', "--per-thread has a table for every thread"),
	FOREIGN("tid", NO_LETTER, "--only thread=TID"),
	FOREIGN("top", NO_LETTER, "--limit N shows the first N rows"),
	FOREIGN("tui", NO_LETTER, "adaptrace convert makes what other viewers open"),
	FOREIGN("verbose", 'v', "adaptrace info tells how a trace was recorded"),
	FOREIGN("vmlinux", 'k', "the kernel's names were taken when the trace was recorded"),
	{0},
};

#define BY_LINE "a sample is a line, of which grep and awk choose"

static const struct argp_option dump_foreign[] = {
	HELP,
	FOREIGN("chrome", NO_LETTER, "adaptrace convert --chrome makes what Perfetto opens"),
	FOREIGN("comms", 'c', BY_LINE),
	FOREIGN("cpu", 'C', BY_LINE),
	FOREIGN("flame-graph", NO_LETTER, "adaptrace convert --flamegraph makes an SVG"),
	FOREIGN("fields", 'F',
                "--json has all fields; convert --perf-script prints what perf does"),
	INPUT,
	FOREIGN("pid", NO_LETTER, BY_LINE),
	FOREIGN("tid", NO_LETTER, BY_LINE),
	FOREIGN("time", NO_LETTER, BY_LINE),
	{0},
};

/* Viewers, by the names of the formats that they open. */
static const struct argp_option convert_foreign[] = {
	HELP,
	INPUT,
	FOREIGN("json", NO_LETTER,
                "--speedscope and --chrome make JSON, adaptrace report --json a table"),
	FOREIGN("kcachegrind", NO_LETTER, "--callgrind makes what it opens"),
	FOREIGN("perfetto", NO_LETTER, "--chrome makes what it opens"),
	FOREIGN("qcachegrind", NO_LETTER, "--callgrind makes what it opens"),
	FOREIGN("samply", NO_LETTER, "--firefox makes what its viewer opens"),
	FOREIGN("svg", NO_LETTER, "--flamegraph makes one"),
	FOREIGN("vampir", NO_LETTER, "--otf2 makes what it opens"),
	{0},
};

static const struct argp_option reading_foreign[] = {HELP, INPUT, {0}};
static const struct argp_option other_foreign[] = {HELP, {0}};

static_assert(sizeof(record_foreign) <= MAX_OPTIONS * sizeof(*record_foreign) &&
                      sizeof(report_foreign) <= MAX_OPTIONS * sizeof(*report_foreign),
              "there is room for a copy");

/* "-t (--tid)" */
static void print_option(const struct argp_option *option, char *text, size_t size)
{
	if (option->key < 256)
		snprintf(text, size, "-%c (--%s)", option->key, option->name);
	else
		snprintf(text, size, "--%s", option->name);
}

static const struct argp_option *foreign_options_of(const char *command)
{
	return !strcmp(command, "record")    ? record_foreign
	       : !strcmp(command, "report")  ? report_foreign
	       : !strcmp(command, "dump")    ? dump_foreign
	       : !strcmp(command, "convert") ? convert_foreign
	       : !strcmp(command, "info")    ? reading_foreign
	                                     : other_foreign;
}

static void show_help(struct argp_state *state, unsigned flags)
{
	state->flags &= ~(unsigned)ARGP_NO_ERRS; /* with it nothing is shown */
	argp_state_help(state, stdout, flags);
}

/* Handles the file as if it were an argument without an option. */
static error_t take_input(char *file, struct argp_state *state)
{
	const struct parsing *parsing = (const void *)state->root_argp;

	state->input = parsing->input;
	return parsing->argp.parser(ARGP_KEY_ARG, file, state);
}

static error_t tell(int key, char *arg, struct argp_state *state)
{
	const struct argp_option *foreign;
	const char *command;
	char option[64];

	if (key == ARGP_KEY_INIT) /* it has no name yet */
		return ARGP_ERR_UNKNOWN;
	command = state->name + strlen(PROGRAM);
	foreign = foreign_options_of(command);
	switch (key) {
	case 'h':
	case '?':
		show_help(state, ARGP_HELP_STD_HELP);
		return 0;
	case OPT_USAGE:
		show_help(state, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case ARGP_KEY_ARG:
		say_usage("%s takes no argument: '%s'", command, arg);
	case ARGP_KEY_ERROR:
		wrong_option_tell(state, command);
		return 0;
	default:
		break;
	}
	for (; foreign->key; foreign++) {
		if (foreign->key != key || !foreign->name)
			continue;
		if (!foreign->doc)
			return foreign->arg ? take_input(arg, state) : 0;
		print_option(foreign, option, sizeof(option));
		say("no option %s here; %s", option, foreign->doc);
		exit(argp_err_exit_status);
	}
	return ARGP_ERR_UNKNOWN;
}

static void copy_options(struct argp_option *to, const struct argp_option *foreign)
{
	while (foreign->key)
		*to++ = *foreign++;
	*to = (struct argp_option){0};
}

/* "--sym" and "--sym=x" of "symbols" */
static bool abbreviates(const char *word, const char *name)
{
	size_t size = strncmp(word, "--", 2) ? 0 : strcspn(word + 2, "=");

	return size && size < strlen(name) && !strncmp(word + 2, name, size);
}

static bool abbreviates_ours(const char *word, const struct argp_option *options)
{
	if (abbreviates(word, "help") || abbreviates(word, "usage"))
		return true;
	for (; options && (options->name || options->doc); options++)
		if (options->name && abbreviates(word, options->name))
			return true;
	return false;
}

/*
 * Keeps abbreviations of our options unambiguous: removes foreign options that begin with the same
 * word.
 */
static void remove_ambiguous(struct argp_option *foreign, const struct argp *argp,
                             char *const *words)
{
	for (; *words; words++)
		for (struct argp_option *h = foreign; h->key; h++)
			if (h->name && (h->flags & OPTION_HIDDEN) && abbreviates(*words, h->name) &&
			    abbreviates_ours(*words, argp->options))
				h->name = NULL;
}

int foreign_options_parse(const struct argp *argp, int argc, char **argv, int status,
                          unsigned flags, void *input)
{
	struct argp_option options[MAX_OPTIONS];
	const struct argp foreign = {.options = options, .parser = tell};
	const struct argp_child children[] = {{&foreign, 0, NULL, 0}, {0}};
	struct parsing parsing = {*argp, input};
	char *command = argv[0], name[64];
	int err;

	copy_options(options, foreign_options_of(command));
	remove_ambiguous(options, argp, argv);
	snprintf(name, sizeof(name), PROGRAM "%s", command);
	parsing.argp.children = children;
	argv[0] = name; /* what argp calls the program */
	argp_err_exit_status = status;
	err = argp_parse(&parsing.argp, argc, argv, flags | ARGP_NO_ERRS | ARGP_NO_HELP, NULL,
	                 input);
	argv[0] = command;
	if (err)
		say("cannot read the options: %s", strerror(err));
	return err;
}
