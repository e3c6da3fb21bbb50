#include "trace/merge/merge.h"

#include "trace/merge/merge_state.h"
#include "trace/bin_positions.h"
#include "trace/write/trace_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- events ----------------------------------------------------------------------------------- */

unsigned merge_time_shift(const struct trace *trace, uint32_t kind, enum bin_use use)
{
	struct bin_positions positions;
	unsigned shift = CODE_MAX_TIME_SHIFT;

	if (!bin_positions_find(&positions, trace, use, kind) && positions.nr)
		shift = positions.positions[0].bin->time_shift;
	bin_positions_fini(&positions);
	return shift;
}

static struct merged_event *find_event(struct merge *merge, uint32_t name, uint32_t unit)
{
	for (uint32_t i = 0; i < merge->nr_events; i++)
		if (merge->events[i].name == name && merge->events[i].unit == unit)
			return &merge->events[i];
	return NULL;
}

static void widen_event(struct merged_event *to, const struct merge_input *input, uint32_t number,
                        const struct trace_event *event)
{
	unsigned time_shift = merge_time_shift(input->trace, number, BIN_SAMPLES);

	to->taken += event->taken;
	to->exact += event->exact;
	to->inexact = to->inexact || !event->exact;
	if (event->initial_shift < to->initial_shift)
		to->initial_shift = event->initial_shift;
	if (event->stored && trace_shift(event) > to->floor)
		to->floor = trace_shift(event);
	if (time_shift < to->time_shift)
		to->time_shift = time_shift;
}

static int add_events(struct merge *merge, struct merge_input *input)
{
	const struct trace_event *event;

	input->kinds = calloc(trace_nr(input->trace, TRACE_EVENTS) + 1UL, sizeof(*input->kinds));
	if (!input->kinds)
		return -ENOMEM;
	for (uint32_t i = 0; (event = trace_event(input->trace, i)); i++) {
		uint32_t name = merge_string(&merge->map, input, event->name);
		struct merged_event *to = find_event(merge, name, event->unit);

		if (!to && merge->nr_events == TABLES_MAX_EVENTS - 1)
			return merge_complain(merge, -E2BIG,
			                      "more than %d different events; merge fewer traces",
			                      TABLES_MAX_EVENTS - 1);
		if (!to) {
			to = &merge->events[merge->nr_events++];
			*to = (struct merged_event){.name = name,
			                            .unit = event->unit,
			                            .base_period = event->base_period,
			                            .initial_shift = event->initial_shift,
			                            .time_shift = CODE_MAX_TIME_SHIFT};
		}
		merge->result->uneven |= event->base_period != to->base_period;
		widen_event(to, input, i, event);
		input->kinds[i] = (uint8_t)(to - merge->events);
	}
	return 0;
}

/* All kinds of calls become one kind. */
static void add_calls(struct merge *merge)
{
	struct merged_event *to = &merge->events[merge->nr_events];
	const struct trace_event *kind;
	unsigned shift;

	*to = (struct merged_event){
		.unit = TRACE_CALLS, .floor = NR_LEVELS, .time_shift = CODE_MAX_TIME_SHIFT};
	merge->calls = MERGE_NONE;
	for (uint32_t i = 0; i < merge->nr; i++) {
		struct merge_input *input = &merge->inputs[i];

		for (uint32_t k = 0; (kind = trace_kind(input->trace, k)); k++) {
			if (kind->unit != TRACE_CALLS)
				continue;
			merge->calls = merge->nr_events;
			to->name =
				to->name ? to->name : merge_string(&merge->map, input, kind->name);
			to->taken += kind->taken;
			if (kind->floor < to->floor)
				to->floor = kind->floor;
			shift = merge_time_shift(input->trace, k, BIN_CALLS);
			to->time_shift = shift < to->time_shift ? shift : to->time_shift;
		}
	}
	merge->nr_events += merge->calls != MERGE_NONE;
}

static int write_events(struct merge *merge)
{
	for (uint32_t i = 0; i < merge->nr_events; i++) {
		const struct merged_event *from = &merge->events[i];
		struct trace_event *event = tables_add_event(merge->tables);

		if (!event)
			return -ENOMEM;
		*event = (struct trace_event){
			.name = from->name,
			.unit = from->unit,
			.base_period = from->base_period,
			.initial_shift = from->initial_shift,
			.exact = from->inexact ? 0 : from->exact,
		};
	}
	return 0;
}

/* --- the run ---------------------------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Ranks of one grid are in step with each other. */
static void add_steps(struct trace_run *to, const struct trace_run *from)
{
	to->grid = to->grid == from->grid ? to->grid : 0;
	to->median_off = larger(to->median_off, from->median_off);
	to->p90_off = larger(to->p90_off, from->p90_off);
	to->one_cpu_cost = larger(to->one_cpu_cost, from->one_cpu_cost);
	to->coupled_cost = larger(to->coupled_cost, from->coupled_cost);
}

