/* Actions, conditions and gaps of all inputs, in the order of time. */
#include "trace/merge/merge_state.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static int compare_actions(const void *a, const void *b)
{
	const struct trace_action *x = a, *y = b;

	return ORDER(x->time, y->time) ?: ORDER(x->process, y->process);
}

static int compare_conditions(const void *a, const void *b)
{
	const struct trace_condition *x = a, *y = b;

	return ORDER(x->time, y->time) ?: ORDER(x->process, y->process);
}

static int compare_gaps(const void *a, const void *b)
{
	const struct trace_gap *x = a, *y = b;

	return ORDER(x->from, y->from) ?: ORDER(x->process, y->process) ?: ORDER(x->event, y->event);
}

uint32_t merge_process(const struct merge_input *input, uint32_t process)
{
	const uint32_t nr = trace_nr(input->trace, TRACE_PROCESSES);
	const uint32_t old = process && process <= nr ? process - 1 : 0;

	return input->processes[old] + 1;
}

static void put_actions(struct merge *merge, struct trace_action *actions)
{
	const struct trace_action *action;
	size_t nr = 0;

	for (uint32_t i = 0; i < merge->nr; i++) {
		const struct merge_input *input = &merge->inputs[i];

		for (uint32_t a = 0; (action = trace_action(input->trace, a)); a++, nr++) {
			actions[nr] = *action;
			actions[nr].time = merge_time(merge, input, action->time);
			actions[nr].action = merge_string(&merge->map, input, action->action);
			actions[nr].text = merge_string(&merge->map, input, action->text);
			actions[nr].process = merge_process(input, action->process);
		}
	}
	ARRAY_SORT(actions, nr, compare_actions);
	for (size_t i = 0; i < nr; i++)
		tables_add_action(merge->tables, &actions[i]);
}

static void put_conditions(struct merge *merge, struct trace_condition *conditions)
{
	const struct trace_condition *condition;
	size_t nr = 0;

	for (uint32_t i = 0; i < merge->nr; i++) {
		const struct merge_input *input = &merge->inputs[i];

		for (uint32_t c = 0; (condition = trace_condition(input->trace, c)); c++, nr++) {
			conditions[nr] = *condition;
			conditions[nr].time = merge_time(merge, input, condition->time);
			conditions[nr].text = merge_string(&merge->map, input, condition->text);
			conditions[nr].file = merge_string(&merge->map, input, condition->file);
			conditions[nr].process = merge_process(input, condition->process);
		}
	}
	ARRAY_SORT(conditions, nr, compare_conditions);
	for (size_t i = 0; i < nr; i++)
		tables_add_condition(merge->tables, &conditions[i]);
}

static void put_gaps(struct merge *merge, struct trace_gap *gaps)
{
	const struct trace_gap *gap;
	size_t nr = 0;

	for (uint32_t i = 0; i < merge->nr; i++) {
		const struct merge_input *input = &merge->inputs[i];

		for (uint32_t g = 0; (gap = trace_gap(input->trace, g)); g++) {
			if (!trace_event(input->trace, gap->event))
				continue;
			gaps[nr++] = (struct trace_gap){
				.from = merge_time(merge, input, gap->from),
				.to = merge_time(merge, input, trace_gap_end(input->trace, gap)),
				.event = input->kinds[gap->event],
				.process = merge_process(input, gap->process),
			};
		}
	}
	ARRAY_SORT(gaps, nr, compare_gaps);
	for (size_t i = 0; i < nr; i++)
		tables_add_gap(merge->tables, &gaps[i]);
}

int merge_put_actions(struct merge *merge)
{
	size_t nr_actions = 0, nr_conditions = 0, nr_gaps = 0;
	struct trace_condition *conditions;
	struct trace_action *actions;
	struct trace_gap *gaps;
	bool fits;

	for (uint32_t i = 0; i < merge->nr; i++) {
		nr_actions += trace_nr(merge->inputs[i].trace, TRACE_ACTIONS);
		nr_conditions += trace_nr(merge->inputs[i].trace, TRACE_CONDITIONS);
		nr_gaps += trace_nr(merge->inputs[i].trace, TRACE_GAPS);
	}
	actions = calloc(nr_actions + 1, sizeof(*actions));
	gaps = calloc(nr_gaps + 1, sizeof(*gaps));
	conditions = calloc(nr_conditions + 1, sizeof(*conditions));
	fits = actions && gaps && conditions;
	if (fits) {
		put_actions(merge, actions);
		put_conditions(merge, conditions);
		put_gaps(merge, gaps);
	}
	free(actions);
	free(gaps);
	free(conditions);
	return fits ? 0 : -ENOMEM;
}
