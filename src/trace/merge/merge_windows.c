/*
 * The windows of all inputs, each as a kind of its own: those of different processes are of
 * different times and rates. Their histories become one, of the time that all of them have.
 */
#include "trace/merge/merge_state.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

#define SHARE_OF_WINDOWS 10 /* percent of the buffer, as the recorders give them */
#define SHARE_OF_HISTORY 60
#define SHARE_OF_CALLS   60 /* of the history */

/* A window of an input. */
struct found {
	uint32_t input;
	struct trace_window window; /* with its times in the new trace */
};

/* The inputs that have the window, and the event that it is of. */
struct inputs {
	bool *has;
	uint32_t *events;
};

static int inputs_init(struct inputs *inputs, uint32_t nr)
{
	inputs->has = calloc(nr + 1UL, sizeof(*inputs->has));
	inputs->events = calloc(nr + 1UL, sizeof(*inputs->events));
	return inputs->has && inputs->events ? 0 : -ENOMEM;
}

static void inputs_fini(struct inputs *inputs)
{
	free(inputs->has);
	free(inputs->events);
}

/* --- a kind ----------------------------------------------------------------------------------- */

/* Returns the new kind, whose memory is a share of the buffer, or -errno. */
static int add_kind(struct merge *merge, unsigned time_shift, unsigned percent, unsigned pool)
{
	const struct hmb_kind_config config = {
		.time_shift = time_shift,
		.stream_owner = merge->counters.owner,
		.share = hmb_limit(merge->hmb) / 100 * percent,
		.pool = pool,
		.by_level = true,
	};

	return hmb_add_last_kind(merge->hmb, &config);
}

/* Levels that the recorder closed are closed here, too. */
static void close_levels(struct merge *merge, const struct trace_window *window)
{
	while (window->floor > window->shift && hmb_floor(merge->hmb, window->kind) < window->floor)
		hmb_close_lowest(merge->hmb, window->kind, window->from, HMB_CAUSE_SHARE);
}

static int put_part(struct merge *merge, const struct inputs *inputs,
                    const struct trace_window *window)
{
	const struct merge_part part = {
		.inputs = inputs->has,
		.events = inputs->events,
		.kind = window->kind,
		.floor = trace_window_shift(window),
		.from = window->from,
	};

	close_levels(merge, window);
	if (!tables_set_window(merge->tables, window))
		return -ENOMEM;
	merge->taken[window->kind] = window->taken;
	return merge_put_samples(merge, &part);
}

/* --- windows ---------------------------------------------------------------------------------- */

static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return ORDER(x->window.from, y->window.from) ?: ORDER(x->input, y->input) ?:
	       ORDER(x->window.number, y->window.number);
}

static uint32_t count_windows(const struct merge *merge)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < merge->nr; i++)
		nr += trace_nr(merge->inputs[i].trace, TRACE_WINDOWS);
	return nr;
}

/* Returns their number, in the order of their starts. */
static uint32_t find_windows(const struct merge *merge, struct found *all)
{
	const struct trace_window *window;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < merge->nr; i++) {
		const struct merge_input *input = &merge->inputs[i];

		for (uint32_t w = 0; (window = trace_window(input->trace, w)); w++) {
			if (!trace_is_window(window))
				continue;
			all[nr] = (struct found){i, *window};
			all[nr].window.from = merge_time(merge, input, window->from);
			all[nr++].window.to =
				merge_time(merge, input, trace_window_end(input->trace, window));
		}
	}
	ARRAY_SORT(all, nr, compare_found);
	return nr;
}

static int put_window(struct merge *merge, const struct inputs *inputs, const struct found *found,
                      uint32_t number)
{
	const struct merge_input *input = &merge->inputs[found->input];
	const uint32_t event = trace_window_event(input->trace, &found->window);
	struct trace_window window = found->window;
	int kind, err = trace_choose_window(input->trace, window.number);

	if (err)
		return err;
	kind = add_kind(merge, merge_time_shift(input->trace, event, BIN_SAMPLES), SHARE_OF_WINDOWS,
	                1);
	if (kind < 0)
		return kind;
	window.number = number;
	window.kind = (uint32_t)kind;
	window.event = input->kinds[event];
	window.process = merge_process(input, window.process);
	inputs->has[found->input] = true;
	inputs->events[found->input] = event;
	err = put_part(merge, inputs, &window);
	inputs->has[found->input] = false;
	return err ? err : trace_choose_window(input->trace, 0);
}

/* The last ones are left out if there is no room for all: two kinds are for the history. */
static int put_windows(struct merge *merge, const struct inputs *inputs)
{
	const uint32_t used = merge->nr_events + 2,
		       room = used < HMB_MAX_KINDS ? HMB_MAX_KINDS - used : 0;
	struct found *all = calloc(count_windows(merge) + 1UL, sizeof(*all));
	uint32_t nr;
	int err = 0;

	if (!all)
		return -ENOMEM;
	nr = find_windows(merge, all);
	merge->result->lost_windows = nr > room ? nr - room : 0;
	for (uint32_t i = 0; i < nr && i < room && !err; i++)
		err = put_window(merge, inputs, &all[i], i + 1);
	free(all);
	return err;
}

