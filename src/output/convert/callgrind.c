/*
 * Callgrind's format, for KCachegrind and callgrind_annotate: what every line cost itself, and what
 * the calls from it cost with all that they called. Sampling knows costs, not how often something
 * was called: every call is stated as one.
 */
#include "output/convert/convert.h"
#include "output/text/escape.h"
#include "output/convert/tally.h"
#include "base/array.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The caller that is made up where a function is called and is also the first one of a stack. */
#define ROOT (PATH_NONE - 1)

/* Something that costs: a line itself, or calls from there to a function. */
struct cost {
	uint32_t name;    /* PATH_NONE: in ROOT */
	uint32_t callee;  /* function; PATH_NONE: itself */
	uint32_t weights; /* its number in callgrind.weights */
};

struct callgrind {
	struct conversion *conversion;
	const struct trace *trace;
	struct paths paths;
	uint32_t nr_events; /* counters included */
	uint64_t *total;    /* of each path: one an event */
	/*
	 * Whether the function that a path ends with is called within itself. What it costs there
	 * is in its outermost call already, and the inclusive cost of a function is to readers what
	 * all calls of it cost together.
	 */
	bool *inner;
	struct cost *costs;
	uint64_t *weights; /* one an event */
	uint32_t nr_costs;
	struct map64 cost_by_key;
	struct map64 names[3]; /* numbers given in the file, + 1: see enum name */
	uint32_t nr_names[3];
	FILE *file;
};

enum name { NAME_OBJECT, NAME_FILE, NAME_FUNCTION };

/* --- costs ------------------------------------------------------------------------------------ */

static int grow(struct callgrind *callgrind)
{
	struct cost *costs = array_grow(callgrind->costs, callgrind->nr_costs, sizeof(*costs));
	uint64_t *weights;

	if (!costs)
		return -ENOMEM;
	callgrind->costs = costs;
	weights = array_grow(callgrind->weights, callgrind->nr_costs,
	                     callgrind->nr_events * sizeof(*weights));
	if (!weights)
		return -ENOMEM;
	callgrind->weights = weights;
	return 0;
}

static int add_cost(struct callgrind *callgrind, uint32_t name, uint32_t callee,
                    const uint64_t *weights)
{
	uint64_t key = (uint64_t)name << 32 | callee;
	uint32_t number = map64_number(&callgrind->cost_by_key, key);
	uint64_t *sums;

	if (number >= callgrind->nr_costs) {
		if (number == UINT32_MAX || grow(callgrind))
			return -ENOMEM;
		callgrind->nr_costs++;
		callgrind->costs[number] = (struct cost){name, callee, number};
		memset(&callgrind->weights[(size_t)number * callgrind->nr_events], 0,
		       callgrind->nr_events * sizeof(*sums));
	}
	sums = &callgrind->weights[(size_t)number * callgrind->nr_events];
	for (uint32_t i = 0; i < callgrind->nr_events; i++)
		sums[i] += weights[i];
	return 0;
}

static bool is_inner_call(const struct paths *paths, uint32_t path)
{
	uint32_t function = paths_leaf(paths, path);

	while ((path = paths_caller(paths, path)) != PATH_NONE)
		if (paths_leaf(paths, path) == function)
			return true;
	return false;
}

/* The functions that have a caller somewhere; NULL: no memory. */
static bool *find_called(struct callgrind *callgrind)
{
	const struct paths *paths = &callgrind->paths;
	bool *called = calloc((size_t)paths->names.nr_functions + 1, sizeof(*called));

	callgrind->inner = calloc((size_t)paths_nr(paths) + 1, sizeof(*callgrind->inner));
	for (uint32_t i = 0; called && callgrind->inner && i < paths_nr(paths); i++) {
		callgrind->inner[i] = is_inner_call(paths, i);
		if (paths_caller(paths, i) != PATH_NONE)
			called[paths_leaf(paths, i)] = true;
	}
	return called;
}

