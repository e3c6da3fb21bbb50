#include "cli/record/options.h"
#include "hmb/arena.h"

#include "cli/record/events.h"
#include "cli/foreign_options.h"
#include "record/calls/call_classes.h"
#include "record/period.h"
#include "cli/say.h"
#include "cli/size.h"
#include "cli/watch/conditions.h"
#include "cli/record/settle.h"
#include "output/views/call_text.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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
	OPT_OPENMP,
	OPT_SHARE,
	OPT_POLICY,
	OPT_WAIT,
	OPT_POLLS,
	OPT_SCALE,
	OPT_COUNTERS,
	OPT_SPARE,
	OPT_DURATION,
	OPT_DELAY,
	OPT_CALLS,
	OPT_PAUSE_AT,
	OPT_IN_STEP,
	OPT_ON,
	OPT_DETAIL_SHARE,
	OPT_HISTORY,
};

static const struct argp_option argp_options[] = {
	{"event", 'e', "EVENT,...", 0,
         "sample these events; may be given again (see adaptrace list)", 0},
	{"counters", OPT_COUNTERS, "EVENT,...", 0,
         "read up to 8 other events with every sample of the first -e", 0},
	{"memory", 'm', "SIZE", 0, "memory for the whole run, e.g. 64K or 1G (100M)", 0},
	{"frequency", 'F', "HZ", 0, "start sampling clocks at this frequency (10000)", 0},
	{"count", 'c', "PERIOD", 0, "start sampling every PERIOD events, or ns of a clock", 0},
	{"call-graph", 'g', "MODE", OPTION_ARG_OPTIONAL,
         "dwarf: copies of the stack grow from 16 KiB; dwarf,SIZE: fixed; fp, lbr or none (dwarf)",
         0},
	{"data", 'd', NULL, 0, "keep what memory accesses encountered, for reports sorted by mem",
         0},
	{"output", 'o', "FILE", 0,
         "write the trace here (adaptrace.atr); %p %h %r: PID, host, rank", 0},
	{"pid", 'p', "PID,...", 0,
         "attach to running processes until they end, the command ends, or Ctrl-C", 0},
	{"all-cpus", 'a', NULL, 0,
         "sample everything that runs, until Ctrl-C or while the command runs", 0},
	{"cpu", 'C', "CPUS", 0, "sample everything that runs on these CPUs, e.g. 0-3,8", 0},
	{"cgroup", OPT_CGROUP, "NAME", 0, "sample everything that runs in this existing cgroup", 0},
	{"delay", OPT_DELAY, "SECONDS", 0, "start sampling this long after the command", 0},
	{"spare", OPT_SPARE, "EVENT,...", 0,
         "open these events, too, which sample when ctl event says so", 0},
	{"pause-at", OPT_PAUSE_AT, "start|mpi-init", 0,
         "until adaptrace ctl resume, do not execute the command, or let ranks sleep after "
         "MPI_Init",
         0},
	{"duration", OPT_DURATION, "SECONDS", 0,
         "without a command: stop after sampling for this long", 0},
	{"max-overhead", OPT_OVERHEAD, "PERCENT", 0,
         "share of the program's time that samples and calls may cost (5; 0: no limit)", 0},
	{"detail-share", OPT_DETAIL_SHARE, "PERCENT", 0,
         "share of the memory that windows of adaptrace ctl detail keep once it is full (10)", 0},
	{"history", OPT_HISTORY, "TIME[@HZ]", 0,
         "keep the last TIME, as 10s, at HZ at least (1000, or the rate of the start), however "
         "long "
         "the run is",
         0},
	{"in-step", OPT_IN_STEP, "yes|no", 0,
         "sample all CPUs at the same instants, where that is possible (yes)", 0},
	{"max-stack", OPT_STACK, "FRAMES", 0, "deepest stack, in frames (1024)", 0},
	{"unwinder", OPT_UNWINDER, "ENGINE", 0, "for -g dwarf: rules or libunwind (rules)", 0},
	{"inherit", OPT_INHERIT, NULL, 0, "sample by inherited events, as without privileges", 0},
	{"mpi", OPT_MPI, NULL, 0, "record MPI calls and the regions of adaptrace.h, too", 0},
	{"openmp", OPT_OPENMP, "WHAT", OPTION_ARG_OPTIONAL,
         "record parallel regions of OpenMP, too: time, waits and imbalance; with threads also "
         "when "
         "each thread works and waits (regions)",
         0},
	{"calls", OPT_CALLS, "WHICH", 0,
         "with --mpi: record only on, off, mpi, openmp, regions or a class at first (on)", 0},
	{"events-share", OPT_SHARE, "PERCENT", 0,
         "share of the memory that calls of --mpi keep once it is full (50)", 0},
	{"events-policy", OPT_POLICY, "POLICY", 0,
         "which calls to drop when the memory is full: by time, iterations, class, depth or "
         "duration, or all (time)",
         0},
	{"events-wait", OPT_WAIT, "MS", 0,
         "let the program wait this long rather than lose calls of --mpi (0)", 0},
	{"scale-trace", OPT_SCALE, "K", OPTION_ARG_OPTIONAL,
         "with --mpi: of the iterations of a loop store the first K (10) of each kind, some spread "
         "over the run, and slow ones; sums have all",
         0},
	{"polls", OPT_POLLS, NULL, 0,
         "record also calls of --mpi that ask in vain, not only their sums", 0},
	{"on", OPT_ON, "CONDITION", 0,
         "act when this comes true, e.g. 'share(f*) > 20% for 2s: snapshot'; may be given again "
         "(see adaptrace help watch)",
         0},
	{"seed", OPT_SEED, "N", 0, "number the samples of each stream from this seed", 0},
	{"quiet", 'q', NULL, 0, "no status line, and no line at the end", 0},
	{0},
};

