#include "cli/foreign_options.h"

#include "cli/say.h"
#include "cli/wrong_option.h"

#include <argp.h>
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- commands --------------------------------------------------------------------------------- */

const char *habit_command(const char *name)
{
	static const struct {
		const char *name, *way;
	} habits[] = {
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
		{"top", "record -a samples everything that runs, snapshot shows it meanwhile"},
		{"trace", "record -e raw_syscalls:sys_enter samples system calls"},
		{"tui", "report shows tables, convert makes what other viewers open"},
	};

	for (unsigned i = 0; i < sizeof(habits) / sizeof(*habits); i++)
		if (!strcmp(name, habits[i].name))
			return habits[i].way;
	return NULL;
}

/* --- options ---------------------------------------------------------------------------------- */

/* A foreign option as a hidden option of argp, with the advice in place of its help text. */
#define HABIT(name, key, way)                                               \
	{                                                                   \
		name, key, "X", OPTION_HIDDEN | OPTION_ARG_OPTIONAL, way, 0 \
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

#define MAX_HABITS 64 /* of a command; more than there are */

#define PROGRAM "adaptrace "

struct parsing {
	struct argp argp; /* the root that argp knows */
	void *input;      /* of its parser */
};

static const struct argp_option record_habits[] = {
	HELP,
	HABIT("all-kernel", NO_LETTER, "-e EVENT:k samples the kernel's side alone"),
	HABIT("all-user", NO_LETTER, "-e EVENT:u samples the programs' side alone"),
	HABIT("branch-any", 'b', "-g lbr takes call paths from the processor's branch records"),
	HABIT("branch-filter", 'j', "-g lbr takes call paths from the processor's branch records"),
	ALWAYS("buildid-all", NO_LETTER),
	HABIT("cgroup-name", 'G', "--cgroup NAME samples a cgroup"),
	HABIT("clockid", 'k', "times are those of CLOCK_MONOTONIC without it"),
	HABIT("compression-level", 'z', "the trace is compact already, and -m bounds its size"),
	HABIT("exclude-perf", NO_LETTER, "report --sort comm,symbol shows the recorder apart"),
	HABIT("filter", NO_LETTER,
              "events are sampled unfiltered; report --only shows some threads or CPUs"),
	HABIT("max-size", NO_LETTER, "-m bounds the memory, and the trace with it"),
	HABIT("mmap-pages", NO_LETTER, "-m is the memory for the whole run"),
	HABIT("no-inherit", 'i',
              "children are always sampled; report --only process=PID shows one process"),
	ALWAYS("no-open", NO_LETTER),
	HABIT("off-cpu", NO_LETTER,
              "threads are sampled on a CPU; -e context-switches shows where they give it up"),
	HABIT("overwrite", NO_LETTER,
              "the memory never overflows; adaptrace snapshot makes a "
              "trace of what it has"),
	HABIT("per-thread", NO_LETTER, "report --per-thread has a table for every thread"),
	HABIT("rate", 'r', "-F HZ is the frequency to start with"),
	ALWAYS("sample-cpu", NO_LETTER),
	ALWAYS("save-only", NO_LETTER),
	HABIT("start-after", 'D', "--delay SECONDS starts sampling later"),
	HABIT("stat", 's', "report --per-thread shows what each thread spent"),
	HABIT("switch-output", NO_LETTER,
              "the memory never overflows; adaptrace snapshot makes a "
              "trace of what it has"),
	HABIT("tid", 't',
              "-p PID samples a whole process; report --only thread=TID shows one thread of it"),
	ALWAYS("timestamp", 'T'),
	HABIT("uid", 'u', "--cgroup NAME does it, such as --cgroup user.slice/user-1000.slice"),
	HABIT("verbose", 'v', "adaptrace info tells how it was recorded"),
	HABIT("weight", 'W', "--data keeps what memory accesses met"),
	{0},
};

static const struct argp_option report_habits[] = {
	HELP,
	HABIT("call-graph", 'g', "--tree shows call paths, --callers NAME who called a function"),
	HABIT("children", NO_LETTER, "the column total includes them; --sort total sorts by it"),
	HABIT("column-widths", 'w', "names are cut to the width of a terminal only"),
	HABIT("comms", 'c', "--only comm=NAME"),
	HABIT("cpu", 'C', "--only cpu=N"),
	HABIT("csv", NO_LETTER, "--json is for programs"),
	ALWAYS("demangle", NO_LETTER),
	HABIT("depth", NO_LETTER, "--max-depth N cuts trees"),
	HABIT("dsos", 'd', "--sort module shows what each module spent"),
	HABIT("dump-raw-trace", 'D', "adaptrace dump shows every sample"),
	HABIT("field-separator", 't', "--json is for programs"),
	HABIT("fields", 'F', "--sort KEYS chooses rows and columns"),
	ALWAYS("force", 'f'),
	HABIT("header", NO_LETTER, "adaptrace info tells how a trace was recorded"),
	HABIT("header-only", NO_LETTER, "adaptrace info tells how a trace was recorded"),
	HABIT("hierarchy", NO_LETTER, "--sort comm,module,symbol has a row for each"),
	ALWAYS("inline", NO_LETTER),
	INPUT,
	HABIT("inverted", 'G', "--tree goes from the roots down, --callers NAME up to them"),
	HABIT("max-stack", NO_LETTER, "--max-depth N cuts trees"),
	ALWAYS("no-children", NO_LETTER),
	HABIT("output", 'o', "tables go to standard output"),
	HABIT("parent", 'p', "--callers NAME shows who called a function"),
	HABIT("pid", NO_LETTER, "--only process=PID"),
	ALWAYS("show-nr-samples", 'n'),
	HABIT("stats", NO_LETTER, "adaptrace info has the numbers of samples"),
	ALWAYS("stdio", NO_LETTER),
	HABIT("symbol-filter", 'S', "--callers, --callees and --annotate show one function"),
	HABIT("symfs", NO_LETTER, "--symbols=DIR looks names up again with the files in DIR"),
	HABIT("threads", 'T', "--per-thread has a table for every thread"),
	HABIT("tid", NO_LETTER, "--only thread=TID"),
	HABIT("top", NO_LETTER, "--limit N shows the first N rows"),
	HABIT("tui", NO_LETTER, "adaptrace convert makes what other viewers open"),
	HABIT("verbose", 'v', "adaptrace info tells how a trace was recorded"),
	HABIT("vmlinux", 'k', "the kernel's names were taken when the trace was recorded"),
	{0},
};

#define BY_LINE "a sample is a line, of which grep and awk choose"

static const struct argp_option dump_habits[] = {
	HELP,
	HABIT("chrome", NO_LETTER, "adaptrace convert --chrome makes what Perfetto opens"),
	HABIT("comms", 'c', BY_LINE),
	HABIT("cpu", 'C', BY_LINE),
	HABIT("flame-graph", NO_LETTER, "adaptrace convert --flamegraph makes an SVG"),
	HABIT("fields", 'F', "--json has all fields; convert --perf-script prints what perf does"),
	INPUT,
	HABIT("pid", NO_LETTER, BY_LINE),
	HABIT("tid", NO_LETTER, BY_LINE),
	HABIT("time", NO_LETTER, BY_LINE),
	{0},
};

/* Viewers, by the names of the formats that they open. */
static const struct argp_option convert_habits[] = {
	HELP,
	INPUT,
	HABIT("json", NO_LETTER,
              "--speedscope and --chrome make JSON, adaptrace report --json a table"),
	HABIT("kcachegrind", NO_LETTER, "--callgrind makes what it opens"),
	HABIT("perfetto", NO_LETTER, "--chrome makes what it opens"),
	HABIT("qcachegrind", NO_LETTER, "--callgrind makes what it opens"),
	HABIT("samply", NO_LETTER, "--firefox makes what its viewer opens"),
	HABIT("svg", NO_LETTER, "--flamegraph makes one"),
	HABIT("vampir", NO_LETTER, "--otf2 makes what it opens"),
	{0},
};

static const struct argp_option reading_habits[] = {HELP, INPUT, {0}};
static const struct argp_option other_habits[] = {HELP, {0}};

static_assert(sizeof(record_habits) <= MAX_HABITS * sizeof(*record_habits) &&
                      sizeof(report_habits) <= MAX_HABITS * sizeof(*report_habits),
              "there is room for a copy");

/* "-t (--tid)" */
static void print_option(const struct argp_option *option, char *text, size_t size)
{
	if (option->key < 256)
		snprintf(text, size, "-%c (--%s)", option->key, option->name);
	else
		snprintf(text, size, "--%s", option->name);
}

static const struct argp_option *habits_of(const char *command)
{
	return !strcmp(command, "record")    ? record_habits
	       : !strcmp(command, "report")  ? report_habits
	       : !strcmp(command, "dump")    ? dump_habits
	       : !strcmp(command, "convert") ? convert_habits
	       : !strcmp(command, "info")    ? reading_habits
	                                     : other_habits;
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
	const struct argp_option *habit;
	const char *command;
	char option[64];

	if (key == ARGP_KEY_INIT) /* it has no name yet */
		return ARGP_ERR_UNKNOWN;
	command = state->name + strlen(PROGRAM);
	habit = habits_of(command);
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
	for (; habit->key; habit++) {
		if (habit->key != key || !habit->name)
			continue;
		if (!habit->doc)
			return habit->arg ? take_input(arg, state) : 0;
		print_option(habit, option, sizeof(option));
		say("no option %s here; %s", option, habit->doc);
		exit(argp_err_exit_status);
	}
	return ARGP_ERR_UNKNOWN;
}

static void copy_habits(struct argp_option *to, const struct argp_option *habits)
{
	while (habits->key)
		*to++ = *habits++;
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
static void make_way(struct argp_option *habits, const struct argp *argp, char *const *words)
{
	for (; *words; words++)
		for (struct argp_option *h = habits; h->key; h++)
			if (h->name && (h->flags & OPTION_HIDDEN) && abbreviates(*words, h->name) &&
			    abbreviates_ours(*words, argp->options))
				h->name = NULL;
}

int habits_parse(const struct argp *argp, int argc, char **argv, int status, unsigned flags,
                 void *input)
{
	struct argp_option options[MAX_HABITS];
	const struct argp habits = {.options = options, .parser = tell};
	const struct argp_child children[] = {{&habits, 0, NULL, 0}, {0}};
	struct parsing parsing = {*argp, input};
	char *command = argv[0], name[64];
	int err;

	copy_habits(options, habits_of(command));
	make_way(options, argp, argv);
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
