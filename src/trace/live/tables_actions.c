/* Actions of those who steer a recording, and the times in which it took no samples. */
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

void tables_end_gaps(struct tables *tables, uint64_t to)
{
	struct trace_gap *gap;

	for (uint32_t i = tables->header->nr[TRACE_GAPS]; i > 0; i--) {
		gap = table_entry(tables, TRACE_GAPS, i - 1);
		if (gap->to)
			return;
		__atomic_store_n(&gap->to, to, __ATOMIC_RELEASE);
	}
}