static bool is_zero(const uint64_t *weights, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (weights[i])
			return false;
	return true;
}

/*
 * To readers the inclusive cost of a function is what its calls cost, if there are any: those that
 * were not sampled must be calls as well.
 */
static int add_path(struct callgrind *callgrind, uint32_t path, const bool *called)
{
	const struct paths *paths = &callgrind->paths;
	uint32_t caller = paths_caller(paths, path);
	uint32_t function = paths_leaf(paths, path);
	const uint64_t *total = &callgrind->total[(size_t)path * callgrind->nr_events];
	int err = 0;

	if (caller == PATH_NONE && called[function])
		err = add_cost(callgrind, PATH_NONE, function, total);
	if (!err && caller != PATH_NONE && !callgrind->inner[path])
		err = add_cost(callgrind, paths_leaf_name(paths, caller), function, total);
	return err;
}

static int add_self(struct callgrind *callgrind, uint32_t path, const uint64_t *self)
{
	uint32_t nr = callgrind->nr_events;

	memcpy(&callgrind->total[(size_t)path * nr], self, nr * sizeof(*self));
	return is_zero(self, nr) ? 0
	                         : add_cost(callgrind, paths_leaf_name(&callgrind->paths, path),
	                                    PATH_NONE, self);
}

/* Callers come before callees. */
static int sum_paths(struct callgrind *callgrind, const struct tally *tally)
{
	uint32_t nr_events = callgrind->nr_events = tally->nr_weights;
	int err = 0;

	callgrind->total = calloc((size_t)paths_nr(&callgrind->paths) * nr_events + 1,
	                          sizeof(*callgrind->total));
	if (!callgrind->total)
		return -ENOMEM;
	for (uint32_t i = 0; i < tally->nr && !err; i++)
		err = add_self(callgrind, tally->entries[i].path, tally_weights(tally, i));
	for (uint32_t i = paths_nr(&callgrind->paths); i-- > 0;) {
		uint32_t caller = paths_caller(&callgrind->paths, i);

		if (caller == PATH_NONE)
			continue;
		for (uint32_t e = 0; e < nr_events; e++)
			callgrind->total[(size_t)caller * nr_events + e] +=
				callgrind->total[(size_t)i * nr_events + e];
	}
	return err;
}

static uint32_t function_of(const struct paths *paths, const struct cost *cost)
{
	return cost->name == PATH_NONE ? ROOT : paths->names.names[cost->name].function;
}

