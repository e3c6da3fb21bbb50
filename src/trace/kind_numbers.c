#include "trace/kind_numbers.h"

#include "trace/trace_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The sections that name kinds, and where in an entry. */
static const struct naming {
	enum trace_section section;
	size_t at;
} namings[NR_TRACE_RENUMBERED] = {
	{TRACE_STREAMS, offsetof(struct trace_stream, event)},
	{TRACE_REDUCTIONS, offsetof(struct trace_reduction, event)},
	{TRACE_COUNTERS, offsetof(struct trace_counter, event)},
	{TRACE_INSTRUMENTS, offsetof(struct trace_instrument, event)},
	{TRACE_GAPS, offsetof(struct trace_gap, event)},
};

void kind_numbers_init(struct trace *trace)
{
	for (unsigned k = 0; k < TRACE_MAX_KINDS; k++)
		trace->numbers[k] = trace->kinds[k] = (uint8_t)k;
}

static const struct trace_event *stored_kind(const struct trace *trace, uint32_t kind)
{
	return section_entry(&trace->sections[TRACE_EVENTS], kind);
}

/* Numbers the kinds that hold calls, or the others, from a number on. Returns the next number. */
static uint32_t number(struct trace *trace, bool calls, uint32_t next)
{
	const struct trace_event *kind;

	for (uint32_t k = 0; (kind = stored_kind(trace, k)); k++)
		if ((kind->unit == TRACE_CALLS) == calls) {
			trace->kinds[next] = (uint8_t)k;
			trace->numbers[k] = (uint8_t)next++;
		}
	return next;
}

static bool is_in_order(const struct trace *trace)
{
	for (unsigned k = 0; k < TRACE_MAX_KINDS; k++)
		if (trace->kinds[k] != k)
			return false;
	return true;
}

/* Gives a section a copy of its entries. A number that no kind has is left as it is. */
static int renumber(struct trace *trace, unsigned which)
{
	struct section *section = &trace->sections[namings[which].section];
	const size_t size = (size_t)section->nr * section->entry_size;
	unsigned char *copy;
	uint32_t kind;

	if (!section->nr)
		return 0;
	copy = malloc(size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, section->at, size);
	for (size_t at = namings[which].at; at < size; at += section->entry_size) {
		memcpy(&kind, copy + at, sizeof(kind));
		kind = kind < TRACE_MAX_KINDS ? trace->numbers[kind] : kind;
		memcpy(copy + at, &kind, sizeof(kind));
	}
	trace->renumbered[which] = copy;
	trace->as_stored[which] = section->at;
	section->at = copy;
	return 0;
}

int kind_numbers_make(struct trace *trace)
{
	int err = 0;

	trace->nr_events = number(trace, false, 0);
	number(trace, true, trace->nr_events);
	if (is_in_order(trace))
		return 0;
	for (unsigned i = 0; !err && i < NR_TRACE_RENUMBERED; i++)
		err = renumber(trace, i);
	return err;
}

void kind_numbers_forget(struct trace *trace)
{
	for (unsigned i = 0; i < NR_TRACE_RENUMBERED; i++)
		if (trace->renumbered[i]) {
			trace->sections[namings[i].section].at = trace->as_stored[i];
			trace->renumbered[i] = NULL;
		}
}

void kind_numbers_free(struct trace *trace)
{
	for (unsigned i = 0; i < NR_TRACE_RENUMBERED; i++)
		free(trace->renumbered[i]);
	kind_numbers_forget(trace);
}