static void add_counts(struct trace_run *to, const struct trace_run *from)
{
	to->recorder_cpu += from->recorder_cpu;
	to->late += from->late;
	to->malformed += from->malformed;
	to->lost_records += from->lost_records;
	to->truncated_stacks += from->truncated_stacks;
	to->stitched_stacks += from->stitched_stacks;
	to->folded_contexts += from->folded_contexts;
	to->refused_modules += from->refused_modules;
	to->unanswered_files += from->unanswered_files;
	to->refused_strings += from->refused_strings;
	to->refused_mappings += from->refused_mappings;
	to->dropped_actions += from->dropped_actions;
	to->built_stacks += from->built_stacks;
	for (unsigned i = 0; i < TRACE_STACK_CUTS; i++)
		to->cut_stacks[i] += from->cut_stacks[i];
	to->max_stack = to->max_stack > from->max_stack ? to->max_stack : from->max_stack;
	to->restarts += from->restarts;
	to->unsteered_cpus += from->unsteered_cpus;
	to->calls_cost += from->calls_cost;
	to->folded_threads += from->folded_threads;
	to->unobserved += from->unobserved;
	if (from->delay > to->delay)
		to->delay = from->delay;
	if (from->drain_latency > to->drain_latency)
		to->drain_latency = from->drain_latency;
	if (from->peak_rss > to->peak_rss)
		to->peak_rss = from->peak_rss;
	if (from->sample_price > to->sample_price)
		to->sample_price = from->sample_price;
	if (from->max_overhead > to->max_overhead)
		to->max_overhead = from->max_overhead;
	add_steps(to, from);
}

static void add_run(struct merge *merge, const struct merge_input *input)
{
	const struct trace_run *from = trace_run(input->trace);
	struct trace_run *to = tables_run(merge->tables);
	uint64_t start = merge_time(merge, input, from->start);
	uint64_t end = merge_time(merge, input, from->end);
	uint32_t killed;

	if (!to->start || start < to->start) {
		to->real_start += start - to->start;
		to->start = start;
	}
	if (end > to->end)
		to->end = end;
	killed = (from->exit_status > to->exit_status ? from : to)->flags & TRACE_RUN_KILLED;
	if (from->exit_status > to->exit_status)
		to->exit_status = from->exit_status;
	to->flags |= from->flags;
	to->flags = (to->flags & ~(uint32_t)TRACE_RUN_KILLED) | killed;
	add_counts(to, from);
}

/* Says of the job what the first rank's trace says of its run. */
static void write_run(struct merge *merge)
{
	const struct merge_input *first = &merge->inputs[0];
	const struct trace_run *from = trace_run(first->trace);
	struct trace_run *run = tables_run(merge->tables);
	bool cgroup = true;

	run->stacks = from->stacks;
	run->command = merge_string(&merge->map, first, from->command);
	run->host = merge_string(&merge->map, first, from->host);
	run->kernel = merge_string(&merge->map, first, from->kernel);
	run->cpu_model = merge_string(&merge->map, first, from->cpu_model);
	run->directory = merge_string(&merge->map, first, from->directory);
	run->version = tables_string(merge->tables, ADAPTRACE_VERSION);
	run->pid = from->pid;
	run->exit_status = -1;
	run->seed = from->seed;
	run->grid = from->grid;
	run->real_start = from->real_start;
	run->start = merge_time(merge, first, from->start);
	for (uint32_t i = 0; i < merge->nr; i++) {
		cgroup = cgroup && trace_run(merge->inputs[i].trace)->flags & TRACE_RUN_CGROUP;
		add_run(merge, &merge->inputs[i]);
	}
	if (!cgroup) /* one way of counting, the more doubtful one */
		run->flags &= ~(uint32_t)TRACE_RUN_CGROUP;
	run->nr_cpus = merge_map_cpus(&merge->map);
}

/*
 * Calls are complete while they are so in all traces, unless there was no room for them here. The
 * shares were of the recorders' buffers; of this one they may have all.
 */
static void write_instrument(struct merge *merge)
{
	struct trace_instrument to = {
		.event = merge->calls, .to = UINT64_MAX, .lost = merge->lost_calls};
	const struct trace_instrument *from;
	bool any = false;

	if (merge->calls == MERGE_NONE)
		return;
	for (uint32_t i = 0; i < merge->nr; i++) {
		const struct merge_input *input = &merge->inputs[i];

		for (uint32_t n = 0; (from = trace_instrument(input->trace, n)); n++) {
			uint64_t start = merge_time(merge, input, from->from);
			uint64_t end = merge_time(merge, input, from->to);

			to.policy = from->policy;
			to.lost += from->lost;
			to.untimed += from->untimed;
			to.from = start > to.from ? start : to.from;
			to.to = end < to.to ? end : to.to;
			any = true;
		}
	}
	if (!any || to.to < to.from || merge->lost_calls ||
	    hmb_floor(merge->hmb, merge->calls) > merge->events[merge->calls].floor)
		to.to = to.from;
	tables_add_instrument(merge->tables, &to);
}