/* Physical memory that the machine has. */
static size_t machine_memory(void)
{
	return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Ends the program, after saying what is wrong with a value. */
static _Noreturn void wrong(const char *what, const char *value, const char *way_out)
{
	say_usage("%s '%s'; %s", what, value, way_out);
}

static size_t parse_budget(const char *arg)
{
	size_t budget;
	int err = size_parse(arg, &budget);

	if (err == -EINVAL)
		wrong("cannot understand the size", arg, "try -m 100M (K, M or G)");
	if (err || budget > machine_memory())
		wrong("more memory than this machine has:", arg, "try -m 100M");
	if (budget < ARENA_MIN_SIZE)
		wrong("too little memory:", arg, "the smallest budget is 64K");
	if (budget > ARENA_MAX_SIZE)
		wrong("too much memory:", arg, "the largest budget is 64G");
	return budget & ~(size_t)4095;
}

static const struct call_graph {
	const char *name;
	enum trace_stacks stacks;
} call_graphs[] = {
	{"dwarf", TRACE_STACKS_DWARF}, {"fp", TRACE_STACKS_FP},   {"lbr", TRACE_STACKS_LBR},
	{"none", TRACE_STACKS_NONE},   {"no", TRACE_STACKS_NONE}, {0},
};

/* Finds a way of recording callers by the word up to a comma; NULL: there is none. */
static const struct call_graph *find_call_graph(const char *word)
{
	const struct call_graph *graph = call_graphs;
	size_t size = strcspn(word, ",");

	while (graph->name && (strlen(graph->name) != size || strncmp(word, graph->name, size)))
		graph++;
	return graph->name ? graph : NULL;
}

/* The word behind -g if it is a mode: alone, as with perf, -g says that call paths are wanted. */
static const char *call_graph_behind(struct record_config *config, struct argp_state *state)
{
	char *word = state->argv[state->next];

	if (state->next < state->argc && find_call_graph(word))
		return state->argv[state->next++];
	config->no_mode = word;
	return "dwarf";
}

static void parse_call_graph(struct record_config *config, const char *arg)
{
	const struct call_graph *graph = find_call_graph(arg);
	const char *comma = strchr(arg, ',');
	size_t size;

	if (!graph || (comma && graph->stacks != TRACE_STACKS_DWARF))
		wrong("no such call graph:", arg, "try -g dwarf, -g fp, -g lbr or -g none");
	config->stack.mode = graph->stacks;
	if (!comma)
		return;
	if (size_parse(comma + 1, &size) || size < 1024 || size > EVENT_STACK_MAX)
		wrong("cannot copy this much stack:", comma + 1,
		      "-g dwarf,SIZE takes 1024 to 65528 bytes");
	config->stack.size = (uint32_t)(size & ~(size_t)7);
	config->stack.fixed = true;
}

/* Its unit may follow the number. */
static double parse_number(const char *arg, const char *unit, double least, double most,
                           const char *what, const char *way_out)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(arg, &end);
	if (end == arg || (*end && strcmp(end, unit) != 0) || errno ||
	    !(value >= least && value <= most))
		wrong(what, arg, way_out);
	return value;
}

