#include "hmb/arena.h"
#include "hmb/lambda.h"
#include "trace/format.h"
#include "trace/trace_file.h"

#include <stddef.h>

#define MIN_BIN_SHIFT 9
#define MAX_BIN_SHIFT 24
#define MIN_SUB_SHIFT 8

/* The entries of a missing section have size 0, so they are not readable. */
static bool entries_readable(const struct section *section, size_t size, size_t alignment)
{
	return section->entry_size >= size && section->entry_size % alignment == 0;
}

#define READABLE(section, type) \
	entries_readable(&trace->sections[section], sizeof(type), _Alignof(type))

static const char *check_sizes(const struct trace *trace)
{
	if (!entries_readable(&trace->sections[TRACE_RUN], TRACE_RUN_LEAST,
	                      _Alignof(struct trace_run)) ||
	    trace->sections[TRACE_RUN].nr != 1)
		return "it does not say what was run";
	if (!READABLE(TRACE_EVENTS, struct trace_event) || !trace->sections[TRACE_EVENTS].nr ||
	    trace->sections[TRACE_EVENTS].nr > TRACE_MAX_KINDS)
		return "its events make no sense";
	if (!READABLE(TRACE_STREAMS, struct trace_stream) ||
	    !READABLE(TRACE_MODULES, struct trace_module) ||
	    !READABLE(TRACE_THREADS, struct trace_thread) ||
	    !READABLE(TRACE_COMMANDS, struct trace_command) ||
	    !READABLE(TRACE_REDUCTIONS, struct trace_reduction) ||
	    !READABLE(TRACE_SYMBOLS, struct trace_symbol) || !READABLE(TRACE_GRANULES, uint32_t))
		return "a table is missing, or has entries of another kind";
	return NULL;
}

/* Each command may become a row of unsampled time, for which all commands are searched. */
static const char *check_commands(const struct trace *trace)
{
	return trace->sections[TRACE_COMMANDS].nr > TRACE_MAX_COMMANDS
	               ? "it has more commands than are recorded"
	               : NULL;
}

static const char *check_events(const struct trace *trace)
{
	const struct trace_event *event;

	for (uint32_t i = 0; (event = trace_kind(trace, i)); i++)
		if (event->floor > NR_LEVELS || event->initial_shift >= NR_LEVELS)
			return "its events make no sense";
	return NULL;
}

/* Older traces have no lines. */
static const char *check_lines(const struct trace *trace)
{
	const struct section *sources = &trace->sections[TRACE_SOURCES];
	const struct section *lines = &trace->sections[TRACE_LINES];
	const struct trace_line *last = NULL, *line;
	const struct trace_source *source;

	if ((sources->found && !READABLE(TRACE_SOURCES, struct trace_source)) ||
	    (lines->found && !READABLE(TRACE_LINES, struct trace_line)))
		return "its lines have entries of another kind";
	for (uint32_t i = 0; (source = section_entry(sources, i)); i++)
		if (source->caller > i)
			return "its sources are out of order";
	for (uint32_t i = 0; (line = section_entry(lines, i)); i++, last = line) {
		if (line->source > sources->nr)
			return "lines have sources that are missing";
		if (last && (last->module > line->module ||
		             (last->module == line->module && last->offset >= line->offset)))
			return "its lines are out of order";
	}
	return NULL;
}

static const char *check_source_files(const struct trace *trace)
{
	const struct section *files = &trace->sections[TRACE_SOURCE_FILES];
	const struct trace_source_file *last = NULL, *file;

	if (files->found && !READABLE(TRACE_SOURCE_FILES, struct trace_source_file))
		return "its source files have entries of another kind";
	for (uint32_t i = 0; (file = section_entry(files, i)); i++, last = file)
		if (last && last->path >= file->path)
			return "its source files are out of order";
	return NULL;
}

static const char *check_counters(const struct trace *trace)
{
	const struct section *counters = &trace->sections[TRACE_COUNTERS];
	const struct trace_counter *counter;

	if (!counters->found)
		return NULL;
	if (!READABLE(TRACE_COUNTERS, struct trace_counter) || counters->nr >= COUNTER_MAX)
		return "its counters make no sense";
	for (uint32_t i = 0; (counter = section_entry(counters, i)); i++)
		if (counter->event || counter->unit > TRACE_COUNT)
			return "it has counters of nothing";
	return NULL;
}

static const char *check_strings(const struct trace *trace)
{
	const struct section *strings = &trace->sections[TRACE_STRINGS];

	if (strings->entry_size != 1 || !strings->nr || strings->at[0] ||
	    strings->at[strings->nr - 1])
		return "its strings make no sense";
	return NULL;
}

/* Bins are numbered in the order of their places, so that none can be counted twice. */
static const char *check_bins(const struct trace *trace)
{
	const struct section *granules = &trace->sections[TRACE_GRANULES];
	const struct section *bins = &trace->sections[TRACE_BINS];
	const struct trace_run *run = trace_run(trace);
	uint32_t nr = 0;

	if (run->bin_shift < MIN_BIN_SHIFT || run->bin_shift > MAX_BIN_SHIFT ||
	    run->sub_shift < MIN_SUB_SHIFT || run->sub_shift >= run->bin_shift)
		return "its bins are of an impossible size";
	if (bins->entry_size != 1U << run->bin_shift)
		return "its bins are not of the size that it states";
	if (bins->nr > ARENA_MAX_SIZE >> run->bin_shift)
		return "it has more bins than nodes have numbers";
	for (uint32_t i = 0; i < granules->nr; i++) {
		const uint32_t *number = section_entry(granules, i);

		if (*number && *number != ++nr)
			return "its bins are out of order";
	}
	return nr == bins->nr ? NULL : "bins are missing";
}

