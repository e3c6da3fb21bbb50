#include "cli/record_options.h"

#include "cli/event_options.h"
#include "cli/habits.h"
#include "cli/period.h"
#include "cli/say.h"
#include "cli/settle_options.h"
#include "output/trace_calls.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define EXIT_USAGE 125

enum {
	OPT_OVERHEAD = 256,
	OPT_SEED,
	OPT_STACK,
	OPT_INHERIT,
	OPT_UNWINDER,
	OPT_CGROUP,
	OPT_MPI,
	OPT_SHARE,
	OPT_POLICY,
	OPT_WAIT,
	OPT_COUNTERS,
	OPT_DURATION,
	OPT_DELAY,
};

static const struct argp_option argp_options[] = {
	{"event", 'e', "EVENT", 0, "sample this event; may be given again (see adaptrace list)", 0},
	{"counters", OPT_COUNTERS, "EVENT,...", 0,
         "read up to 8 other events with every sample of the first -e", 0},
	{"memory", 'm', "SIZE", 0, "memory for the whole run, e.g. 64K or 1G (100M)", 0},
	{"frequency", 'F', "HZ", 0, "start sampling clocks at this frequency (10000)", 0},
	{"count", 'c', "PERIOD", 0, "start sampling every PERIOD events, or ns of a clock", 0},
	{"call-graph", 'g', "MODE", OPTION_ARG_OPTIONAL,
         "dwarf[,SIZE], fp, lbr or none (dwarf,16384)", 0},
	{"data", 'd', NULL, 0, "keep what memory accesses encountered, for reports sorted by mem",
         0},
	{"output", 'o', "FILE", 0,
         "write the trace here (adaptrace.atr); %p %h %r: PID, host, rank", 0},
	{"pid", 'p', "PID,...", 0, "attach to running processes until they end or Ctrl-C", 0},
	{"all-cpus", 'a', NULL, 0,
         "sample everything that runs, until Ctrl-C or while the command runs", 0},
	{"cpu", 'C', "CPUS", 0, "sample everything that runs on these CPUs, e.g. 0-3,8", 0},
	{"cgroup", OPT_CGROUP, "NAME", 0, "sample everything that runs in this existing cgroup", 0},
	{"delay", OPT_DELAY, "SECONDS", 0, "start sampling this long after the command", 0},
	{"duration", OPT_DURATION, "SECONDS", 0,
         "without a command: stop after sampling for this long", 0},
	{"max-overhead", OPT_OVERHEAD, "PERCENT", 0,
         "share of the program's time that sampling may cost (5; 0: no limit)", 0},
	{"max-stack", OPT_STACK, "FRAMES", 0, "deepest stack, in frames (1024)", 0},
	{"unwinder", OPT_UNWINDER, "ENGINE", 0, "for -g dwarf: rules or libunwind (rules)", 0},
	{"inherit", OPT_INHERIT, NULL, 0, "sample by inherited events, as without privileges", 0},
	{"mpi", OPT_MPI, NULL, 0, "record MPI calls and the regions of adaptrace.h, too", 0},
	{"events-share", OPT_SHARE, "PERCENT", 0, "share of the memory for the calls of --mpi (50)",
         0},
	{"events-policy", OPT_POLICY, "POLICY", 0,
         "which calls to drop when their share is full: all, or by class, depth or duration (all)",
         0},
	{"events-wait", OPT_WAIT, "MS", 0,
         "let the program wait this long rather than lose calls of --mpi (0)", 0},
	{"seed", OPT_SEED, "N", 0, "number the samples of each stream from this seed", 0},
	{"quiet", 'q', NULL, 0, "no status line, and no line at the end", 0},
	{0},
};

int size_parse(const char *text, size_t *size)
{
	unsigned long long value;
	unsigned shift;
	char *end;
	int letter;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	letter = toupper((unsigned char)*end);
	shift = letter == 'K' ? 10 : letter == 'M' ? 20 : letter == 'G' ? 30 : 0;
	end += shift > 0;
	if (*end && strcmp(end, "B") != 0 && !(shift && !strcmp(end, "iB")))
		return -EINVAL;
	if (errno || value > SIZE_MAX >> shift)
		return -ERANGE;
	*size = (size_t)value << shift;
	return 0;
}

