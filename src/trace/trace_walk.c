#include "trace/trace_file.h"
#include "hmb/code.h"
#include "trace/bin_positions.h"
#include "trace/trace_calls.h"
#include "trace/walk_memory.h"
#include "base/time_heap.h"
#include "base/access_class.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RESUMED 4 /* bins in which a cursor is looked for */

/* A list: the samples of one kind and level. It stands at the next sample. */
struct list {
	const struct bin_position *at, *end; /* the bins that follow */
	struct code_sample sample;
	struct code_cursor *cursor;
	uint32_t event, level, first_pair;
	uint64_t latest; /* of its samples so far, ns */
	bool memory;     /* of which samples may have a class */
};

/* From the running totals that samples store to what was counted between two samples of a stream.
 */
struct counter_streams {
	uint64_t (*last)[COUNTER_MAX]; /* totals of the latest sample; NULL: no counters here */
	uint32_t nr;
};

struct trace_walk {
	const struct trace *trace;
	struct bin_positions positions;
	struct list *lists;
	struct time_heap heap; /* of the lists that have a sample */
	bool by_time;          /* else one list after the other */
	uint32_t nr_lists;
	struct counter_streams streams[2]; /* by enum stream_owner */
	uint64_t counted[COUNTER_MAX];     /* with the latest sample */
	int err;
};

/* --- one list --------------------------------------------------------------------------------- */

/* The class of a memory access stands between the leaf and its callers. */
static void take_memory(const struct trace *trace, struct trace_sample *sample)
{
	uint32_t parent;
	uint64_t frame;

	if (sample->context == NODE_NONE || !trace_node(trace, sample->context, &frame, &parent) ||
	    !frame_is_access(frame))
		return;
	sample->memory = frame_access(frame);
	sample->context = parent;
}

/* Still totals; see count_since(). */
static void take_counters(const struct trace *trace, const struct list *list,
                          struct trace_sample *sample)
{
	const uint64_t *totals = list->sample.counters;

	sample->nr_counters = 0;
	if (!totals || !sample->counters || list->event ||
	    list->cursor->counters.nr != 1 + trace_nr(trace, TRACE_COUNTERS))
		return;
	sample->nr_counters = (uint8_t)list->cursor->counters.nr;
	memcpy(sample->counters, totals, sample->nr_counters * sizeof(uint64_t));
}

static void fill_sample(const struct trace *trace, const struct list *list,
                        struct trace_sample *sample)
{
	const struct code_sample *coded = &list->sample;

	sample->event = list->event;
	sample->level = (uint8_t)list->level;
	sample->time = coded->time;
	sample->weight = trace_weight(trace, list->event, coded->cpu);
	sample->thread = coded->thread;
	sample->cpu = coded->cpu;
	sample->leaf = coded->leaf;
	sample->context = coded->context;
	sample->memory = 0;
	sample->pair = coded->pair == CODE_MAX_PAIRS ? UINT32_MAX : list->first_pair + coded->pair;
	sample->again = coded->again;
	if (list->memory)
		take_memory(trace, sample);
	take_counters(trace, list, sample);
}

static uint64_t frame_of_node(const void *trace, uint32_t node)
{
	uint64_t frame;
	uint32_t parent;

	return trace_node(trace, node, &frame, &parent) ? frame : 0;
}

/* Returns 1 with the list's next sample, 0 at its end, or -EBADMSG. */
static int list_next(const struct trace *trace, struct list *list)
{
	const struct code_nodes nodes = {frame_of_node, trace};
	int got;

	for (;;) {
		got = code_next(list->cursor, &list->sample);
		if (got == 1 && list->sample.time > list->latest)
			list->latest = list->sample.time;
		if (got || list->at == list->end)
			return got;
		got = code_open(list->cursor, list->at->bin, bin_size(list->at->bin), nodes);
		if (got)
			return got;
		list->at++;
	}
}

/* Passes by samples that are too old, where no totals of theirs are needed. */
static int list_begin(const struct trace *trace, struct list *list)
{
	uint64_t from = trace_nr(trace, TRACE_COUNTERS) ? 0 : trace->from;
	int got;

	do
		got = list_next(trace, list);
	while (got == 1 && list->sample.time < from);
	return got;
}