static const char *check_symbols(const struct trace *trace)
{
	const struct trace_symbol *last = NULL, *symbol;

	for (uint32_t i = 0; (symbol = trace_symbol(trace, i)); i++, last = symbol) {
		if (symbol->lo >= symbol->hi)
			return "its symbols make no sense";
		if (last && (last->module > symbol->module ||
		             (last->module == symbol->module && last->hi > symbol->lo)))
			return "its symbols are out of order";
	}
	return NULL;
}

/* The first kind is an event: all that is known of tasks is in its unit. */
static const char *check_kinds(const struct trace *trace)
{
	return trace_kind(trace, 0)->unit == TRACE_CALLS ? "its events make no sense" : NULL;
}

/* Holds for a section that the trace lacks, or that can be read. */
#define MISSING_OR_READABLE(section, type) \
	(!trace->sections[section].found || READABLE(section, type))

/* Each member belongs to one communicator, so that the work for all of them is bounded. */
static const char *check_comms(const struct trace *trace)
{
	uint64_t nr_members = trace->sections[TRACE_MEMBERS].nr, used = 0, end;
	const struct trace_comm *comm;

	if (!MISSING_OR_READABLE(TRACE_REGIONS, struct trace_region) ||
	    !MISSING_OR_READABLE(TRACE_COMMS, struct trace_comm) ||
	    !MISSING_OR_READABLE(TRACE_MEMBERS, uint32_t) ||
	    !MISSING_OR_READABLE(TRACE_PROCESSES, struct trace_process) ||
	    !MISSING_OR_READABLE(TRACE_OWNERS, uint32_t) ||
	    !MISSING_OR_READABLE(TRACE_INSTRUMENTS, struct trace_instrument) ||
	    !MISSING_OR_READABLE(TRACE_CALL_SUMS, struct trace_call_sum) ||
	    !MISSING_OR_READABLE(TRACE_CALL_SITES, struct trace_call_site) ||
	    !MISSING_OR_READABLE(TRACE_OPENMP, struct trace_openmp) ||
	    !MISSING_OR_READABLE(TRACE_ITERATIONS, struct trace_iterations))
		return "a table of its calls has entries of another kind";
	for (uint32_t i = 0; (comm = trace_comm(trace, i)); i++) {
		end = (uint64_t)comm->first_member + comm->nr_members + comm->nr_remote;
		used += end - comm->first_member;
		if (end > nr_members || used > nr_members)
			return "communicators have members that are missing";
		if (comm->parent > i)
			return "its communicators are out of order";
	}
	return NULL;
}

/* The gaps of one event are in order; they do not overlap, which nobody relies on. */
static const char *check_steering(const struct trace *trace)
{
	const struct trace_action *action, *last_action = NULL;
	const struct trace_condition *condition, *last_condition = NULL;
	uint64_t last[TRACE_MAX_KINDS] = {0};
	const struct trace_gap *gap;

	if (!MISSING_OR_READABLE(TRACE_ACTIONS, struct trace_action) ||
	    !MISSING_OR_READABLE(TRACE_GAPS, struct trace_gap) ||
	    !MISSING_OR_READABLE(TRACE_CONDITIONS, struct trace_condition) ||
	    !MISSING_OR_READABLE(TRACE_WINDOWS, struct trace_window))
		return "its actions, windows, conditions or gaps have entries of another kind";
	for (uint32_t i = 0; (action = trace_action(trace, i)); i++, last_action = action)
		if (last_action && last_action->time > action->time)
			return "its actions are out of order";
	for (uint32_t i = 0; (gap = trace_gap(trace, i)); i++) {
		if (gap->event >= TRACE_MAX_KINDS || last[gap->event] > gap->from)
			return "its gaps are out of order";
		last[gap->event] = gap->from;
	}
	for (uint32_t i = 0; (condition = trace_condition(trace, i)); i++) {
		if (last_condition && last_condition->time > condition->time)
			return "its conditions are out of order";
		last_condition = condition;
	}
	return NULL;
}

/* The history alone has calls. */
static bool is_of_event(const struct trace *trace, const struct trace_window *window)
{
	const struct trace_event *event = trace_kind(trace, window->event);

	return event && (event->unit != TRACE_CALLS || window->flags & TRACE_WINDOW_HISTORY);
}

/* Kinds of windows are those of no event and of no other window. */
static const char *check_windows(const struct trace *trace)
{
	bool taken[TRACE_MAX_KINDS] = {false};
	const struct trace_window *window;

	for (uint32_t i = 0; (window = trace_window(trace, i)); i++) {
		if (!window->number)
			continue;
		if (window->kind >= TRACE_MAX_KINDS || trace_kind(trace, window->kind) ||
		    taken[window->kind] || !is_of_event(trace, window) ||
		    window->shift >= NR_LEVELS || window->floor > NR_LEVELS)
			return "its windows make no sense";
		taken[window->kind] = true;
	}
	return NULL;
}

const char *trace_check(const struct trace *trace)
{
	/* Each relies on those before it. */
	static const char *(*const checks[])(const struct trace *trace) = {
		check_sizes,   check_commands, check_events,  check_strings,      check_bins,
		check_symbols, check_counters, check_lines,   check_source_files, check_kinds,
		check_comms,   check_steering, check_windows,
	};
	const char *wrong = NULL;

	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks) && !wrong; i++)
		wrong = checks[i](trace);
	return wrong;
}