static uint64_t parse_whole(const char *arg, uint64_t least, uint64_t most, const char *what,
                            const char *way_out)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(arg, &end, 10);
	if (!isdigit((unsigned char)*arg) || *end || errno || value < least || value > most)
		wrong(what, arg, way_out);
	return value;
}

/* "5" or "5%" */
static double parse_percent(const char *arg, double least, double most, const char *way_out)
{
	return parse_number(arg, "%", least, most, "impossible share", way_out);
}

static bool parse_yes(const char *arg, const char *way_out)
{
	if (strcmp(arg, "yes") != 0 && strcmp(arg, "no") != 0)
		wrong("neither yes nor no:", arg, way_out);
	return !strcmp(arg, "yes");
}

static enum trace_policy parse_policy(const char *arg)
{
	for (unsigned i = 0; i < NR_TRACE_POLICIES; i++)
		if (!strcmp(arg, policy_name(i)))
			return i;
	wrong("no such policy:", arg, "try time, iterations, all, class, depth or duration");
}

/* Converts seconds to ns. */
static uint64_t parse_time(const char *arg, const char *what, const char *way_out)
{
	return (uint64_t)(parse_number(arg, "", 0.001, 1e9, what, way_out) * 1e9);
}

static _Noreturn void wrong_history(const char *arg)
{
	wrong("impossible history", arg,
	      "--history takes a time from 0.1s to 24h, and at will a rate in Hz: 10s@1000");
}

/* Returns the ns of "10s", "500ms", "2m" or a number of seconds; *end: what follows. */
static uint64_t parse_span(const char *arg, const char **end)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
	char *unit;
	double value = strtod(arg, &unit), ns = 0;
	size_t size = strcspn(unit, "@");

	for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i].name) == size && !strncmp(unit, units[i].name, size))
			ns = value * units[i].ns;
	if (unit == arg || !(ns >= 1e8 && ns <= 24 * 3600e9))
		wrong_history(arg);
	*end = unit + size;
	return (uint64_t)ns;
}

static void parse_history(struct history_options *history, const char *arg)
{
	const char *rate;
	char *end;

	history->span = parse_span(arg, &rate);
	history->hz = HISTORY_HZ;
	history->asked = *rate;
	if (!*rate)
		return;
	history->hz = strtod(rate + 1, &end);
	if (end == rate + 1 || (*end && strcasecmp(end, "hz") != 0) ||
	    !(history->hz >= 0.01 && history->hz <= FREQUENCY_MAX))
		wrong_history(arg);
}

static bool put_process(struct record_config *config, pid_t pid)
{
	for (unsigned i = 0; i < config->nr_attach; i++)
		if (config->attach[i] == pid)
			return true;
	if (config->nr_attach == SESSION_MAX_PROCESSES)
		return false;
	config->attach[config->nr_attach++] = pid;
	return true;
}

static void parse_processes(struct record_config *config, const char *arg)
{
	unsigned long long pid;
	char number[32], *end;

	for (const char *at = arg;; at = end + 1) {
		snprintf(number, sizeof(number), "%.*s", (int)strcspn(at, ","), at);
		errno = 0;
		pid = strtoull(at, &end, 10);
		if (!isdigit((unsigned char)*at) || (*end && *end != ',') || errno || pid < 1 ||
		    pid > INT32_MAX)
			wrong("not a process number:", number,
			      "-p takes PIDs of running processes, with commas between, "
			      "as pgrep -d , NAME prints them");
		if (!put_process(config, (pid_t)pid))
			wrong("too many processes, from this one on:", number,
			      "-p takes 1024, --cgroup NAME any number");
		if (!*end)
			return;
	}
}