/* Goes on where an earlier walk has ended, if that is in one of the last bins. */
static bool list_resume(const struct trace *trace, struct list *list)
{
	const struct bin_position *at = list->end;

	if (!trace->walks || !trace->from || trace_nr(trace, TRACE_COUNTERS))
		return false;
	for (unsigned i = 0; i < MOST_RESUMED && at > list->at; i++) {
		at--;
		list->cursor = walk_memory_take(trace->walks, at->bin, trace->from, &list->latest);
		if (!list->cursor)
			continue;
		list->at = at + 1;
		return true;
	}
	return false;
}

/*
 * Leaves the cursor of a list that was read to its end to the next walk, unless this one was not of
 * the latest samples: then that of an earlier one is of more use, for some of these are wanted
 * next.
 */
static void list_close(const struct trace *trace, struct list *list)
{
	const struct code_cursor *cursor = list->cursor;

	if (trace->walks && trace->from && cursor && list->at == list->end &&
	    cursor->at == cursor->end && !cursor->left && !cursor->counters.nr)
		walk_memory_leave(trace->walks, list->end[-1].bin, list->cursor, list->latest);
	else
		free(list->cursor);
}

static int list_open(const struct trace *trace, struct list *list, const struct bin_position *first,
                     const struct bin_position *end)
{
	list->at = first;
	list->end = end;
	if (!list_resume(trace, list))
		list->cursor = code_cursor_new();
	if (!list->cursor)
		return -ENOMEM;
	list->memory = trace_run(trace)->flags & TRACE_RUN_DATA;
	list->event = first->list >> 8;
	list->level = first->list & 0xff;
	return list_begin(trace, list);
}

/* --- all lists -------------------------------------------------------------------------------- */

static uint64_t list_time(const struct trace_walk *walk, const struct list *list)
{
	return walk->by_time ? list->sample.time : 0;
}

static int open_lists(struct trace_walk *walk)
{
	const struct bin_position *position = walk->positions.positions, *next;
	const struct bin_position *end = position ? position + walk->positions.nr : NULL;
	int got = 0;

	for (; position < end && got >= 0; position = next) {
		next = bin_positions_list_end(&walk->positions, position);
		struct list *list = &walk->lists[walk->nr_lists];

		list->first_pair = walk->nr_lists * CODE_MAX_PAIRS;
		got = list_open(walk->trace, list, position, next);
		if (got == 1)
			walk->heap.entries[walk->heap.nr++] =
				(struct heap_entry){list_time(walk, list), walk->nr_lists};
		walk->nr_lists++;
	}
	time_heap_start(&walk->heap);
	return got < 0 ? got : 0;
}

static int open_counters(struct trace_walk *walk)
{
	for (unsigned i = 0; i < 2 && trace_nr(walk->trace, TRACE_COUNTERS); i++) {
		struct counter_streams *streams = &walk->streams[i];

		streams->nr = i == STREAM_OF_THREAD ? trace_nr(walk->trace, TRACE_THREADS)
		                                    : trace_nr_cpus(walk->trace);
		streams->last = calloc(streams->nr + 1UL, sizeof(*streams->last));
		if (!streams->last)
			return -ENOMEM;
	}
	return 0;
}

static struct trace_walk *walk_new(const struct trace *trace, uint32_t event, bool by_time)
{
	struct trace_walk *walk = calloc(1, sizeof(*walk));
	uint32_t nr;

	if (!walk)
		return NULL;
	walk->trace = trace;
	walk->by_time = by_time;
	if (bin_positions_find(&walk->positions, trace, BIN_SAMPLES, event))
		goto out;
	nr = bin_positions_lists(&walk->positions);
	walk->lists = calloc(nr + 1, sizeof(*walk->lists));
	walk->heap.entries = calloc(nr + 1, sizeof(*walk->heap.entries));
	if (!walk->lists || !walk->heap.entries || open_counters(walk))
		goto out;
	walk->err = open_lists(walk);
	if (walk->err != -ENOMEM)
		return walk;
out:
	trace_walk_free(walk);
	errno = ENOMEM;
	return NULL;
}

