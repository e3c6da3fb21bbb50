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

void tables_end_gap(struct tables *tables, uint32_t event, uint64_t to)
{
	struct trace_gap *gap;

	for (uint32_t i = tables->header->nr[TRACE_GAPS]; i > 0; i--) {
		gap = table_entry(tables, TRACE_GAPS, i - 1);
		if (gap->event != event)
			continue;
		if (!gap->to)
			__atomic_store_n(&gap->to, to, __ATOMIC_RELEASE);
		return;
	}
}

/* The number comes last: without one, readers do not believe the rest. */
bool tables_set_window(struct tables *tables, uint32_t index, const struct trace_window *window)
{
	const uint32_t nr = tables->header->nr[TRACE_WINDOWS];
	struct trace_window *entry = index < nr ? table_entry(tables, TRACE_WINDOWS, index)
	                                        : table_grow(tables, TRACE_WINDOWS);
	struct trace_window copy = *window;

	if (!entry)
		return false;
	copy.number = 0;
	__atomic_store_n(&entry->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*entry = copy;
	__atomic_store_n(&entry->number, window->number, __ATOMIC_RELEASE);
	if (index >= nr)
		table_publish(tables, TRACE_WINDOWS, nr + 1);
	return true;
}

struct trace_window *tables_window(const struct tables *tables, uint32_t index)
{
	return table_entry_at(tables, TRACE_WINDOWS, index);
}

void tables_end_window(struct tables *tables, uint32_t index, uint64_t to, unsigned flags)
{
	struct trace_window *entry = tables_window(tables, index);

	if (!entry)
		return;
	entry->flags |= flags;
	__atomic_store_n(&entry->to, to, __ATOMIC_RELEASE);
}

void tables_drop_lease(struct tables *tables)
{
	struct hmb_ledger *ledger = tables_ledger(tables);
	struct trace_window *window;

	for (uint32_t i = 0; (window = tables_window(tables, i)); i++) {
		if (!window->number || !(window->flags & TRACE_WINDOW_LEASED))
			continue;
		window->number = 0;
		if (window->kind >= HMB_MAX_KINDS)
			continue;
		ledger->since[window->kind] = UINT32_MAX;
		ledger->floor[window->kind] = 0;
	}
}