/* Physical memory that the machine has. */
static size_t machine_memory(void)
{
	return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

static int wrong(const char *what, const char *value, const char *way_out)
{
	say("%s '%s'; %s", what, value, way_out);
	return EXIT_USAGE;
}

static int parse_budget(struct options *options, const char *arg)
{
	int error = size_parse(arg, &options->budget);

	if (error == -EINVAL)
		return wrong("cannot understand the size", arg, "try -m 100M (K, M or G)");
	if (error || options->budget > machine_memory())
		return wrong("more memory than this machine has:", arg, "try -m 100M");
	if (options->budget < ARENA_MIN_SIZE)
		return wrong("too little memory:", arg, "the smallest budget is 64K");
	if (options->budget > ARENA_MAX_SIZE)
		return wrong("too much memory:", arg, "the largest budget is 64G");
	options->budget &= ~(size_t)4095;
	return 0;
}

static bool is_call_graph(const char *word)
{
	static const char *const modes[] = {"dwarf", "fp", "lbr", "none", "no"};
	size_t size = strcspn(word, ",");

	for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (strlen(modes[i]) == size && !strncmp(word, modes[i], size))
			return true;
	return false;
}

/* The word behind -g if it is a mode: alone, as with perf, -g says that call paths are wanted. */
static const char *call_graph_behind(struct options *options, struct argp_state *state)
{
	char *word = state->argv[state->next];

	if (state->next < state->argc && is_call_graph(word))
		return state->argv[state->next++];
	options->no_mode = word;
	return "dwarf";
}

static int parse_call_graph(struct options *options, const char *arg)
{
	size_t size;

	if (!strcmp(arg, "none") || !strcmp(arg, "no")) {
		options->stacks = TRACE_STACKS_NONE;
	} else if (!strcmp(arg, "fp")) {
		options->stacks = TRACE_STACKS_FP;
	} else if (!strcmp(arg, "lbr")) {
		options->stacks = TRACE_STACKS_LBR;
	} else if (!strcmp(arg, "dwarf")) {
		options->stacks = TRACE_STACKS_DWARF;
	} else if (!strncmp(arg, "dwarf,", 6)) {
		options->stacks = TRACE_STACKS_DWARF;
		if (size_parse(arg + 6, &size) || size < 1024 || size > EVENT_STACK_MAX)
			return wrong("cannot copy this much stack:", arg + 6,
			             "-g dwarf,SIZE takes 1024 to 65528 bytes");
		options->stack_size = (uint32_t)(size & ~(size_t)7);
		options->stack_fixed = true;
	} else {
		return wrong("no such call graph:", arg, "try -g dwarf, -g fp, -g lbr or -g none");
	}
	return 0;
}

static int parse_number(const char *arg, double least, double most, double *value, const char *what,
                        const char *way_out)
{
	char *end;

	errno = 0;
	*value = strtod(arg, &end);
	if (end == arg || *end || errno || !(*value >= least && *value <= most))
		return wrong(what, arg, way_out);
	return 0;
}

static int parse_whole(const char *arg, uint64_t least, uint64_t most, uint64_t *value,
                       const char *what, const char *way_out)
{
	char *end;

	errno = 0;
	*value = strtoull(arg, &end, 10);
	if (!isdigit((unsigned char)*arg) || *end || errno || *value < least || *value > most)
		return wrong(what, arg, way_out);
	return 0;
}

/* "5" or "5%" */
static int parse_percent(const char *arg, double least, double most, double *percent,
                         const char *way_out)
{
	char *end;

	errno = 0;
	*percent = strtod(arg, &end);
	if (errno || end == arg || (*end && strcmp(end, "%") != 0) ||
	    !(*percent >= least && *percent <= most))
		return wrong("impossible share", arg, way_out);
	return 0;
}

static int parse_share(struct options *options, const char *arg)
{
	double percent;
	int error = parse_percent(arg, 1, 90, &percent, "--events-share takes 1% to 90%");

	options->calls_share = error ? 0 : percent / 100;
	return error;
}

static int parse_policy(struct options *options, const char *arg)
{
	for (unsigned i = 0; i < NR_TRACE_POLICIES; i++)
		if (!strcmp(arg, policy_name(i))) {
			options->calls_policy = i;
			return 0;
		}
	return wrong("no such policy:", arg, "try all, class, depth or duration");
}

static int parse_wait(struct options *options, const char *arg)
{
	double ms;
	int error = parse_number(arg, 0, 60000, &ms, "impossible time",
	                         "--events-wait takes 0 to 60000 ms");

	options->calls_patience = error ? 0 : (uint64_t)(ms * 1e6);
	return error;
}

static int parse_time(uint64_t *ns, const char *arg, const char *what, const char *way_out)
{
	double seconds;
	int error = parse_number(arg, 0.001, 1e9, &seconds, what, way_out);

	*ns = error ? 0 : (uint64_t)(seconds * 1e9);
	return error;
}

static int parse_calls(struct options *options, int key, const char *arg)
{
	options->calls_tuned |= key != OPT_MPI;
	switch (key) {
	case OPT_WAIT:
		return parse_wait(options, arg);
	case OPT_MPI:
		options->calls = true;
		return 0;
	case OPT_SHARE:
		return parse_share(options, arg);
	case OPT_POLICY:
		return parse_policy(options, arg);
	default:
		return EXIT_USAGE;
	}
}

static int put_process(struct options *options, pid_t pid)
{
	for (unsigned i = 0; i < options->nr_attach; i++)
		if (options->attach[i] == pid)
			return 0;
	if (options->nr_attach == SESSION_MAX_PROCESSES)
		return -E2BIG;
	options->attach[options->nr_attach++] = pid;
	return 0;
}

static int parse_processes(struct options *options, const char *arg)
{
	unsigned long long pid;
	char number[32], *end;

	for (const char *at = arg;; at = end + 1) {
		snprintf(number, sizeof(number), "%.*s", (int)strcspn(at, ","), at);
		errno = 0;
		pid = strtoull(at, &end, 10);
		if (!isdigit((unsigned char)*at) || (*end && *end != ',') || errno || pid < 1 ||
		    pid > INT32_MAX)
			return wrong("not a process number:", number,
			             "-p takes PIDs of running processes, with commas between, "
			             "as pgrep -d , NAME prints them");
		if (put_process(options, (pid_t)pid))
			return wrong("too many processes, from this one on:", number,
			             "-p takes 1024, --cgroup NAME any number");
		if (!*end)
			return 0;
	}
}

/* In tenths of a per cent, as the trace tells of it. */
static int parse_overhead(double *share, const char *arg)
{
	const char *way_out = "--max-overhead takes a percentage, 0.1 at least, or 0 for no limit";
	double number;
	int error = parse_percent(arg, 0, 100, &number, way_out);

	*share = error ? 0 : round(10 * number) / 1000;
	return !error && number > 0 && !*share ? wrong("impossible share", arg, way_out) : error;
}

static int parse_rest(struct options *options, int key, const char *arg)
{
	uint64_t whole = 0;
	int error;

	switch (key) {
	case 'F':
		return parse_number(arg, 0.01, FREQUENCY_MAX, &options->frequency,
		                    "impossible frequency", "-F takes 0.01 to 100000 Hz");
	case 'c':
		return parse_whole(arg, 1, PERIOD_MAX, &options->period, "impossible period",
		                   "-c takes a number of events");
	case 'p':
		return parse_processes(options, arg);
	case OPT_OVERHEAD:
		return parse_overhead(&options->max_overhead, arg);
	case OPT_STACK:
		error = parse_whole(arg, 1, SESSION_MAX_STACK, &whole, "impossible depth",
		                    "--max-stack takes 1 to 1024 frames");
		options->max_stack = (unsigned)whole;
		options->depth_given = true;
		return error;
	case OPT_DURATION:
		return parse_time(&options->duration, arg, "impossible duration",
		                  "--duration takes seconds, 0.001 at least");
	case OPT_DELAY:
		return parse_time(&options->delay, arg, "impossible delay",
		                  "--delay takes seconds, 0.001 at least");
	case OPT_SEED:
		return parse_whole(arg, 0, UINT64_MAX, &options->seed, "impossible seed",
		                   "--seed takes a whole number");
	default:
		return parse_calls(options, key, arg);
	}
}

static int parse_cpus(struct options *options, const char *arg)
{
	struct cpu_list online;
	char number[16];
	int beyond;

	if (cpu_list_parse(&options->cpus, arg))
		return wrong("cannot understand the CPUs", arg, "-C takes numbers such as 0-3,8");
	beyond = cpu_list_online(&online) ? -1 : cpu_list_beyond(&options->cpus, &online);
	snprintf(number, sizeof(number), "%d", beyond);
	if (beyond >= 0)
		return wrong("no such CPU runs here:", number,
		             "see /sys/devices/system/cpu/online");
	options->wide = options->some_cpus = true;
	return 0;
}

static int parse_one(struct options *options, int key, const char *arg)
{
	switch (key) {
	case 'e':
		return event_options_sample(options, arg) ? EXIT_USAGE : 0;
	case 'm':
		return parse_budget(options, arg);
	case 'g':
		return parse_call_graph(options, arg);
	case 'o':
		options->output_pattern = arg;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case OPT_INHERIT:
		options->inherit = true;
		return 0;
	case OPT_COUNTERS:
		return event_options_count(options, arg) ? EXIT_USAGE : 0;
	case 'a':
		options->wide = true;
		return 0;
	case 'd':
		options->data = true;
		return 0;
	case 'C':
		return parse_cpus(options, arg);
	case OPT_CGROUP:
		if (!*arg)
			return wrong("no such cgroup:", arg, "systemd-cgls shows what there is");
		options->wide = true;
		options->cgroup = arg;
		return 0;
	case OPT_UNWINDER:
		if (strcmp(arg, "rules") != 0 && strcmp(arg, "libunwind") != 0)
			return wrong("no such unwinder:", arg,
			             "try --unwinder=rules or --unwinder=libunwind");
		options->engine_given = true;
		options->engine = !strcmp(arg, "rules") ? UNWIND_RULES : UNWIND_LIBUNWIND;
		return 0;
	default:
		return parse_rest(options, key, arg);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	int status;

	switch (key) {
	case ARGP_KEY_ARGS:
		options->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
	case ARGP_KEY_INIT:
	case ARGP_KEY_END:
	case ARGP_KEY_SUCCESS:
	case ARGP_KEY_FINI:
		return 0;
	case ARGP_KEY_ARG:
		return ARGP_ERR_UNKNOWN;
	default:
		break;
	}
	for (const struct argp_option *o = argp_options; o->name; o++) {
		if (o->key != key)
			continue;
		if (key == 'g' && !arg)
			arg = (char *)(uintptr_t)call_graph_behind(options, state);
		status = parse_one(options, key, arg);
		if (status)
			exit(status);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int record_options(struct options *options, int argc, char **argv)
{
	const struct argp argp = {
		.options = argp_options,
		.parser = parse,
		.args_doc = "COMMAND [ARG...]\n-p PID,...\n-a [COMMAND [ARG...]]",
		.doc = "Samples a program into a memory budget and writes the trace.\v"
		       "Sampling starts fast and slows down by halves as the memory fills, so that "
		       "any run fits and is covered evenly. The exit status is the command's own, "
		       "125 if adaptrace failed, 126 or 127 if the command cannot be executed or "
		       "found.",
	};

	*options = (struct options){
		.budget = SESSION_BUDGET,
		.stacks = TRACE_STACKS_DWARF,
		.stack_size = SESSION_STACK_SIZE,
		.max_stack = SESSION_MAX_STACK,
		.max_overhead = 0.05,
		.calls_share = 0.5,
	};
	if (getrandom(&options->seed, sizeof(options->seed), 0) != sizeof(options->seed))
		options->seed = (uint64_t)getpid();
	options->seed >>= 11; /* readers of JSON have 53 bits */
	if (habits_parse(&argp, argc, argv, EXIT_USAGE, ARGP_IN_ORDER, options))
		return EXIT_USAGE;
	return settle_options(options) ? EXIT_USAGE : 0;
}
