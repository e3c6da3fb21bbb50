#include "output/trace_counters.h"
#include "output/trace_file.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Where a bin with samples stands among all: lists come one after the other, each in order. */
struct place {
	uint32_t list; /* kind and level */
	uint32_t sequence;
	const struct bin *bin;
};

/* The samples of one kind and level, at the next one. */
struct list {
	const struct place *at, *end; /* the bins that follow */
	struct trace_sample sample;
	struct code_cursor *cursor;
};

/* With the time at hand: the heap is gone through for every sample. */
struct turn {
	uint64_t time;
	uint32_t list;
};

struct trace_walk {
	const struct trace *trace;
	struct place *places;
	size_t nr_places, room;
	struct list *lists;
	struct turn *heap; /* lists that have a sample, the oldest first */
	uint32_t nr_lists, nr_heap;
	struct counter_streams counters;
	enum counter_owner owner;
	int error;
};

/* --- finding the bins ------------------------------------------------------------------------- */

static int add_place(struct trace_walk *walk, const struct bin *bin)
{
	size_t room = walk->room ? 2 * walk->room : 256;
	struct place *places;

	if (walk->nr_places == walk->room) {
		places = reallocarray(walk->places, room, sizeof(*places));
		if (!places)
			return -ENOMEM;
		walk->places = places;
		walk->room = room;
	}
	walk->places[walk->nr_places++] = (struct place){
		.list = (uint32_t)bin->kind << 8 | bin->level,
		.sequence = bin->sequence,
		.bin = bin,
	};
	return 0;
}

static int add_bin(struct trace_walk *walk, const struct bin *bin, uint32_t event)
{
	if (bin->use != BIN_SAMPLES || !trace_bin_live(walk->trace, bin) ||
	    (event != TRACE_ALL_EVENTS && event != bin->kind))
		return 0;
	return add_place(walk, bin);
}

static int add_granule(struct trace_walk *walk, const unsigned char *granule, uint32_t event)
{
	const struct trace *trace = walk->trace;
	const struct bin *bin = (const void *)granule;
	int err = 0;

	if (bin->size_shift == trace->bin_shift)
		return add_bin(walk, bin, event);
	for (size_t at = 0; at < (size_t)1 << trace->bin_shift && !err;
	     at += (size_t)1 << trace->sub_shift) {
		bin = (const void *)(granule + at);
		err = bin->size_shift == trace->sub_shift ? add_bin(walk, bin, event) : 0;
	}
	return err;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->list != y->list)
		return x->list < y->list ? -1 : 1;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static int find_places(struct trace_walk *walk, uint32_t event)
{
	const struct section *bins = &walk->trace->sections[TRACE_BINS];
	int err = 0;

	for (uint32_t i = 0; i < bins->nr && !err; i++)
		err = add_granule(walk, section_entry(bins, i), event);
	if (walk->nr_places)
		qsort(walk->places, walk->nr_places, sizeof(*walk->places), compare_places);
	return err;
}

/* --- one list --------------------------------------------------------------------------------- */

static void fill_sample(const struct trace *trace, struct list *list,
                        const struct code_sample *coded)
{
	struct trace_sample *sample = &list->sample;

	sample->time = coded->time;
	sample->weight = trace_weight(trace, sample->event, coded->cpu);
	sample->thread = coded->thread;
	sample->cpu = coded->cpu;
	sample->leaf = coded->leaf;
	sample->context = coded->context;
	/* Still totals; see trace_walk_next(). */
	sample->nr_counters = 0;
	if (!coded->counters || sample->event ||
	    list->cursor->counters.nr != 1 + trace_nr_counters(trace))
		return;
	sample->nr_counters = list->cursor->counters.nr;
	memcpy(sample->counters, coded->counters, sample->nr_counters * sizeof(uint64_t));
}

/* 1 with the list's next sample, 0 at its end, -EBADMSG. */
static int list_next(const struct trace *trace, struct list *list)
{
	struct code_sample coded;
	int got;

	for (;;) {
		got = code_next(list->cursor, &coded);
		if (got == 1)
			fill_sample(trace, list, &coded);
		if (got || list->at == list->end)
			return got;
		got = code_open(list->cursor, list->at->bin, bin_size(list->at->bin));
		if (got)
			return got;
		list->at++;
	}
}