struct trace_walk *trace_walk_new(const struct trace *trace, uint32_t event)
{
	return walk_new(trace, event, true);
}

struct trace_walk *trace_walk_unordered(const struct trace *trace, uint32_t event)
{
	return walk_new(trace, event, trace_nr(trace, TRACE_COUNTERS) > 0);
}

void trace_walk_free(struct trace_walk *walk)
{
	if (!walk)
		return;
	for (uint32_t i = 0; walk->lists && i < walk->nr_lists; i++)
		list_close(walk->trace, &walk->lists[i]);
	for (unsigned i = 0; i < 2; i++)
		free(walk->streams[i].last);
	free(walk->lists);
	free(walk->heap.entries);
	bin_positions_fini(&walk->positions);
	free(walk);
}

uint32_t trace_walk_pairs(const struct trace_walk *walk)
{
	return walk->nr_lists * CODE_MAX_PAIRS;
}

static bool of_many(const struct trace *trace, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(trace, thread);

	return entry && entry->flags & TRACE_THREAD_FOLDED;
}

/*
 * Turns a sample's totals into what they are more than those before. Samples come oldest first. Of
 * a stream that the file does not know, or that is of many threads, nothing is known.
 */
static void count_since(struct trace_walk *walk, enum stream_owner owner,
                        struct trace_sample *sample)
{
	struct counter_streams *streams = &walk->streams[owner];
	uint32_t number = owner == STREAM_OF_THREAD ? sample->thread : sample->cpu;

	if (number >= streams->nr || (owner == STREAM_OF_THREAD && of_many(walk->trace, number))) {
		sample->nr_counters = 0;
		return;
	}
	for (unsigned i = 0; i < sample->nr_counters; i++) {
		uint64_t *last = &streams->last[number][i], total = sample->counters[i];

		/* A coarser unit may have rounded the last one up beyond this one. */
		sample->counters[i] = total > *last ? total - *last : 0;
		*last = total > *last ? total : *last;
	}
}

static inline int next_sample(struct trace_walk *walk, struct trace_sample *sample,
                              uint64_t *counters)
{
	struct list *list;
	int got;

	if (walk->err || !walk->heap.nr)
		return walk->err;
	list = &walk->lists[walk->heap.entries[0].number];
	sample->counters = counters;
	fill_sample(walk->trace, list, sample);
	if (sample->nr_counters)
		count_since(walk, list->cursor->owner, sample);
	got = list_next(walk->trace, list);
	if (got < 0)
		walk->err = got;
	time_heap_next(&walk->heap, got == 1, list_time(walk, list));
	return 1;
}

int trace_walk_next(struct trace_walk *walk, struct trace_sample *sample)
{
	return next_sample(walk, sample, walk->counted);
}

int trace_walk_some(struct trace_walk *walk, struct trace_sample *samples,
                    uint64_t (*counters)[COUNTER_MAX], unsigned max, unsigned *nr)
{
	int got = 1;

	for (*nr = 0; *nr < max && got == 1; *nr += got == 1)
		got = next_sample(walk, &samples[*nr], counters ? counters[*nr] : NULL);
	return got;
}

int trace_each_sample(struct trace_walk *walk, trace_sample_fn *fn, void *arg)
{
	struct trace_sample sample;
	int got = 0, err = 0;

	if (!walk)
		return -errno;
	while (!err && (got = trace_walk_next(walk, &sample)) == 1)
		err = fn(arg, &sample);
	trace_walk_free(walk);
	return err ? err : got;
}

int trace_each_call(struct call_walk *walk, trace_call_fn *fn, void *arg)
{
	struct trace_call call;
	int got = 0, err = 0;

	if (!walk)
		return -errno;
	while (!err && (got = call_walk_next(walk, &call)) == 1)
		err = fn(arg, &call);
	call_walk_free(walk);
	return err ? err : got;
}