/* --- history ---------------------------------------------------------------------------------- */

/* All weigh the same. */
static void join(struct trace_window *to, const struct trace_window *from)
{
	to->shift = from->shift > to->shift ? from->shift : to->shift;
	to->floor = from->floor > to->floor ? from->floor : to->floor;
	to->from = from->from > to->from ? from->from : to->from;
	to->to = from->to > to->to ? from->to : to->to;
	to->span = from->span < to->span ? from->span : to->span;
	to->taken += from->taken;
	to->flags |= from->flags;
}

static int choose_history(struct merge *merge, uint32_t i, const struct inputs *inputs,
                          struct trace_window *history, unsigned *time_shift)
{
	const struct merge_input *input = &merge->inputs[i];
	struct trace_window own;
	unsigned shift;
	uint32_t event;
	int err;

	if (!trace_find_history(input->trace, &own))
		return 0;
	event = trace_window_event(input->trace, &own);
	own.from = merge_time(merge, input, own.from);
	own.to = merge_time(merge, input, trace_window_end(input->trace, &own));
	own.event = input->kinds[event];
	if (history->number && history->event != own.event) {
		merge->result->lost_windows++;
		return 0;
	}
	err = trace_choose_history(input->trace);
	if (err)
		return err;
	if (history->number)
		join(history, &own);
	else
		*history = own;
	history->number = 1;
	inputs->has[i] = true;
	inputs->events[i] = event;
	shift = merge_time_shift(input->trace, event, BIN_SAMPLES);
	*time_shift = shift < *time_shift ? shift : *time_shift;
	return 0;
}

static int put_history(struct merge *merge, const struct inputs *inputs)
{
	unsigned time_shift = CODE_MAX_TIME_SHIFT;
	struct trace_window history = {0};
	int err = 0, kind;

	for (uint32_t i = 0; i < merge->nr && !err; i++)
		err = choose_history(merge, i, inputs, &history, &time_shift);
	if (err || !history.number)
		return err;
	kind = add_kind(merge, time_shift, SHARE_OF_HISTORY, 0);
	history.kind = (uint32_t)kind;
	history.process = 0;
	if (kind >= 0)
		err = put_part(merge, inputs, &history);
	else if (kind == -ENOSPC)
		merge->result->lost_windows++;
	else
		err = kind;
	for (uint32_t i = 0; i < merge->nr && !err; i++)
		if (inputs->has[i])
			err = trace_choose_window(merge->inputs[i].trace, 0);
	return err;
}

/* --- its calls -------------------------------------------------------------------------------- */

static uint32_t join_calls(const struct merge *merge, struct trace_window *calls)
{
	struct trace_window own;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < merge->nr; i++) {
		const struct merge_input *input = &merge->inputs[i];

		if (!trace_find_call_history(input->trace, &own))
			continue;
		own.from = merge_time(merge, input, own.from);
		own.to = merge_time(merge, input, trace_window_end(input->trace, &own));
		if (nr++)
			join(calls, &own);
		else
			*calls = own;
	}
	return nr;
}

/* Calls that are missing count as taken, too. */
static int put_calls_of(struct merge *merge, uint32_t i, const struct trace_window *calls)
{
	struct merge_input *input = &merge->inputs[i];
	struct trace_window own;
	int err;

	if (!trace_find_call_history(input->trace, &own))
		return 0;
	merge->taken[calls->kind] += own.taken - own.stored;
	err = trace_choose_history(input->trace);
	if (!err)
		err = merge_put_calls(merge, input, calls->kind, calls->from);
	return err ? err : trace_choose_window(input->trace, 0);
}

static int put_call_history(struct merge *merge)
{
	const struct hmb_kind_config config = {
		.content = HMB_CALLS,
		.time_shift =
			merge->calls == MERGE_NONE ? 0 : merge->events[merge->calls].time_shift,
		.share = hmb_limit(merge->hmb) / 100 * SHARE_OF_CALLS,
		.by_level = true,
	};
	struct trace_window calls = {0};
	int kind, err = 0;

	if (merge->calls == MERGE_NONE || !join_calls(merge, &calls))
		return 0;
	kind = hmb_add_last_kind(merge->hmb, &config);
	if (kind == -ENOSPC)
		merge->result->lost_windows++;
	if (kind < 0)
		return kind == -ENOSPC ? 0 : kind;
	calls.number = 1;
	calls.kind = (uint32_t)kind;
	calls.event = merge->calls;
	calls.process = 0;
	if (!tables_set_window(merge->tables, &calls))
		return -ENOMEM;
	for (uint32_t i = 0; i < merge->nr && !err; i++)
		err = put_calls_of(merge, i, &calls);
	merge->taken[kind] += hmb_stored(merge->hmb, calls.kind);
	return err;
}

int merge_put_windows(struct merge *merge)
{
	struct inputs inputs;
	int err = inputs_init(&inputs, merge->nr);

	if (!err)
		err = put_windows(merge, &inputs);
	if (!err)
		err = put_history(merge, &inputs);
	if (!err)
		err = put_call_history(merge);
	inputs_fini(&inputs);
	return err;
}