/* Rounds to tenths of a per cent, which is what the trace has. */
static double parse_overhead(const char *arg)
{
	const char *way_out = "--max-overhead takes a percentage, 0.1 at least, or 0 for no limit";
	double number = parse_percent(arg, 0, 100, way_out);
	double share = round(10 * number) / 1000;

	if (number > 0 && !share)
		wrong("impossible share", arg, way_out);
	return share;
}

static void parse_cpus(struct record_config *config, const char *arg)
{
	struct cpu_list online;
	char number[16];
	int beyond;

	if (cpu_list_parse(&config->cpus, arg))
		wrong("cannot understand the CPUs", arg, "-C takes numbers such as 0-3,8");
	beyond = cpu_list_online(&online) ? -1 : cpu_list_beyond(&config->cpus, &online);
	snprintf(number, sizeof(number), "%d", beyond);
	if (beyond >= 0)
		wrong("no such CPU runs here:", number, "see /sys/devices/system/cpu/online");
	config->wide = config->some_cpus = true;
}

static enum unwind_engine parse_engine(const char *arg)
{
	if (!strcmp(arg, "rules"))
		return UNWIND_RULES;
	if (!strcmp(arg, "libunwind"))
		return UNWIND_LIBUNWIND;
	wrong("no such unwinder:", arg, "try --unwinder=rules or --unwinder=libunwind");
}

/* --- by what they are about ------------------------------------------------------------------- */

