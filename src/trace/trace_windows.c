/* The windows of a trace, and reading one of them instead of the run. */
#include "trace/trace_file.h"

#include <errno.h>

const struct trace_window *trace_window(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_WINDOWS], index);
}

const struct trace_window *trace_find_window(const struct trace *trace, uint32_t number)
{
	const struct trace_window *window;

	for (uint32_t i = 0; number && (window = trace_window(trace, i)); i++)
		if (window->number == number)
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
	return trace->window;
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
	const struct trace_window *window = trace_find_window(trace, trace->window_number);

	if (window)
		trace->window_event = event_in_window(trace, window);
	trace->window = window;
}

static int add_weight(void *arg, const struct trace_sample *sample)
{
	*(uint64_t *)arg += sample->weight;
	return 0;
}

/* By a copy of the trace whose index is its own. */
int trace_window_weight(const struct trace *trace, const struct trace_window *window,
                        uint64_t *weight)
{
	struct trace copy = *trace;
	const char *wrong;
	int err;

	*weight = 0;
	copy.window_number = window->number;
	trace_forget_index(&copy);
	err = trace_index(&copy, &wrong);
	if (!err)
		err = trace_each_sample(
			trace_walk_unordered(&copy, trace_window_event(&copy, window)), add_weight,
			weight);
	trace_drop_index(&copy);
	return err;
}

int trace_choose_window(struct trace *trace, uint32_t number)
{
	const char *wrong;

	if (number && !trace_find_window(trace, number))
		return -ENOENT;
	trace->window_number = number;
	trace_drop_index(trace);
	return trace_index(trace, &wrong);
}