/* --- the whole -------------------------------------------------------------------------------- */

static int write_trace(struct merge *merge, const char *path)
{
	const struct name_provider names = {merge_names, &merge->map, NULL, merge_files};
	struct trace_run *run = tables_run(merge->tables);
	struct hmb_ledger *ledger = tables_ledger(merge->tables);

	/*
	 * The trace reports the samples that the kernel delivered, not those that were put into
	 * this buffer.
	 */
	for (uint32_t i = 0; i < merge->nr_events; i++) {
		ledger->taken[i] = merge->events[i].taken;
		ledger->reduced[i] = ledger->taken[i] - hmb_stored(merge->hmb, i);
	}
	for (uint32_t k = merge->nr_events; k < ledger->nr_kinds; k++) {
		ledger->taken[k] = merge->taken[k];
		ledger->reduced[k] = ledger->taken[k] - hmb_stored(merge->hmb, k);
	}
	run->folded_contexts += merge->hmb->truncated;
	run->used = hmb_used(merge->hmb);
	run->contexts = hmb_context_bytes(merge->hmb);
	run->records = hmb_record_bytes(merge->hmb);
	return trace_write_named(path, merge->tables, &names, &merge->result->bytes);
}

static size_t budget_for(const struct merge *merge)
{
	size_t sum = 1 << 20;

	if (merge->config->budget)
		return merge->config->budget;
	for (uint32_t i = 0; i < merge->nr; i++) {
		const struct section *bins = &merge->inputs[i].trace->sections[TRACE_BINS];

		sum += 2 * (size_t)bins->nr * bins->entry_size;
	}
	return sum < MERGE_MAX_DEFAULT ? sum & ~(size_t)4095 : MERGE_MAX_DEFAULT;
}

/* A trace that was merged has processes of several hosts, whose clocks agree with an error. */
static int tell_hosts(struct merge *merge)
{
	const struct trace_process *process;
	struct map64 hosts = {0}; /* by name */
	int err = 0;

	for (uint32_t i = 0; (process = tables_process(merge->tables, i)) && !err; i++) {
		if (map64_number(&hosts, process->host) == UINT32_MAX)
			err = -ENOMEM;
		if (process->offset_error > merge->result->clock_error)
			merge->result->clock_error = process->offset_error;
	}
	merge->result->nr_hosts = hosts.nr > merge->clocks.nr ? hosts.nr : merge->clocks.nr;
	map64_fini(&hosts);
	return err;
}

static int map_inputs(struct merge *merge)
{
	int err = merge_map_init(&merge->map, merge->tables, &merge->clocks, merge->inputs,
	                         merge->nr);

	for (uint32_t i = 0; i < merge->nr && !err; i++) {
		err = add_events(merge, &merge->inputs[i]);
		if (!err)
			err = merge_map_input(&merge->map, &merge->inputs[i]);
		if (err == -E2BIG && !*merge->why)
			merge_complain(merge, err, "more than %d processes; merge fewer traces",
			               TABLES_MAX_PROCESSES);
	}
	if (!err)
		err = tell_hosts(merge);
	if (!err)
		err = merge_counters_init(&merge->counters, &merge->map);
	if (!err)
		add_calls(merge);
	return err ? err : write_events(merge);
}

static int merge_all(struct merge *merge, const char *path)
{
	int err = merge_open(merge);

	if (err)
		return err;
	merge->tables = tables_new(budget_for(merge), NULL);
	if (!merge->tables)
		return -errno;
	err = map_inputs(merge);
	if (err)
		return err;
	write_run(merge);
	merge->result->uncounted = merge->counters.left_out;
	err = merge_put_records(merge);
	if (!err)
		err = merge_put_actions(merge);
	if (err)
		return err;
	write_instrument(merge);
	return write_trace(merge, path);
}

int merge_write(const char *path, const struct merge_config *config, struct merge_result *result,
                char why[MERGE_WHY_SIZE])
{
	struct merge merge = {.config = config, .result = result, .why = why};
	int err;

	*why = '\0';
	*result = (struct merge_result){0};
	err = merge_all(&merge, path);
	hmb_free(merge.hmb);
	merge_counters_fini(&merge.counters);
	merge_map_fini(&merge.map);
	for (uint32_t i = 0; i < merge.nr; i++)
		merge_input_fini(&merge.inputs[i]);
	tables_free(merge.tables);
	clocks_fini(&merge.clocks);
	free(merge.inputs);
	free(merge.path);
	if (err && !*why)
		snprintf(why, MERGE_WHY_SIZE, "cannot write '%s': %s", path,
		         err == -EBADMSG ? "the records of a trace make no sense"
		                         : new_file_error(err));
	return err;
}
