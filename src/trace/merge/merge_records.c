#include "trace/merge/merge_state.h"
#include "base/time_heap.h"
#include "base/array.h"
#include "base/access_class.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_PATH 4096 /* callers of a sample; inner ones stay */

/* --- the buffer ------------------------------------------------------------------------------- */

static int make_buffer(struct merge *merge)
{
	struct hmb_config config = {
		.memory = tables_arena(merge->tables),
		.size = tables_budget(merge->tables),
		.reserve = tables_reserve_arena,
		.reserve_arg = merge->tables,
		.ledger = tables_ledger(merge->tables),
		.nr_kinds = merge->nr_events,
		.max_path = MAX_PATH,
		.truncated_frame = frame_make(0, FRAME_TRUNCATED),
	};

	for (uint32_t i = 0; i < merge->nr_events; i++)
		config.kinds[i] = (struct hmb_kind_config){
			.content = i == merge->calls ? HMB_CALLS : HMB_SAMPLES,
			.time_shift = merge->events[i].time_shift,
			.stream_owner = merge->counters.owner,
		};
	config.kinds[0].nr_counters = merge->counters.nr;
	merge->path = calloc(MAX_PATH + 2, sizeof(*merge->path));
	merge->hmb = hmb_new(&config);
	return merge->hmb && merge->path ? 0 : -ENOMEM;
}

/* The time at which the first trace closed a level, and the cause. */
struct closing {
	uint64_t time;
	uint32_t event, floor, cause;
};

static int compare_closings(const void *a, const void *b)
{
	const struct closing *x = a, *y = b;

	return ORDER(x->time, y->time) ?: ORDER(x->event, y->event) ?: ORDER(x->floor, y->floor);
}

static void note_closing(const struct merge *merge, const struct merge_input *input,
                         const struct trace_reduction *reduction, struct closing *closings)
{
	struct closing *closing;
	uint64_t time = merge_time(merge, input, reduction->time);
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
	struct closing *closings = calloc(room + 1, sizeof(*closings));
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
	ARRAY_SORT(closings, nr, compare_closings);
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
	struct time_heap heap;
};

static void sample_merge_fini(struct sample_merge *all, uint32_t nr)
{
	for (uint32_t i = 0; all->walks && i < nr; i++)
		trace_walk_free(all->walks[i]);
	free(all->walks);
	free(all->samples);
	free(all->heap.entries);
}

static int sample_merge_init(struct sample_merge *all, const struct merge *merge,
                             const struct merge_part *part)
{
	*all = (struct sample_merge){
		.walks = calloc(merge->nr + 1UL, sizeof(struct trace_walk *)),
		.samples = calloc(merge->nr + 1UL, sizeof(*all->samples)),
		.heap.entries = calloc(merge->nr + 1UL, sizeof(*all->heap.entries)),
	};
	if (!all->walks || !all->samples || !all->heap.entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < merge->nr; i++) {
		const struct merge_input *input = &merge->inputs[i];
		int got;

		if (part && !part->inputs[i])
			continue;
		all->walks[i] =
			trace_walk_new(input->trace, part ? part->events[i] : TRACE_ALL_EVENTS);
		if (!all->walks[i])
			return -errno;
		got = trace_walk_next(all->walks[i], &all->samples[i]);
		if (got < 0)
			return got;
		if (got)
			all->heap.entries[all->heap.nr++] = (struct heap_entry){
				merge_time(merge, input, all->samples[i].time), i};
	}
	time_heap_start(&all->heap);
	return 0;
}