static int list_open(const struct trace *trace, struct list *list, const struct place *first,
                     const struct place *end)
{
	list->cursor = calloc(1, sizeof(*list->cursor));
	if (!list->cursor)
		return -ENOMEM;
	list->at = first;
	list->end = end;
	list->sample.event = first->list >> 8;
	list->sample.level = first->list & 0xff;
	return list_next(trace, list);
}

/* --- all lists -------------------------------------------------------------------------------- */

static bool older(const struct turn *a, const struct turn *b)
{
	return a->time < b->time || (a->time == b->time && a->list < b->list);
}

/* Puts a turn in at a place whose own is out of date, or below it. */
static void heap_sink(struct trace_walk *walk, uint32_t at, struct turn turn)
{
	struct turn *heap = walk->heap;

	for (uint32_t child = 2 * at + 1; child < walk->nr_heap; child = 2 * at + 1) {
		if (child + 1 < walk->nr_heap && older(&heap[child + 1], &heap[child]))
			child++;
		if (!older(&heap[child], &turn))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = turn;
}

static int open_lists(struct trace_walk *walk)
{
	const struct place *place = walk->places, *end = place + walk->nr_places, *next;
	int got = 0;

	for (; place < end && got >= 0; place = next) {
		next = place + 1;
		while (next < end && next->list == place->list)
			next++;
		got = list_open(walk->trace, &walk->lists[walk->nr_lists], place, next);
		if (got == 1)
			walk->heap[walk->nr_heap++] = (struct turn){
				walk->lists[walk->nr_lists].sample.time, walk->nr_lists};
		walk->nr_lists++;
	}
	for (uint32_t i = walk->nr_heap / 2; i-- > 0;)
		heap_sink(walk, i, walk->heap[i]);
	return got < 0 ? got : 0;
}

static uint32_t count_lists(const struct trace_walk *walk)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < walk->nr_places; i++)
		nr += !i || walk->places[i].list != walk->places[i - 1].list;
	return nr;
}

static int open_counters(struct trace_walk *walk)
{
	if (!trace_nr_counters(walk->trace))
		return 0;
	walk->owner = trace_run(walk->trace)->flags & TRACE_RUN_CGROUP ? COUNTER_OF_CPU
	                                                               : COUNTER_OF_THREAD;
	return counter_streams_init(&walk->counters, walk->trace, walk->owner);
}

struct trace_walk *trace_walk_new(const struct trace *trace, uint32_t event)
{
	struct trace_walk *walk = calloc(1, sizeof(*walk));
	uint32_t nr;

	if (!walk)
		return NULL;
	walk->trace = trace;
	if (find_places(walk, event))
		goto out;
	nr = count_lists(walk);
	walk->lists = calloc(nr + 1, sizeof(*walk->lists));
	walk->heap = calloc(nr + 1, sizeof(*walk->heap));
	if (!walk->lists || !walk->heap || open_counters(walk))
		goto out;
	walk->error = open_lists(walk);
	if (walk->error != -ENOMEM)
		return walk;
out:
	trace_walk_free(walk);
	errno = ENOMEM;
	return NULL;
}

void trace_walk_free(struct trace_walk *walk)
{
	if (!walk)
		return;
	for (uint32_t i = 0; i < walk->nr_lists; i++)
		free(walk->lists[i].cursor);
	counter_streams_fini(&walk->counters);
	free(walk->lists);
	free(walk->heap);
	free(walk->places);
	free(walk);
}

/* Without room for counters that are not there. */
static void copy_sample(struct trace_walk *walk, const struct list *list,
                        struct trace_sample *sample)
{
	if (!list->sample.nr_counters) {
		memcpy(sample, &list->sample, offsetof(struct trace_sample, counters));
		return;
	}
	*sample = list->sample;
	counter_streams_step(&walk->counters, walk->trace, walk->owner, sample);
}

int trace_walk_next(struct trace_walk *walk, struct trace_sample *sample)
{
	struct turn turn;
	struct list *list;
	int got;

	if (walk->error || !walk->nr_heap)
		return walk->error;
	turn = walk->heap[0];
	list = &walk->lists[turn.list];
	copy_sample(walk, list, sample);
	got = list_next(walk->trace, list);
	if (got == 1)
		turn.time = list->sample.time;
	else
		turn = walk->heap[--walk->nr_heap];
	if (got < 0)
		walk->error = got;
	heap_sink(walk, 0, turn);
	return 1;
}
