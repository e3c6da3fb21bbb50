/*
 * Actions of those who steer a recording, the times in which it took no samples, and those in which
 * it took more.
 */
#include "trace/live/tables_layout.h"

#include <string.h>

static void add(struct tables *tables, enum trace_section section, const void *entry)
{
	void *to = table_grow(tables, section);

	if (!to) {
		tables_run(tables)->dropped_actions++;
		return;
	}
	memcpy(to, entry, table_limits(section).entry_size);
	table_publish(tables, section, tables->header->nr[section] + 1);
}

void tables_add_action(struct tables *tables, const struct trace_action *action)
{
	add(tables, TRACE_ACTIONS, action);
}

void tables_add_gap(struct tables *tables, const struct trace_gap *gap)
{
	add(tables, TRACE_GAPS, gap);
}

void tables_add_condition(struct tables *tables, const struct trace_condition *condition)
{
	add(tables, TRACE_CONDITIONS, condition);
}

uint64_t tables_end_gap(struct tables *tables, uint32_t event, uint64_t to)
{
	struct trace_gap *gap;

	for (uint32_t i = tables->header->nr[TRACE_GAPS]; i > 0; i--) {
		gap = table_entry(tables, TRACE_GAPS, i - 1);
		if (gap->event != event)
			continue;
		if (gap->to)
			break;
		__atomic_store_n(&gap->to, to, __ATOMIC_RELEASE);
		return to > gap->from ? to - gap->from : 0;
	}
	return 0;
}

static struct trace_window *find_window(struct tables *tables, uint32_t kind)
{
	const uint32_t nr = tables->header->nr[TRACE_WINDOWS];

	for (uint32_t i = 0; i < nr; i++) {
		struct trace_window *entry = table_entry(tables, TRACE_WINDOWS, i);

		if (entry->kind == kind)
			return entry;
	}
	return NULL;
}

/* The number comes last: without one, readers do not believe the rest. */
static void write_window(struct trace_window *entry, const struct trace_window *window)
{
	struct trace_window copy = *window;

	copy.number = 0;
	__atomic_store_n(&entry->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*entry = copy;
	__atomic_store_n(&entry->number, window->number, __ATOMIC_RELEASE);
}

bool tables_set_window(struct tables *tables, const struct trace_window *window)
{
	struct trace_window *entry = find_window(tables, window->kind);
	struct trace_window copy = *window;

	copy.since = tables_ledger(tables)->since[window->kind];
	if (entry) {
		write_window(entry, &copy);
		return true;
	}
	entry = table_grow(tables, TRACE_WINDOWS);
	if (!entry)
		return false;
	write_window(entry, &copy);
	table_publish(tables, TRACE_WINDOWS, tables->header->nr[TRACE_WINDOWS] + 1);
	return true;
}

void tables_end_window(struct tables *tables, uint32_t kind, uint64_t to, unsigned flags)
{
	struct trace_window *entry = find_window(tables, kind);

	if (!entry)
		return;
	entry->flags |= flags;
	__atomic_store_n(&entry->to, to, __ATOMIC_RELEASE);
}

void tables_drop_lease(struct tables *tables)
{
	struct hmb_ledger *ledger = tables_ledger(tables);
	struct trace_window *window;

	for (uint32_t i = 0; (window = table_entry_at(tables, TRACE_WINDOWS, i)); i++) {
		if (!window->number || !(window->flags & TRACE_WINDOW_LEASED))
			continue;
		window->number = 0;
		if (window->kind >= HMB_MAX_KINDS)
			continue;
		ledger->since[window->kind] = UINT32_MAX;
		ledger->floor[window->kind] = 0;
	}
}

/*
 * The kind of a window may be cleared while the tables are copied, which then tell of records that
 * are not there any more.
 */
static void complete_window(const struct hmb_ledger *ledger, struct trace_window *window)
{
	const uint32_t k = window->kind;

	if (window->number && k < HMB_MAX_KINDS && ledger->since[k] == window->since) {
		window->floor = ledger->floor[k] < NR_LEVELS ? ledger->floor[k] : NR_LEVELS;
		window->taken = ledger->taken[k];
	} else {
		*window = (struct trace_window){.kind = k, .event = window->event};
	}
	window->since = 0;
}

uint32_t tables_windows(const struct tables *tables, struct trace_window to[TABLES_MAX_WINDOWS])
{
	const struct live_table windows = tables_section(tables, TRACE_WINDOWS);
	const uint32_t nr =
		windows.nr < TABLES_MAX_WINDOWS ? (uint32_t)windows.nr : TABLES_MAX_WINDOWS;

	if (nr)
		memcpy(to, windows.entries, nr * sizeof(*to));
	for (uint32_t i = 0; i < nr; i++)
		complete_window(tables_ledger(tables), &to[i]);
	return nr;
}

const char *recording_state_name(const struct recording_state *state)
{
	if (state->flags & RECORDING_STOPPED)
		return "stopped";
	if (state->flags & RECORDING_FROZEN)
		return "paused";
	return state->flags & RECORDING_PAUSED ? "recording-paused" : "recording";
}