static int compare_costs(const void *a, const void *b, void *arg)
{
	const struct paths *paths = arg;
	const struct cost *x = a, *y = b;
	int order = ORDER(function_of(paths, x), function_of(paths, y));

	/* The cost of a line itself comes before its calls. */
	return order ?: ORDER(x->name, y->name) ?: ORDER(x->callee + 1, y->callee + 1);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* A name is written once, and afterwards its number. */
static bool name_is_new(struct callgrind *callgrind, enum name type, uint64_t key)
{
	struct map64 *map = &callgrind->names[type];
	uint32_t number = map64_get(map, key);

	if (number != UINT32_MAX) {
		fprintf(callgrind->file, "(%" PRIu32 ")", number);
		return false;
	}
	number = ++callgrind->nr_names[type];
	fprintf(callgrind->file, "(%" PRIu32 ") ", number);
	/* Without memory it is told again under another number, which is right as well. */
	map64_add(map, key, number);
	return true;
}

static void print_string(struct callgrind *callgrind, const char *key, enum name type,
                         uint32_t string)
{
	const char *text = trace_string(callgrind->trace, string);

	fprintf(callgrind->file, "%s=", key);
	if (name_is_new(callgrind, type, string))
		escape_line(callgrind->file, *text ? text : "???", "", 0);
	putc('\n', callgrind->file);
}

static void print_function(struct callgrind *callgrind, const char *key, uint32_t function)
{
	char text[FRAME_TEXT_SIZE];

	fprintf(callgrind->file, "%s=", key);
	if (name_is_new(callgrind, NAME_FUNCTION, function))
		escape_line(callgrind->file,
		            function == ROOT ? "[root]"
		                             : paths_function(&callgrind->paths, function, text),
		            "", 0);
	putc('\n', callgrind->file);
}

static void print_weights(const struct callgrind *callgrind, const uint64_t *weights)
{
	for (uint32_t i = 0; i < callgrind->nr_events; i++)
		fprintf(callgrind->file, " %" PRIu64, weights[i]);
	putc('\n', callgrind->file);
}

/* The file that a function is said to be in: that of its first line in the trace. */
static uint32_t file_of(const uint32_t *files, uint32_t function)
{
	return function != ROOT ? files[function] : 0;
}

static void print_cost(struct callgrind *callgrind, const struct cost *cost, const uint32_t *files)
{
	const struct frame_name *name =
		cost->name == PATH_NONE ? NULL : &callgrind->paths.names.names[cost->name];
	const uint64_t *weights = &callgrind->weights[(size_t)cost->weights * callgrind->nr_events];

	print_string(callgrind, "fi", NAME_FILE, name ? name->file : 0);
	if (cost->callee != PATH_NONE) {
		print_string(callgrind, "cob", NAME_OBJECT,
		             paths_name(&callgrind->paths, cost->callee)->module);
		print_string(callgrind, "cfi", NAME_FILE, file_of(files, cost->callee));
		print_function(callgrind, "cfn", cost->callee);
		fputs("calls=1 0\n", callgrind->file);
	}
	fprintf(callgrind->file, "%" PRIu32, name ? name->line : 0);
	print_weights(callgrind, weights);
}

static void print_costs(struct callgrind *callgrind, const uint32_t *files)
{
	uint32_t function = PATH_NONE;

	for (uint32_t i = 0; i < callgrind->nr_costs; i++) {
		const struct cost *cost = &callgrind->costs[i];
		uint32_t now = function_of(&callgrind->paths, cost);

		if (now != function) {
			putc('\n', callgrind->file);
			print_string(callgrind, "ob", NAME_OBJECT,
			             now == ROOT ? 0 : paths_name(&callgrind->paths, now)->module);
			print_string(callgrind, "fl", NAME_FILE, file_of(files, now));
			print_function(callgrind, "fn", now);
			function = now;
		}
		print_cost(callgrind, cost, files);
	}
}

/* Event names are words. */
static void print_event_name(FILE *file, const char *name)
{
	for (; *name; name++)
		putc(isalnum((unsigned char)*name) && (unsigned char)*name < 0x80 ? *name : '_',
		     file);
}

static void print_event(const struct callgrind *callgrind, uint32_t string, uint32_t unit)
{
	const char *name = trace_string(callgrind->trace, string);

	fputs("event: ", callgrind->file);
	print_event_name(callgrind->file, name);
	fputs(" : ", callgrind->file);
	escape_line(callgrind->file, name, ":", '.');
	fputs(unit == TRACE_NS ? " (ns)\n" : "\n", callgrind->file);
}

/* Events, then their counters. */
static void print_events(const struct callgrind *callgrind)
{
	const struct trace *trace = callgrind->trace;
	const struct trace_event *event;
	const struct trace_counter *counter;

	for (uint32_t i = 0; (event = trace_event(trace, i)); i++)
		print_event(callgrind, event->name, event->unit);
	for (uint32_t i = 0; (counter = trace_counter(trace, i)); i++)
		print_event(callgrind, counter->name, counter->unit);
	fputs("events:", callgrind->file);
	for (uint32_t i = 0; (event = trace_event(trace, i)); i++) {
		putc(' ', callgrind->file);
		print_event_name(callgrind->file, trace_string(trace, event->name));
	}
	for (uint32_t i = 0; (counter = trace_counter(trace, i)); i++) {
		putc(' ', callgrind->file);
		print_event_name(callgrind->file, trace_string(trace, counter->name));
	}
	putc('\n', callgrind->file);
}

static int print_head(const struct callgrind *callgrind)
{
	char *title = convert_title(callgrind->conversion);
	FILE *file = callgrind->file;

	if (!title)
		return -ENOMEM;
	fputs("# callgrind format\nversion: 1\ncreator: adaptrace " ADAPTRACE_VERSION "\n", file);
	fprintf(file, "pid: %d\ncmd: ", trace_run(callgrind->trace)->pid);
	escape_line(file, title, "", 0);
	free(title);
	fputs("\npart: 1\n\npositions: line\n", file);
	print_events(callgrind);
	return 0;
}

static int print_all(struct callgrind *callgrind)
{
	const struct paths *paths = &callgrind->paths;
	uint32_t nr = callgrind->nr_events;
	uint64_t *sums = calloc(nr + 1UL, sizeof(*sums));
	uint32_t *files = calloc((size_t)paths->names.nr_functions + 1, sizeof(*files));
	int err = sums && files ? print_head(callgrind) : -ENOMEM;

	if (err)
		goto out;
	for (uint32_t i = 0; i < paths->names.nr; i++)
		if (!files[paths->names.names[i].function])
			files[paths->names.names[i].function] = paths->names.names[i].file;
	for (uint32_t i = 0; i < paths_nr(paths); i++)
		for (uint32_t e = 0; e < nr && paths_caller(paths, i) == PATH_NONE; e++)
			sums[e] += callgrind->total[(size_t)i * nr + e];
	fputs("summary:", callgrind->file);
	print_weights(callgrind, sums);
	print_costs(callgrind, files);
	fputs("\ntotals:", callgrind->file);
	print_weights(callgrind, sums);
out:
	free(sums);
	free(files);
	return err;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int add_paths(struct callgrind *callgrind)
{
	bool *called = find_called(callgrind);
	int err = called && callgrind->inner ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < paths_nr(&callgrind->paths) && !err; i++) {
		err = add_path(callgrind, i, called);
		if (!err && i % 4096 == 0)
			err = convert_tick(callgrind->conversion);
	}
	free(called);
	return err;
}

static int prepare(struct callgrind *callgrind)
{
	struct tally tally;
	int err;

	if (paths_init(&callgrind->paths, callgrind->trace, PATHS_BY_LINE))
		return -ENOMEM;
	err = tally_init(&tally, callgrind->conversion, &callgrind->paths,
	                 &(struct tally_config){0});
	path_tree_settle(&callgrind->paths.tree);
	if (!err)
		err = sum_paths(callgrind, &tally);
	tally_fini(&tally);
	if (!err)
		err = add_paths(callgrind);
	ARRAY_SORT_WITH(callgrind->costs, callgrind->nr_costs, compare_costs, &callgrind->paths);
	return err;
}

static void callgrind_free(struct callgrind *callgrind)
{
	paths_fini(&callgrind->paths);
	map64_fini(&callgrind->cost_by_key);
	for (unsigned i = 0; i < 3; i++)
		map64_fini(&callgrind->names[i]);
	free(callgrind->total);
	free(callgrind->inner);
	free(callgrind->costs);
	free(callgrind->weights);
	free(callgrind);
}

int callgrind_write(struct conversion *conversion, FILE *file)
{
	struct callgrind *callgrind = calloc(1, sizeof(*callgrind));
	int err;

	if (!callgrind)
		return -ENOMEM;
	callgrind->conversion = conversion;
	callgrind->trace = conversion->trace;
	callgrind->file = file;
	convert_plan(conversion, TALLY_WALKS, TRACE_ALL_EVENTS);
	err = prepare(callgrind);
	if (!err)
		err = print_all(callgrind);
	callgrind_free(callgrind);
	return err;
}
