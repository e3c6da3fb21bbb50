/* The windows and the history of a trace, and reading one of them instead of the run. */
#include "trace/trace_file.h"

#include <errno.h>

const struct trace_window *trace_window(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_WINDOWS], index);
}

bool trace_is_window(const struct trace_window *window)
{
	return window->number && !(window->flags & TRACE_WINDOW_HISTORY);
}

/* Whether it is a part of the history with calls, or with samples. */
static bool is_of_history(const struct trace *trace, const struct trace_window *window, bool calls)
{
	const struct trace_event *event =
		section_entry(&trace->sections[TRACE_EVENTS], window->event);

	return window->number && window->flags & TRACE_WINDOW_HISTORY && event &&
	       (event->unit == TRACE_CALLS) == calls;
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

bool trace_calls_chosen(const struct trace *trace)
{
	return !trace->choice.found || trace->choice.has_calls;
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

/* All parts are of the kind that the first one is of. */
static bool find_parts(const struct trace *trace, struct trace_window *history, bool calls)
{
	const struct trace_window *part;
	bool found = false;

	for (uint32_t i = 0; (part = trace_window(trace, i)); i++) {
		if (!is_of_history(trace, part, calls) || (found && part->event != history->event))
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

bool trace_find_history(const struct trace *trace, struct trace_window *history)
{
	return find_parts(trace, history, false);
}

bool trace_find_call_history(const struct trace *trace, struct trace_window *history)
{
	return find_parts(trace, history, true);
}

bool trace_has_history(const struct trace *trace)
{
	struct trace_window history;

	return trace_find_history(trace, &history) || trace_find_call_history(trace, &history);
}

static bool has_ended_part(const struct trace *trace, bool calls)
{
	const struct trace_window *part;

	for (uint32_t i = 0; (part = trace_window(trace, i)); i++)
		if (is_of_history(trace, part, calls) && part->to)
			return true;
	return false;
}

bool trace_history_is_full(const struct trace *trace)
{
	struct trace_window calls;

	return has_ended_part(trace, false) &&
	       (has_ended_part(trace, true) || !trace_find_call_history(trace, &calls));
}

/* --- choosing --------------------------------------------------------------------------------- */

/* Lets bins of the parts be of the kind that they are parts of, and no others. */
static void number_parts(struct trace *trace, const struct trace_window *history, bool calls)
{
	const uint16_t number = (uint16_t)trace_window_event(trace, history);
	const struct trace_window *part;

	trace->choice.numbers[history->event] = NO_KIND_NUMBER;
	for (uint32_t i = 0; (part = trace_window(trace, i)); i++)
		if (is_of_history(trace, part, calls) && part->event == history->event)
			trace->choice.numbers[part->kind] = number;
}

static void number_window(struct trace *trace, const struct trace_window *window)
{
	trace->choice.numbers[window->event] = NO_KIND_NUMBER;
	trace->choice.numbers[window->kind] = (uint16_t)trace_window_event(trace, window);
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

/* The history is of the time from which on it has samples and calls. */
static void choose_calls(struct trace *trace)
{
	struct trace_choice *choice = &trace->choice;
	struct trace_window calls;

	choice->has_calls = trace_find_call_history(trace, &calls);
	if (!choice->has_calls)
		return;
	choice->call_event = event_in_window(trace, &calls);
	choice->call_event.floor = 0; /* what one part has lost is no loss of the other */
	choice->calls = trace_window_event(trace, &calls);
	number_parts(trace, &calls, true);
	if (choice->window.from < calls.from)
		choice->window.from = calls.from;
}

void trace_find_chosen_window(struct trace *trace)
{
	struct trace_choice *choice = &trace->choice;
	const struct trace_window *window = trace_find_window(trace, choice->number);
	bool found = window;

	choice->found = choice->has_calls = false;
	if (choice->history)
		found = trace_find_history(trace, &choice->window);
	else if (window)
		choice->window = *window;
	if (!found)
		return;
	for (unsigned k = 0; k < TRACE_MAX_KINDS; k++)
		choice->numbers[k] = trace->numbers[k];
	choice->event = event_in_window(trace, &choice->window);
	if (choice->history) {
		number_parts(trace, &choice->window, false);
		choose_calls(trace);
	} else {
		number_window(trace, &choice->window);
	}
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
