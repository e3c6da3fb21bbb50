#include "output/merge.h"

#include "output/merge_map.h"
#include "output/merge_match.h"
#include "output/trace_places.h"
#include "output/trace_write.h"
#include "output/turns.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/module.h"

#define MAX_PATH 4096 /* callers of a sample; inner ones stay */
#define MAX_RANK (1 << 24)

struct merged_event {
	uint32_t name, unit; /* string of the new trace */
	uint64_t base_period, taken, exact;
	uint32_t initial_shift, floor;
	unsigned time_shift;
	bool inexact; /* the exact total of an input is not known */
};

struct merge {
	const struct merge_config *config;
	struct merge_result *result;
	char *why;
	struct merge_input *inputs;
	uint32_t nr;
	struct clocks clocks;
	struct tables *tables;
	struct merge_map map;
	struct merged_event events[TABLES_MAX_EVENTS]; /* the kind of calls is the last one */
	uint32_t nr_events, calls;                     /* calls: MERGE_NONE if there are none */
	struct hmb *hmb;
	uint64_t *path; /* of a sample */
};

__attribute__((format(printf, 3, 4))) static int complain(struct merge *merge, int err,
                                                          const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(merge->why, MERGE_WHY_SIZE, format, args);
	va_end(args);
	return err;
}

/* --- who is who ------------------------------------------------------------------------------- */

/* The number before the suffix, as in adaptrace.12.atr; -1: there is none. */
static int32_t rank_of_name(const char *path)
{
	const char *end = path + strlen(path), *start;

	if (end - path > 4 && !strcmp(end - 4, ".atr"))
		end -= 4;
	for (start = end; start > path && isdigit((unsigned char)start[-1]);)
		start--;
	if (start == end || end - start > 7)
		return -1;
	return atoi(start) < MAX_RANK ? atoi(start) : -1;
}

static int32_t lowest_rank(const struct trace *trace)
{
	const struct trace_process *process;
	int32_t rank = -1;

	for (uint32_t i = 0; (process = trace_process(trace, i)); i++)
		if (process->rank >= 0 && (rank < 0 || process->rank < rank))
			rank = process->rank;
	return rank;
}

