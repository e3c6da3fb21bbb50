/* The windows and the history of a trace, and reading one of them instead of the run. */
#include "trace/trace_file.h"

#include <errno.h>
#include <string.h>

const struct trace_window *trace_window(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_WINDOWS], index);
}

bool trace_is_window(const struct trace_window *window)
{
	return window->number && !(window->flags & TRACE_WINDOW_HISTORY);
}

static bool is_of_history(const struct trace_window *window)
{
	return window->number && window->flags & TRACE_WINDOW_HISTORY;
}

const struct trace_window *trace_find_window(const struct trace *trace, uint32_t number)
{
	const struct trace_window *window;

	for (uint32_t i = 0; number && (window = trace_window(trace, i)); i++)
		if (window->number == number && trace_is_window(window))
			return window;
	return NULL;
}

const struct trace_window *trace_window_of_kind(const struct trace *trace, uint32_t kind)
{
	const struct trace_window *window;

	for (uint32_t i = 0; (window = trace_window(trace, i)); i++)
		if (window->number && window->kind == kind)
			return window;
	return NULL;
}

uint64_t trace_window_end(const struct trace *trace, const struct trace_window *window)
{
	const uint64_t end = window->to ? window->to : trace_run(trace)->end;

	return end > window->from ? end : window->from;
}

const struct trace_window *trace_chosen_window(const struct trace *trace)
{
	return trace->choice.found ? &trace->choice.window : NULL;
}

/* --- history ---------------------------------------------------------------------------------- */

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static void join(struct trace_window *history, const struct trace_window *part)
{
	if (part->from < history->from)
		history->from = part->from;
	if (!part->to || (history->to && part->to > history->to))
		history->to = part->to;
	history->shift = larger(history->shift, part->shift);
	history->floor = larger(history->floor, part->floor);
	history->taken += part->taken;
	history->stored += part->stored;
	history->flags |= part->flags;
}

bool trace_find_history(const struct trace *trace, struct trace_window *history)
{
	const struct trace_window *part;
	bool found = false;

	for (uint32_t i = 0; (part = trace_window(trace, i)); i++) {
		if (!is_of_history(part) || (found && part->event != history->event))
			continue;
		if (found)
			join(history, part);
		else
			*history = *part;
		history->number = 0;
		found = true;
	}
	return found;
}

bool trace_history_is_full(const struct trace *trace)
{
	const struct trace_window *part;

	for (uint32_t i = 0; (part = trace_window(trace, i)); i++)
		if (is_of_history(part) && part->to)
			return true;
	return false;
}

/* --- choosing --------------------------------------------------------------------------------- */

static void choose_kinds(struct trace *trace, const struct trace_window *chosen)
{
	const struct trace_window *window;
	bool *kinds = trace->choice.kinds;

	memset(kinds, 0, sizeof(trace->choice.kinds));
	for (uint32_t i = 0; (window = trace_window(trace, i)); i++)
		if (window->kind < TRACE_MAX_KINDS &&
		    (chosen->number ? window->kind == chosen->kind
		                    : is_of_history(window) && window->event == chosen->event))
			kinds[window->kind] = true;
}

static struct trace_event event_in_window(const struct trace *trace,
                                          const struct trace_window *window)
{
	struct trace_event event = *trace_kind(trace, trace_window_event(trace, window));

	event.initial_shift = window->shift;
	event.floor = window->floor;
	event.taken = window->taken;
	event.stored = window->stored;
	event.exact = 0;
	return event;
}

void trace_find_chosen_window(struct trace *trace)
{
	struct trace_choice *choice = &trace->choice;
	const struct trace_window *window = trace_find_window(trace, choice->number);
	bool found = window;

	choice->found = false;
	if (choice->history)
		found = trace_find_history(trace, &choice->window);
	else if (window)
		choice->window = *window;
	if (!found)
		return;
	choice->event = event_in_window(trace, &choice->window);
	choose_kinds(trace, &choice->window);
	choice->found = true;
}

struct sum {
	uint64_t nr, weight;
};

static int add_sample(void *arg, const struct trace_sample *sample)
{
	struct sum *sum = arg;

	sum->nr++;
	sum->weight += sample->weight;
	return 0;
}

static void want(struct trace *trace, uint32_t number, bool history)
{
	trace->choice.number = number;
	trace->choice.history = history;
}

/* By a copy of the trace whose index is its own. */
int trace_window_weight(const struct trace *trace, const struct trace_window *window, uint64_t *nr,
                        uint64_t *weight)
{
	struct trace copy = *trace;
	struct sum sum = {0};
	const char *wrong;
	int err;

	want(&copy, window->number, !window->number);
	trace_forget_index(&copy);
	err = trace_index(&copy, &wrong);
	if (!err)
		err = trace_each_sample(
			trace_walk_unordered(&copy, trace_window_event(&copy, window)), add_sample,
			&sum);
	trace_drop_index(&copy);
	*nr = sum.nr;
	*weight = sum.weight;
	return err;
}

static int index_anew(struct trace *trace)
{
	const char *wrong;

	trace_drop_index(trace);
	return trace_index(trace, &wrong);
}

int trace_choose_window(struct trace *trace, uint32_t number)
{
	if (number && !trace_find_window(trace, number))
		return -ENOENT;
	want(trace, number, false);
	return index_anew(trace);
}

/* Parts of it may have samples that do not count for all of it. */
int trace_choose_history(struct trace *trace)
{
	struct trace_window history;
	uint64_t nr, weight;
	int err;

	if (!trace_find_history(trace, &history))
		return -ENOENT;
	err = trace_window_weight(trace, &history, &nr, &weight);
	if (err)
		return err;
	want(trace, 0, true);
	err = index_anew(trace);
	trace->choice.event.stored = nr;
	return err;
}