static error_t parse_calls(struct calls_options *calls, int key, const char *arg)
{
	switch (key) {
	case OPT_MPI:
		calls->wanted = calls->mpi = true;
		return 0;
	case OPT_OPENMP:
		calls->wanted = true;
		calls->openmp = call_openmp_parse(arg);
		if (!calls->openmp)
			wrong("nothing to record of OpenMP", arg, CALL_OPENMP_WAY_OUT);
		return 0;
	case OPT_CALLS:
		if (call_classes_parse(arg, &calls->classes))
			wrong("no such calls", arg, CALL_CLASSES_WAY_OUT);
		break;
	case OPT_WAIT:
		calls->patience = (uint64_t)(parse_number(arg, "", 0, 60000, "impossible time",
		                                          "--events-wait takes 0 to 60000 ms") *
		                             1e6);
		break;
	case OPT_SCALE:
		calls->keep = arg ? (uint32_t)parse_number(arg, "", 1, 10000, "impossible number",
		                                           "--scale-trace takes 1 to 10000")
		                  : 10;
		break;
	case OPT_POLLS:
		calls->polls = true;
		break;
	case OPT_SHARE:
		calls->share = parse_percent(arg, 1, 90, "--events-share takes 1% to 90%") / 100;
		break;
	case OPT_POLICY:
		calls->policy = parse_policy(arg);
		calls->policy_given = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	calls->tuned = true;
	return 0;
}

static error_t parse_stacks(struct record_config *config, int key, const char *arg)
{
	switch (key) {
	case OPT_STACK:
		config->stack.max =
			(unsigned)parse_whole(arg, 1, SESSION_MAX_STACK, "impossible depth",
		                              "--max-stack takes 1 to 1024 frames");
		config->stack.max_given = true;
		return 0;
	case OPT_UNWINDER:
		config->stack.engine = parse_engine(arg);
		config->stack.engine_given = true;
		return 0;
	default:
		return parse_calls(&config->calls, key, arg);
	}
}

/* Parses the options that choose the target and the time of sampling. */
static error_t parse_target(struct record_config *config, int key, const char *arg)
{
	switch (key) {
	case 'p':
		parse_processes(config, arg);
		return 0;
	case 'a':
		config->wide = true;
		return 0;
	case 'C':
		parse_cpus(config, arg);
		return 0;
	case OPT_CGROUP:
		if (!*arg)
			wrong("no such cgroup:", arg, "systemd-cgls shows what there is");
		config->wide = true;
		config->cgroup = arg;
		return 0;
	case OPT_DURATION:
		config->duration = parse_time(arg, "impossible duration",
		                              "--duration takes seconds, 0.001 at least");
		return 0;
	case OPT_ON:
		conditions_check(arg);
		if (config->nr_conditions == CONFIG_MAX_CONDITIONS)
			say_usage("there may be at most %d conditions", CONFIG_MAX_CONDITIONS);
		config->conditions[config->nr_conditions++] = arg;
		return 0;
	case OPT_PAUSE_AT:
		config->waits = !strcmp(arg, "start");
		config->holds = !strcmp(arg, "mpi-init");
		if (!config->waits && !config->holds)
			wrong("no such point:", arg, "--pause-at takes start or mpi-init");
		return 0;
	case OPT_DELAY:
		config->delay = parse_time(arg, "impossible delay",
		                           "--delay takes seconds, 0.001 at least");
		return 0;
	default:
		return parse_stacks(config, key, arg);
	}
}

/* Parses the options that choose the events and their rate. */
static error_t parse_sampling(struct record_config *config, int key, const char *arg)
{
	switch (key) {
	case 'e':
		if (record_add_events(config, arg))
			exit(EXIT_USAGE);
		return 0;
	case OPT_SPARE:
		if (record_add_spares(config, arg))
			exit(EXIT_USAGE);
		return 0;
	case OPT_COUNTERS:
		if (record_add_counters(config, arg))
			exit(EXIT_USAGE);
		return 0;
	case 'd':
		config->data = true;
		return 0;
	case 'F':
		config->frequency =
			parse_number(arg, "", 0.01, FREQUENCY_MAX, "impossible frequency",
		                     "-F takes 0.01 to 100000 Hz");
		return 0;
	case 'c':
		config->period = parse_whole(arg, 1, PERIOD_MAX, "impossible period",
		                             "-c takes a number of events");
		return 0;
	case OPT_OVERHEAD:
		config->max_overhead = parse_overhead(arg);
		return 0;
	case OPT_DETAIL_SHARE:
		config->detail_share =
			parse_percent(arg, 0, 90, "--detail-share takes 0% to 90%") / 100;
		return 0;
	case OPT_HISTORY:
		parse_history(&config->history, arg);
		return 0;
	case OPT_IN_STEP:
		config->in_step = parse_yes(arg, "--in-step takes yes or no");
		return 0;
	case OPT_INHERIT:
		config->inherit = true;
		return 0;
	case OPT_SEED:
		config->seed = parse_whole(arg, 0, UINT64_MAX, "impossible seed",
		                           "--seed takes a whole number");
		return 0;
	default:
		return parse_target(config, key, arg);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_config *config = state->input;

	switch (key) {
	case ARGP_KEY_ARGS:
		config->command = state->argv + state->next;
		return 0;
	case 'm':
		config->budget = parse_budget(arg);
		return 0;
	case 'o':
		config->output_pattern = arg;
		return 0;
	case 'q':
		config->quiet = true;
		return 0;
	case 'g':
		parse_call_graph(config, arg ? arg : call_graph_behind(config, state));
		return 0;
	default:
		return parse_sampling(config, key, arg);
	}
}

int record_options(struct record_config *config, int argc, char **argv)
{
	const struct argp argp = {
		.options = argp_options,
		.parser = parse,
		.args_doc =
			"COMMAND [ARG...]\n-p PID,... [COMMAND [ARG...]]\n-a [COMMAND [ARG...]]",
		.doc = "Samples a program into a memory budget and writes the trace.\v"
		       "Sampling starts fast and slows down by halves as the memory fills, so that "
		       "any run fits and is covered evenly. The exit status is the command's own, "
		       "125 if adaptrace failed, 126 or 127 if the command cannot be executed or "
		       "found.",
	};

	*config = (struct record_config){
		.budget = SESSION_BUDGET,
		.stack = {.mode = TRACE_STACKS_DWARF,
	                  .size = SESSION_STACK_SIZE,
	                  .max = SESSION_MAX_STACK},
		.max_overhead = 0.05,
		.in_step = true,
		.detail_share = 0.1,
		.calls = {.share = 0.5, .policy = TRACE_POLICY_TIME, .classes = UINT32_MAX},
	};
	if (getrandom(&config->seed, sizeof(config->seed), 0) != sizeof(config->seed))
		config->seed = (uint64_t)getpid();
	config->seed >>= 11; /* readers of JSON have 53 bits */
	if (foreign_options_parse(&argp, argc, argv, EXIT_USAGE, ARGP_IN_ORDER, config))
		return EXIT_USAGE;
	return record_settle(config) ? EXIT_USAGE : 0;
}