static int compare_inputs(const void *a, const void *b)
{
	const struct merge_input *x = a, *y = b;

	if (x->rank != y->rank)
		return (uint32_t)x->rank < (uint32_t)y->rank ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int open_inputs(struct merge *merge)
{
	char why[TRACE_WHY_SIZE];

	merge->inputs = calloc(merge->config->nr + 1, sizeof(*merge->inputs));
	if (!merge->inputs)
		return -ENOMEM;
	for (size_t i = 0; i < merge->config->nr; i++) {
		struct merge_input *input = &merge->inputs[merge->nr];

		input->path = merge->config->paths[i];
		input->trace = trace_open(input->path, why);
		if (!input->trace)
			return complain(merge, -EBADMSG, "%s", why);
		merge->nr++;
		input->rank = lowest_rank(input->trace);
		if (input->rank < 0)
			input->rank = rank_of_name(input->path);
	}
	qsort(merge->inputs, merge->nr, sizeof(*merge->inputs), compare_inputs);
	return 0;
}

/* A rank is in one trace only. */
static int check_ranks(struct merge *merge)
{
	struct map64 ranks = {0};
	const struct trace_process *process;
	int err = 0;

	for (uint32_t i = 0; i < merge->nr && !err; i++) {
		const struct merge_input *input = &merge->inputs[i];
		bool told = trace_process(input->trace, 0);

		for (uint32_t p = 0;
		     !err && ((process = trace_process(input->trace, p)) || (!told && !p)); p++) {
			int32_t rank = told ? process->rank : input->rank;
			uint32_t other;

			if (rank < 0)
				continue;
			other = map64_get(&ranks, (uint32_t)rank);
			if (other == UINT32_MAX)
				err = map64_add(&ranks, (uint32_t)rank, i);
			else if (other != i)
				err = complain(
					merge, -EEXIST,
					"both '%s' and '%s' have rank %d; leave one of them out",
					merge->inputs[other].path, input->path, rank);
			merge->result->nr_ranks += other == UINT32_MAX;
		}
	}
	map64_fini(&ranks);
	return err;
}

static int find_hosts(struct merge *merge)
{
	for (uint32_t i = 0; i < merge->nr; i++) {
		struct merge_input *input = &merge->inputs[i];
		const struct trace_run *run = trace_run(input->trace);
		int host = clocks_host(&merge->clocks, trace_string(input->trace, run->host),
		                       run->start, run->real_start);

		if (host == -E2BIG)
			return complain(merge, host, "more than %d hosts; merge fewer traces",
			                CLOCK_MAX_HOSTS);
		if (host < 0)
			return host;
		input->host = (uint32_t)host;
	}
	for (uint32_t i = 0; i < merge->nr; i++)
		clocks_span(&merge->clocks, merge->inputs[i].host,
		            trace_run(merge->inputs[i].trace)->start,
		            trace_run(merge->inputs[i].trace)->end);
	merge->result->nr_hosts = merge->clocks.nr;
	return 0;
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* Calls of which some were dropped find the wrong partners. */
static bool calls_complete(const struct trace *trace)
{
	const struct trace_instrument *instrument;
	const struct trace_event *kind;

	for (uint32_t i = 0; (kind = trace_kind(trace, i)); i++)
		if (kind->unit == TRACE_CALLS && (kind->floor || kind->stored != kind->taken))
			return false;
	for (uint32_t i = 0; (instrument = trace_instrument(trace, i)); i++)
		if (instrument->lost)
			return false;
	return trace_has_calls(trace);
}

static uint32_t *hosts_of_ranks(const struct merge *merge, uint32_t *nr)
{
	const struct trace_process *process;
	uint32_t *hosts, limit = 0;

	for (uint32_t i = 0; i < merge->nr; i++)
		for (uint32_t p = 0; (process = trace_process(merge->inputs[i].trace, p)); p++)
			if (process->rank >= (int32_t)limit && process->rank < MAX_RANK)
				limit = (uint32_t)process->rank + 1;
	hosts = malloc((limit + 1UL) * sizeof(*hosts));
	if (!hosts)
		return NULL;
	memset(hosts, 0xff, (limit + 1UL) * sizeof(*hosts));
	for (uint32_t i = 0; i < merge->nr; i++)
		for (uint32_t p = 0; (process = trace_process(merge->inputs[i].trace, p)); p++)
			if (process->rank >= 0 && (uint32_t)process->rank < limit)
				hosts[process->rank] = merge->inputs[i].host;
	*nr = limit;
	return hosts;
}

/* Calls of all inputs by their guessed times. */
struct call_merge {
	struct call_walk **walks;
	struct trace_call *calls;
	struct turns turns;
};

static void call_merge_fini(struct call_merge *all, uint32_t nr)
{
	for (uint32_t i = 0; all->walks && i < nr; i++)
		call_walk_free(all->walks[i]);
	free(all->walks);
	free(all->calls);
	free(all->turns.heap);
}

static uint64_t guessed(const struct merge *merge, uint32_t input, uint64_t time)
{
	return clocks_guess(&merge->clocks, merge->inputs[input].host, time);
}

static int call_merge_init(struct call_merge *all, const struct merge *merge)
{
	*all = (struct call_merge){
		.walks = calloc(merge->nr + 1UL, sizeof(struct call_walk *)),
		.calls = calloc(merge->nr + 1UL, sizeof(*all->calls)),
		.turns.heap = calloc(merge->nr + 1UL, sizeof(*all->turns.heap)),
	};
	if (!all->walks || !all->calls || !all->turns.heap)
		return -ENOMEM;
	for (uint32_t i = 0; i < merge->nr; i++) {
		int got;

		all->walks[i] = call_walk_new(merge->inputs[i].trace);
		if (!all->walks[i])
			return -errno;
		got = call_walk_next(all->walks[i], &all->calls[i]);
		if (got < 0)
			return got;
		if (got)
			all->turns.heap[all->turns.nr++] =
				(struct turn){guessed(merge, i, all->calls[i].call.leave), i};
	}
	turns_start(&all->turns);
	return 0;
}

static int32_t rank_of_thread(const struct merge_input *input, uint32_t thread)
{
	const struct trace_process *process =
		trace_process(input->trace, trace_owner(input->trace, thread));

	return process ? process->rank : -1;
}

static int match_next(struct merge *merge, struct call_merge *all, struct matcher *matcher)
{
	uint32_t i = all->turns.heap[0].number;
	struct call call = all->calls[i].call;
	int got;

	call.enter = guessed(merge, i, call.enter);
	call.leave = guessed(merge, i, call.leave);
	got = matcher_call(matcher, merge->inputs[i].trace,
	                   rank_of_thread(&merge->inputs[i], call.thread), &call);
	if (got)
		return got;
	got = call_walk_next(all->walks[i], &all->calls[i]);
	turns_next(&all->turns, got == 1, guessed(merge, i, all->calls[i].call.leave));
	return got < 0 ? got : 0;
}

static int match_calls(struct merge *merge)
{
	uint32_t nr_ranks = 0, *hosts = hosts_of_ranks(merge, &nr_ranks);
	struct matcher *matcher = hosts ? matcher_new(&merge->clocks, hosts, nr_ranks) : NULL;
	struct call_merge all;
	int err = call_merge_init(&all, merge);

	if (!matcher)
		err = -ENOMEM;
	while (!err && all.turns.nr)
		err = match_next(merge, &all, matcher);
	call_merge_fini(&all, merge->nr);
	matcher_free(matcher);
	free(hosts);
	return err;
}

static int set_clocks(struct merge *merge)
{
	bool complete = true;
	int err = 0;

	for (uint32_t i = 0; i < merge->nr; i++)
		complete = complete && calls_complete(merge->inputs[i].trace);
	if (merge->clocks.nr > 1 && complete)
		err = match_calls(merge);
	if (!err)
		err = clocks_solve(&merge->clocks);
	for (uint32_t i = 0; i < merge->clocks.nr && !err; i++)
		if (merge->clocks.hosts[i].error > merge->result->clock_error)
			merge->result->clock_error = merge->clocks.hosts[i].error;
	return err;
}

static uint64_t corrected(const struct merge *merge, const struct merge_input *input, uint64_t time)
{
	return clocks_time(&merge->clocks, input->host, time);
}

/* --- events ----------------------------------------------------------------------------------- */

/* In which units the times of a kind are stored. */
static unsigned time_shift_of(const struct trace *trace, uint32_t kind, enum bin_use use)
{
	struct places places;
	unsigned shift = CODE_MAX_TIME_SHIFT;

	if (!places_find(&places, trace, use, kind) && places.nr)
		shift = places.places[0].bin->time_shift;
	places_fini(&places);
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
	unsigned time_shift = time_shift_of(input->trace, number, BIN_SAMPLES);

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
	uint32_t nr = 0;

	while (trace_kind(input->trace, nr))
		nr++;
	input->kinds = calloc(nr + 1UL, sizeof(*input->kinds));
	if (!input->kinds)
		return -ENOMEM;
	for (uint32_t i = 0; (event = trace_event(input->trace, i)); i++) {
		uint32_t name = merge_string(&merge->map, input, event->name);
		struct merged_event *to = find_event(merge, name, event->unit);

		if (!to && merge->nr_events == TABLES_MAX_EVENTS - 1)
			return complain(merge, -E2BIG,
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
		widen_event(to, input, i, event);
		input->kinds[i] = (uint8_t)(to - merge->events);
	}
	return 0;
}

/* All kinds of calls are one. */
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
			shift = time_shift_of(input->trace, k, BIN_CALLS);
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
	to->refused_strings += from->refused_strings;
	to->folded_threads += from->folded_threads;
	to->unobserved += from->unobserved;
	if (from->drain_latency > to->drain_latency)
		to->drain_latency = from->drain_latency;
	if (from->peak_rss > to->peak_rss)
		to->peak_rss = from->peak_rss;
	if (from->sample_price > to->sample_price)
		to->sample_price = from->sample_price;
	if (from->max_overhead > to->max_overhead)
		to->max_overhead = from->max_overhead;
}

static void add_run(struct merge *merge, const struct merge_input *input)
{
	const struct trace_run *from = trace_run(input->trace);
	struct trace_run *to = tables_run(merge->tables);
	uint64_t start = corrected(merge, input, from->start);
	uint64_t end = corrected(merge, input, from->end);

	if (!to->start || start < to->start) {
		to->real_start += start - to->start;
		to->start = start;
	}
	if (end > to->end)
		to->end = end;
	if (from->exit_status > to->exit_status)
		to->exit_status = from->exit_status;
	to->flags |= from->flags;
	if (!(from->flags & TRACE_RUN_CGROUP)) /* one way of counting, the more doubtful one */
		to->flags &= ~(uint32_t)TRACE_RUN_CGROUP;
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
	run->real_start = from->real_start;
	run->start = corrected(merge, first, from->start);
	for (uint32_t i = 0; i < merge->nr; i++) {
		cgroup = cgroup && trace_run(merge->inputs[i].trace)->flags & TRACE_RUN_CGROUP;
		add_run(merge, &merge->inputs[i]);
	}
	run->flags = (run->flags & ~(uint32_t)TRACE_RUN_CGROUP) | (cgroup ? TRACE_RUN_CGROUP : 0);
	run->nr_cpus = merge->map.nr_cpus;
}

/* Calls are complete while they are so in all traces. */
static void write_instrument(struct merge *merge)
{
	struct trace_instrument to = {.event = merge->calls, .to = UINT64_MAX};
	const struct trace_instrument *from;
	bool any = false;

	if (merge->calls == MERGE_NONE)
		return;
	for (uint32_t i = 0; i < merge->nr; i++) {
		const struct merge_input *input = &merge->inputs[i];

		for (uint32_t n = 0; (from = trace_instrument(input->trace, n)); n++) {
			uint64_t start = corrected(merge, input, from->from);
			uint64_t end = corrected(merge, input, from->to);

			to.policy = from->policy;
			to.share += from->share;
			to.lost += from->lost;
			to.from = start > to.from ? start : to.from;
			to.to = end < to.to ? end : to.to;
			any = true;
		}
	}
	if (!any || to.to < to.from)
		to.to = to.from;
	tables_add_instrument(merge->tables, &to);
}

/* --- the buffer ------------------------------------------------------------------------------- */

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

static int make_buffer(struct merge *merge)
{
	struct hmb_config config = {
		.memory = tables_arena(merge->tables),
		.size = tables_budget(merge->tables),
		.ledger = tables_ledger(merge->tables),
		.nr_kinds = merge->nr_events,
		.max_path = MAX_PATH,
		.truncated_frame = frame_make(0, FRAME_TRUNCATED),
	};

	for (uint32_t i = 0; i < merge->nr_events; i++)
		config.kinds[i] = (struct hmb_kind_config){
			.shape = i == merge->calls ? HMB_CALLS : HMB_SAMPLES,
			.time_shift = merge->events[i].time_shift,
		};
	merge->path = calloc(MAX_PATH + 2, sizeof(*merge->path));
	merge->hmb = hmb_new(&config);
	return merge->hmb && merge->path ? 0 : -ENOMEM;
}

/* When the first trace closed a level, and why. */
struct closing {
	uint64_t time;
	uint32_t event, floor, cause;
};

static int compare_closings(const void *a, const void *b)
{
	const struct closing *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->event != y->event ? (x->event < y->event ? -1 : 1)
	                            : (x->floor > y->floor) - (x->floor < y->floor);
}

static void note_closing(const struct merge *merge, const struct merge_input *input,
                         const struct trace_reduction *reduction, struct closing *closings)
{
	struct closing *closing;
	uint64_t time = corrected(merge, input, reduction->time);
	uint32_t event = merge->calls;

	if (trace_event(input->trace, reduction->event))
		event = input->kinds[reduction->event];
	else if (!trace_kind(input->trace, reduction->event))
		return;
	if (!reduction->floor || reduction->floor > merge->events[event].floor)
		return;
	closing = &closings[(size_t)event * NR_LEVELS + reduction->floor - 1];
	if (time < closing->time) {
		closing->time = time;
		closing->cause = reduction->cause;
	}
}

/* Closes what is closed in the end, in the order in which it was. */
static int close_levels(struct merge *merge)
{
	size_t nr = 0, room = (size_t)merge->nr_events * NR_LEVELS;
	struct closing *closings = calloc(room, sizeof(*closings));
	const struct trace_reduction *reduction;

	if (!closings)
		return -ENOMEM;
	for (size_t i = 0; i < room; i++)
		closings[i] =
			(struct closing){tables_run(merge->tables)->end, (uint32_t)(i / NR_LEVELS),
		                         (uint32_t)(i % NR_LEVELS) + 1, HMB_CAUSE_MEMORY};
	for (uint32_t i = 0; i < merge->nr; i++)
		for (uint32_t r = 0; (reduction = trace_reduction(merge->inputs[i].trace, r)); r++)
			note_closing(merge, &merge->inputs[i], reduction, closings);
	for (size_t i = 0; i < room; i++)
		if (closings[i].floor <= merge->events[closings[i].event].floor)
			closings[nr++] = closings[i];
	qsort(closings, nr, sizeof(*closings), compare_closings);
	for (size_t i = 0; i < nr; i++)
		hmb_close_lowest(merge->hmb, closings[i].event, closings[i].time,
		                 closings[i].cause);
	free(closings);
	return 0;
}

/* --- samples ---------------------------------------------------------------------------------- */

struct sample_merge {
	struct trace_walk **walks;
	struct trace_sample *samples;
	struct turns turns;
};

static void sample_merge_fini(struct sample_merge *all, uint32_t nr)
{
	for (uint32_t i = 0; all->walks && i < nr; i++)
		trace_walk_free(all->walks[i]);
	free(all->walks);
	free(all->samples);
	free(all->turns.heap);
}

static int sample_merge_init(struct sample_merge *all, const struct merge *merge)
{
	*all = (struct sample_merge){
		.walks = calloc(merge->nr + 1UL, sizeof(struct trace_walk *)),
		.samples = calloc(merge->nr + 1UL, sizeof(*all->samples)),
		.turns.heap = calloc(merge->nr + 1UL, sizeof(*all->turns.heap)),
	};
	if (!all->walks || !all->samples || !all->turns.heap)
		return -ENOMEM;
	for (uint32_t i = 0; i < merge->nr; i++) {
		const struct merge_input *input = &merge->inputs[i];
		int got;

		all->walks[i] = trace_walk_new(input->trace, TRACE_ALL_EVENTS);
		if (!all->walks[i])
			return -errno;
		got = trace_walk_next(all->walks[i], &all->samples[i]);
		if (got < 0)
			return got;
		if (got)
			all->turns.heap[all->turns.nr++] =
				(struct turn){corrected(merge, input, all->samples[i].time), i};
	}
	turns_start(&all->turns);
	return 0;
}

/* The callers, innermost first. */
static unsigned fill_path(struct merge *merge, const struct merge_input *input, uint32_t node)
{
	unsigned nr = 0;
	uint64_t frame;

	while (node) {
		if (nr == MAX_PATH || !trace_node(input->trace, node, &frame, &node)) {
			merge->path[nr < MAX_PATH ? nr++ : MAX_PATH - 1] =
				frame_make(0, FRAME_TRUNCATED);
			break;
		}
		merge->path[nr++] = merge_frame(input, frame);
	}
	return nr;
}

static int put_sample(struct merge *merge, struct merge_input *input,
                      const struct trace_sample *sample, uint64_t time)
{
	uint32_t kind = input->kinds[sample->event], cpu = sample->cpu;
	uint32_t thread = MERGE_NONE;
	const struct trace_event *event = trace_event(input->trace, sample->event);
	uint64_t period = sample->weight >> trace_shift(event);
	struct hmb_sample put = {
		.kind = kind,
		.level = sample->level,
		.time = time,
		.leaf = merge_frame(input, sample->leaf),
		.path = merge->path,
	};
	int err;

	if (sample->level < merge->events[kind].floor) {
		merge->result->thinned++;
		return 0;
	}
	err = merge_note_frames(&merge->map, input, sample);
	if (err)
		return err;
	if (sample->thread < input->nr_threads)
		thread = input->threads[sample->thread];
	put.thread = thread;
	put.cpu = input->cpus.first + (cpu < input->cpus.nr ? cpu : input->cpus.nr - 1);
	if (event->unit == TRACE_NS && sample->level < 24 && period < (uint64_t)1 << 38)
		put.step = period << (sample->level + 1);
	put.path_size = fill_path(merge, input, sample->context);
	hmb_put(merge->hmb, &put);
	return 0;
}

static int put_samples(struct merge *merge)
{
	struct sample_merge all;
	int err = sample_merge_init(&all, merge);

	while (!err && all.turns.nr) {
		uint32_t i = all.turns.heap[0].number;
		struct merge_input *input = &merge->inputs[i];
		int got;

		err = put_sample(merge, input, &all.samples[i], all.turns.heap[0].time);
		if (err)
			break;
		got = trace_walk_next(all.walks[i], &all.samples[i]);
		turns_next(&all.turns, got == 1, corrected(merge, input, all.samples[i].time));
		err = got < 0 ? got : 0;
	}
	sample_merge_fini(&all, merge->nr);
	return err;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Room for the parts of one call. */
struct parts {
	struct call_part *parts;
	uint32_t room;
};

static int put_call(struct merge *merge, struct merge_input *input, const struct trace_call *from,
                    struct parts *parts)
{
	struct call call = from->call;
	struct call_part *grown;

	if (call.thread >= input->nr_threads || input->threads[call.thread] == MERGE_NONE ||
	    call.region >= input->nr_regions || input->regions[call.region] == MERGE_NONE)
		return 0;
	if (call.nr_parts > parts->room) {
		grown = reallocarray(parts->parts, call.nr_parts, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		parts->parts = grown;
		parts->room = call.nr_parts;
	}
	for (uint32_t i = 0; i < call.nr_parts; i++) {
		struct call_part *part = &parts->parts[i];

		*part = call.parts[i];
		if (part->comm < input->nr_comms)
			part->comm = input->comms[part->comm];
	}
	call.parts = parts->parts;
	call.thread = input->threads[call.thread];
	call.region = input->regions[call.region];
	call.enter = corrected(merge, input, call.enter);
	call.leave = corrected(merge, input, call.leave);
	hmb_put_call(merge->hmb, merge->calls, from->level, &call);
	return 0;
}

/* One trace after the other: readers rely on the order of a thread's calls alone. */
static int put_calls(struct merge *merge)
{
	struct parts parts = {0};
	struct trace_call call;
	int err = 0;

	for (uint32_t i = 0; i < merge->nr && !err && merge->calls != MERGE_NONE; i++) {
		struct call_walk *walk = call_walk_new(merge->inputs[i].trace);
		int got = 0;

		if (!walk)
			err = -errno;
		while (!err && (got = call_walk_next(walk, &call)) == 1)
			err = put_call(merge, &merge->inputs[i], &call, &parts);
		if (!err && got < 0)
			err = got;
		call_walk_free(walk);
	}
	free(parts.parts);
	return err;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int write_trace(struct merge *merge, const char *path)
{
	const struct name_source names = {merge_names, &merge->map};
	struct trace_run *run = tables_run(merge->tables);

	/* What the kernel delivered, not what was put into this buffer. */
	for (uint32_t i = 0; i < merge->nr_events; i++)
		tables_ledger(merge->tables)->taken[i] = merge->events[i].taken;
	run->used = hmb_used(merge->hmb);
	run->contexts = hmb_context_bytes(merge->hmb);
	run->records = hmb_record_bytes(merge->hmb);
	return trace_write_named(path, merge->tables, &names, &merge->result->bytes);
}

static int map_inputs(struct merge *merge)
{
	int err = merge_map_init(&merge->map, merge->tables, &merge->clocks, merge->inputs,
	                         merge->nr);

	for (uint32_t i = 0; i < merge->nr && !err; i++) {
		err = add_events(merge, &merge->inputs[i]);
		if (!err)
			err = merge_map_input(&merge->map, &merge->inputs[i]);
	}
	if (!err)
		err = merge_map_finish(&merge->map);
	if (!err)
		add_calls(merge);
	return err ? err : write_events(merge);
}

static int merge_all(struct merge *merge, const char *path)
{
	int err = open_inputs(merge);

	if (!err)
		err = check_ranks(merge);
	if (!err)
		err = find_hosts(merge);
	if (!err)
		err = set_clocks(merge);
	if (err)
		return err;
	merge->tables = tables_new(budget_for(merge), NULL);
	if (!merge->tables)
		return -errno;
	err = map_inputs(merge);
	if (err)
		return err;
	write_run(merge);
	write_instrument(merge);
	err = make_buffer(merge);
	if (!err)
		err = close_levels(merge);
	if (!err)
		err = put_samples(merge);
	if (!err)
		err = put_calls(merge);
	return err ? err : write_trace(merge, path);
}

int merge_write(const char *path, const struct merge_config *config, struct merge_result *result,
                char why[MERGE_WHY_SIZE])
{
	struct merge *merge = calloc(1, sizeof(*merge));
	int err;

	*why = '\0';
	*result = (struct merge_result){0};
	if (!merge)
		return -ENOMEM;
	merge->config = config;
	merge->result = result;
	merge->why = why;
	err = merge_all(merge, path);
	hmb_free(merge->hmb);
	merge_map_fini(&merge->map);
	for (uint32_t i = 0; i < merge->nr; i++)
		merge_input_fini(&merge->inputs[i]);
	tables_free(merge->tables);
	clocks_fini(&merge->clocks);
	free(merge->inputs);
	free(merge->path);
	free(merge);
	if (err && !*why)
		snprintf(why, MERGE_WHY_SIZE, "cannot write '%s': %s", path,
		         err == -EBADMSG ? "the records of a trace make no sense" : strerror(-err));
	return err;
}