/* Collects the callers of a sample, innermost first. */
static unsigned fill_path(struct merge *merge, const struct merge_input *input,
                          const struct trace_sample *sample)
{
	uint32_t node = sample->context;
	unsigned nr = 0;
	uint64_t frame;

	if (trace_run(input->trace)->flags & TRACE_RUN_DATA)
		merge->path[nr++] = frame_of_access(sample->memory);
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

/* Returns the time between samples of a level, or 0 if it is unknown. */
static uint64_t step_of(const struct trace_event *event, const struct trace_sample *sample)
{
	uint32_t shift = trace_shift(event);
	uint64_t period = shift < NR_LEVELS ? sample->weight >> shift : 0;

	if (event->unit != TRACE_NS || sample->level >= 24 || period >= (uint64_t)1 << 38)
		return 0;
	return period << (sample->level + 1);
}

/* Counts a sample that is left out: of too low a level, or of before a history that is joined. */
static bool is_left_out(struct merge *merge, const struct merge_part *part, uint32_t kind,
                        const struct trace_sample *sample, uint64_t time)
{
	const unsigned floor = part ? part->floor : merge->events[kind].floor;
	const bool thinned = sample->level < floor, older = part && time < part->from;

	merge->result->thinned += thinned;
	merge->result->older += older && !thinned;
	return thinned || older;
}

static int put_sample(struct merge *merge, struct merge_input *input,
                      const struct trace_sample *sample, uint64_t time,
                      const struct merge_part *part)
{
	uint32_t kind = part ? part->kind : input->kinds[sample->event], cpu = sample->cpu;
	uint32_t thread = MERGE_NONE;
	const struct trace_event *event = trace_event(input->trace, sample->event);
	struct hmb_sample put = {
		.kind = kind,
		.level = sample->level,
		.time = time,
		.leaf = merge_frame(input, sample->leaf),
		.path = merge->path,
	};
	int err;

	if (sample->thread < input->nr_threads)
		thread = input->threads[sample->thread];
	put.thread = thread;
	put.cpu = input->cpus.first + (cpu < input->cpus.nr ? cpu : input->cpus.nr - 1);
	if (!kind)
		put.counters = merge_counters_step(&merge->counters, sample, thread, put.cpu);
	if (is_left_out(merge, part, kind, sample, time))
		return 0;
	err = merge_note_frames(&merge->map, input, sample);
	if (err)
		return err;
	put.step = step_of(event, sample);
	put.path_size = fill_path(merge, input, sample);
	hmb_put(merge->hmb, &put);
	return 0;
}

int merge_put_samples(struct merge *merge, const struct merge_part *part)
{
	struct sample_merge all;
	int err = sample_merge_init(&all, merge, part);

	while (!err && all.heap.nr) {
		uint32_t i = all.heap.entries[0].number;
		struct merge_input *input = &merge->inputs[i];
		int got;

		err = put_sample(merge, input, &all.samples[i], all.heap.entries[0].time, part);
		if (err)
			break;
		got = trace_walk_next(all.walks[i], &all.samples[i]);
		time_heap_next(&all.heap, got == 1, merge_time(merge, input, all.samples[i].time));
		err = got < 0 ? got : 0;
	}
	sample_merge_fini(&all, merge->nr);
	return err;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* A buffer for the parts of one call. */
struct parts {
	struct call_part *parts;
	uint32_t room;
};

/* A kind of calls, and the time that those end at which come into it at the earliest. */
struct call_part_of {
	unsigned kind;
	uint64_t from;
};

static int put_call(struct merge *merge, struct merge_input *input, const struct trace_call *from,
                    struct parts *parts, const struct call_part_of *to)
{
	struct call call = from->call;

	if (call.thread >= input->nr_threads || input->threads[call.thread] == MERGE_NONE ||
	    call.region >= input->nr_regions || input->regions[call.region] == MERGE_NONE) {
		merge->lost_calls += to->kind == merge->calls;
		merge->taken[to->kind]++;
		return 0;
	}
	if (ARRAY_RESERVE(parts->parts, parts->room, call.nr_parts))
		return -ENOMEM;
	for (uint32_t i = 0; i < call.nr_parts; i++) {
		struct call_part *part = &parts->parts[i];

		*part = call.parts[i];
		if (part->comm < input->nr_comms)
			part->comm = input->comms[part->comm];
	}
	call.parts = parts->parts;
	call.thread = input->threads[call.thread];
	call.region = input->regions[call.region];
	call.site = call.site < input->nr_sites ? input->sites[call.site] : 0;
	call.enter = merge_time(merge, input, call.enter);
	call.leave = merge_time(merge, input, call.leave);
	if (call.leave >= to->from)
		hmb_put_call(merge->hmb, to->kind, from->level, &call);
	return 0;
}

int merge_put_calls(struct merge *merge, struct merge_input *input, unsigned kind, uint64_t from)
{
	const struct call_part_of to = {kind, from};
	struct call_walk *walk = call_walk_new(input->trace);
	struct parts parts = {0};
	struct trace_call call;
	int got = 0, err = walk ? 0 : -errno;

	while (!err && (got = call_walk_next(walk, &call)) == 1)
		err = put_call(merge, input, &call, &parts, &to);
	call_walk_free(walk);
	free(parts.parts);
	return err ? err : got;
}

/* Merges one trace after the other: readers rely on the order of each thread's calls only. */
static int put_calls(struct merge *merge)
{
	int err = 0;

	for (uint32_t i = 0; i < merge->nr && !err && merge->calls != MERGE_NONE; i++)
		err = merge_put_calls(merge, &merge->inputs[i], merge->calls, 0);
	return err;
}

/* --- all of them ------------------------------------------------------------------------------ */

int merge_put_records(struct merge *merge)
{
	int err = make_buffer(merge);

	if (!err)
		err = close_levels(merge);
	if (!err)
		err = merge_put_samples(merge, NULL);
	if (!err)
		err = merge_put_windows(merge);
	return err ? err : put_calls(merge);
}
