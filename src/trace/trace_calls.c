#include "trace/trace_calls.h"
#include "hmb/call_code.h"
#include "trace/call_regroup.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARTS (1 << 16) /* of a call that is put together; a file may go on for ever */
#define MAX_BEGUN 256       /* calls at once; of more, the rest counts as calls of their own */

/* A list: the calls of one kind and level. It stands at the next record. */
struct list {
	const struct bin_position *at, *end; /* the bins that follow */
	const uint32_t *thread;              /* whose calls are wanted; NULL: everybody's */
	struct call record;
	struct call_cursor *cursor; /* NULL: there is no further record */
	uint32_t level;
};

/* A call of which some records were read. */
struct begun {
	struct trace_call call;
	struct call_part *parts;
	uint32_t nr_parts, room;
};

struct call_walk {
	struct bin_positions own; /* of a walk over all threads */
	uint32_t thread;          /* of any other */
	struct list *lists;
	uint32_t nr_lists;
	struct begun given;  /* its parts live until the next step */
	struct begun *begun; /* the rest comes behind records of other threads */
	size_t nr_begun;
};

/* --- lists ------------------------------------------------------------------------------------ */

/* Returns 1 with the list's next record, 0 at its end, or -EBADMSG. */
static int list_step(struct list *list)
{
	for (;;) {
		int got = call_code_next(list->cursor, &list->record);

		if (got == 1 && list->thread && list->record.thread != *list->thread)
			continue;
		if (got || list->at == list->end)
			return got;
		got = call_code_open(list->cursor, list->at->bin, bin_size(list->at->bin));
		if (got)
			return got;
		list->at++;
	}
}

static int list_next(struct list *list)
{
	int got = list_step(list);

	if (got == 1)
		return 0;
	free(list->cursor);
	list->cursor = NULL;
	return got;
}

static int list_open(struct list *list, const struct bin_position *first,
                     const struct bin_position *end, const uint32_t *thread)
{
	*list = (struct list){
		.at = first, .end = end, .level = first->list & 0xff, .thread = thread};
	list->cursor = call_cursor_new();
	return list->cursor ? list_next(list) : -ENOMEM;
}

/* If two calls of a thread are left at the same time, the inner one comes first, or the earlier. */
static bool before(const struct call *a, const struct call *b)
{
	if (a->leave != b->leave || a->thread != b->thread)
		return a->leave < b->leave;
	return a->depth != b->depth ? a->depth > b->depth : a->enter < b->enter;
}

static struct list *oldest(const struct call_walk *walk)
{
	struct list *found = NULL;

	for (uint32_t i = 0; i < walk->nr_lists; i++) {
		struct list *list = &walk->lists[i];

		if (list->cursor && (!found || before(&list->record, &found->record)))
			found = list;
	}
	return found;
}

/* --- the walk --------------------------------------------------------------------------------- */

static int open_lists(struct call_walk *walk, const struct bin_positions *positions,
                      const uint32_t *thread)
{
	const struct bin_position *position = positions->positions, *next;
	const struct bin_position *end = position ? position + positions->nr : NULL;
	int err = 0;

	walk->lists = calloc((size_t)bin_positions_lists(positions) + 1, sizeof(*walk->lists));
	if (!walk->lists)
		return -ENOMEM;
	for (; position < end && !err; position = next) {
		next = bin_positions_list_end(positions, position);
		err = list_open(&walk->lists[walk->nr_lists++], position, next, thread);
	}
	return err;
}

/* Returns the walk, or frees it and returns NULL with errno after an error. */
static struct call_walk *walk_or_error(struct call_walk *walk, int err)
{
	if (!err)
		return walk;
	call_walk_free(walk);
	errno = -err;
	return NULL;
}

struct call_walk *call_walk_new(const struct trace *trace)
{
	struct call_walk *walk = calloc(1, sizeof(*walk));
	int err;

	if (!walk)
		return NULL;
	err = bin_positions_find(&walk->own, trace, BIN_CALLS, TRACE_ALL_EVENTS);
	if (!err)
		err = open_lists(walk, &walk->own, NULL);
	return walk_or_error(walk, err);
}

struct call_walk *call_walk_thread(const struct call_index *index, uint32_t thread)
{
	struct call_walk *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return NULL;
	walk->thread = thread;
	return walk_or_error(walk, open_lists(walk, &index->of_thread[thread], &walk->thread));
}

void call_walk_free(struct call_walk *walk)
{
	if (!walk)
		return;
	for (uint32_t i = 0; i < walk->nr_lists; i++)
		free(walk->lists[i].cursor);
	for (size_t i = 0; i < walk->nr_begun; i++)
		free(walk->begun[i].parts);
	free(walk->begun);
	free(walk->lists);
	free(walk->given.parts);
	bin_positions_fini(&walk->own);
	free(walk);
}

static int add_record(struct begun *begun, const struct list *list)
{
	const struct call *record = &list->record;

	if (ARRAY_RESERVE(begun->parts, begun->room, (size_t)begun->nr_parts + record->nr_parts))
		return -ENOMEM;
	if (record->nr_parts)
		memcpy(begun->parts + begun->nr_parts, record->parts,
		       record->nr_parts * sizeof(*begun->parts));
	begun->nr_parts += record->nr_parts;
	begun->call = (struct trace_call){list->level, *record};
	return 0;
}

static bool is_whole(const struct begun *begun)
{
	return !(begun->call.call.flags & CALL_CONTINUED) || begun->nr_parts >= MAX_PARTS;
}

/* Whether the list's next record goes on with this call of its thread and level. */
static bool goes_on(const struct list *list, const struct begun *begun)
{
	const struct call *call = &begun->call.call;

	return list->record.region == call->region && list->record.enter == call->enter &&
	       list->record.leave == call->leave;
}

/* Returns the unfinished call of this list's thread, or NULL. */
static struct begun *find_begun(const struct call_walk *walk, const struct list *list)
{
	for (size_t i = 0; i < walk->nr_begun; i++)
		if (walk->begun[i].call.call.thread == list->record.thread &&
		    walk->begun[i].call.level == list->level)
			return &walk->begun[i];
	return NULL;
}

/* 1: what was given before is no more. */
static int give_begun(struct call_walk *walk, struct begun *begun)
{
	free(walk->given.parts);
	walk->given = *begun;
	*begun = walk->begun[--walk->nr_begun];
	return 1;
}

/* Returns 1 if the call is complete, 0 if more records must be read, or an error. */
static int take_record(struct call_walk *walk, struct list *list)
{
	struct begun *begun = find_begun(walk, list);
	int err;

	if (begun && !goes_on(list, begun))
		return give_begun(walk, begun);
	walk->given.nr_parts = 0;
	err = add_record(begun ? begun : &walk->given, list);
	if (!err)
		err = list_next(list);
	if (err)
		return err;
	if (begun)
		return is_whole(begun) ? give_begun(walk, begun) : 0;
	if (is_whole(&walk->given))
		return 1;
	if (ARRAY_ADD(walk->begun, walk->nr_begun, walk->given))
		return -ENOMEM;
	walk->given = (struct begun){0};
	return walk->nr_begun < MAX_BEGUN ? 0 : give_begun(walk, walk->begun);
}

int call_walk_next(struct call_walk *walk, struct trace_call *call)
{
	struct list *list;
	int got = 0;

	while (!got && (list = oldest(walk)))
		got = take_record(walk, list);
	if (!got && walk->nr_begun)
		got = give_begun(walk, walk->begun);
	if (got != 1)
		return got;
	*call = walk->given.call;
	call->call.nr_parts = walk->given.nr_parts;
	call->call.parts = walk->given.parts;
	return 1;
}

/* --- the index -------------------------------------------------------------------------------- */

/* Notes that a bin has calls of a thread. */
struct mention {
	uint32_t thread, position;
};

/* State while the index is built. */
struct survey {
	struct call_index *index;
	struct bin_positions positions; /* of all bins */
	uint32_t *seen;                 /* by thread: the last position that mentions it, + 1 */
	struct mention *mentions;
	size_t nr;
};

static int survey_thread(struct survey *survey, uint32_t position, uint32_t thread)
{
	if (survey->seen[thread] == position + 1)
		return 0;
	if (ARRAY_ADD(survey->mentions, survey->nr, (struct mention){thread, position}))
		return -ENOMEM;
	survey->seen[thread] = position + 1;
	survey->index->of_thread[thread].nr++;
	return 0;
}

static int survey_call(struct survey *survey, uint32_t position, const struct call *call)
{
	struct call_index *index = survey->index;
	uint32_t thread = call->thread < index->nr_threads ? call->thread : index->nr_threads;

	if (!(call->flags & CALL_CONTINUED)) {
		index->nr[thread]++;
		if (!index->first_time || call->enter < index->first_time)
			index->first_time = call->enter;
		if (call->leave > index->last_time)
			index->last_time = call->leave;
	}
	return thread < index->nr_threads ? survey_thread(survey, position, thread) : 0;
}

static int survey_bins(struct survey *survey)
{
	struct call_cursor *cursor = call_cursor_new();
	int got = cursor ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < survey->positions.nr && !got; i++) {
		const struct bin *bin = survey->positions.positions[i].bin;
		struct call call;

		got = call_code_open(cursor, bin, bin_size(bin));
		while (!got && (got = call_code_next(cursor, &call)) == 1)
			got = survey_call(survey, i, &call);
	}
	free(cursor);
	return got;
}

/* With so many threads in a bin, on average, regrouping is less work than reading bins again. */
#define MANY_THREADS 4

/* Replaces the positions by those of the regrouped bins, which have one thread each. */
static int regroup(struct survey *survey, const struct scratch *scratch)
{
	struct call_index *index = survey->index;
	struct call_regrouped *own =
		call_regroup(&survey->positions, scratch, index->nr, index->nr_threads);
	struct mention *mentions;

	if (!own)
		return -errno;
	index->own = own;
	mentions = calloc(own->nr + 1, sizeof(*mentions));
	if (!mentions)
		return -ENOMEM;
	for (uint32_t i = 0; i < index->nr_threads; i++)
		index->of_thread[i].nr = 0;
	for (uint32_t i = 0; i < own->nr; i++) {
		mentions[i] = (struct mention){own->threads[i], i};
		index->of_thread[own->threads[i]].nr++;
	}
	free(survey->mentions);
	survey->mentions = mentions;
	survey->nr = own->nr;
	return 0;
}

/* Sorts the positions by thread and keeps their order. */
static int share_positions(const struct survey *survey)
{
	struct call_index *index = survey->index;
	const struct bin_position *from =
		index->own ? index->own->positions : survey->positions.positions;
	struct bin_position *next;

	index->positions = next = calloc(survey->nr + 1, sizeof(*next));
	if (!next)
		return -ENOMEM;
	for (uint32_t i = 0; i < index->nr_threads; i++) {
		index->of_thread[i].positions = next;
		next += index->of_thread[i].nr;
		index->of_thread[i].nr = 0;
	}
	for (size_t i = 0; i < survey->nr; i++) {
		struct bin_positions *positions = &index->of_thread[survey->mentions[i].thread];

		positions->positions[positions->nr++] = from[survey->mentions[i].position];
	}
	return 0;
}

static int make_index(struct call_index *index, const struct scratch *scratch)
{
	struct survey survey = {.index = index};
	int err = bin_positions_find(&survey.positions, index->trace, BIN_CALLS, TRACE_ALL_EVENTS);

	index->of_thread = calloc(index->nr_threads + 1UL, sizeof(*index->of_thread));
	index->nr = calloc(index->nr_threads + 1UL, sizeof(*index->nr));
	survey.seen = calloc(index->nr_threads + 1UL, sizeof(*survey.seen));
	if (!index->of_thread || !index->nr || !survey.seen)
		err = -ENOMEM;
	if (!err)
		err = survey_bins(&survey);
	if (!err && scratch->fd >= 0 && survey.nr > MANY_THREADS * survey.positions.nr)
		err = regroup(&survey, scratch);
	if (!err)
		err = share_positions(&survey);
	bin_positions_fini(&survey.positions);
	free(survey.seen);
	free(survey.mentions);
	return err;
}

struct call_index *call_index_new(const struct trace *trace, const struct scratch *scratch)
{
	struct call_index *index = calloc(1, sizeof(*index));
	int err;

	if (!index)
		return NULL;
	index->trace = trace;
	index->nr_threads = trace_nr(trace, TRACE_THREADS);
	err = make_index(index, scratch);
	if (!err)
		return index;
	call_index_free(index);
	errno = -err;
	return NULL;
}

void call_index_free(struct call_index *index)
{
	if (!index)
		return;
	call_regrouped_free(index->own);
	free(index->positions);
	free(index->of_thread);
	free(index->nr);
	free(index);
}

/* --- figures and names ------------------------------------------------------------------------ */

int trace_call_bytes(const struct trace *trace, uint64_t *bytes)
{
	struct bin_positions positions;
	int err = bin_positions_find(&positions, trace, BIN_CALLS, TRACE_ALL_EVENTS);

	*bytes = 0;
	for (size_t i = 0; i < positions.nr; i++)
		*bytes += positions.positions[i].bin->record_bytes;
	bin_positions_fini(&positions);
	return err;
}

bool trace_has_calls(const struct trace *trace)
{
	return trace_kind(trace, trace->nr_events) != NULL;
}

double call_part_value(const struct call_part *part)
{
	double value;

	memcpy(&value, &part->bytes, sizeof(value));
	return value;
}

bool call_value(const struct call *call, double *value)
{
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (call->parts[i].type == CALL_VALUE) {
			*value = call_part_value(&call->parts[i]);
			return true;
		}
	return false;
}

const struct region_traits *trace_region_traits(const struct trace *trace, uint32_t region)
{
	const struct trace_region *entry = trace_region(trace, region);

	return region_traits(entry ? entry->region_class : NR_TRACE_REGION_CLASSES);
}

const char *trace_region_name(const struct trace *trace, uint32_t region)
{
	const struct trace_region *entry = trace_region(trace, region);

	return entry && entry->name ? trace_string(trace, entry->name) : "[unknown]";
}

uint32_t trace_most_members(const struct trace *trace)
{
	const struct trace_comm *comm;
	uint32_t most = 0;

	for (uint32_t i = 0; (comm = trace_comm(trace, i)); i++)
		if (comm->nr_members > most)
			most = comm->nr_members;
	return most;
}

bool trace_part_is_wide(const struct trace *trace, const struct call_part *part, uint32_t members)
{
	const struct trace_comm *comm = trace_comm(trace, part->comm);

	return (part->type == CALL_COLLECTIVE || part->type == CALL_COLLECTIVE_DONE) && comm &&
	       comm->nr_members == members;
}

bool trace_calls_lost(const struct trace *trace)
{
	const struct trace_instrument *instrument;

	for (uint32_t i = 0; (instrument = trace_instrument(trace, i)); i++)
		if (instrument->lost)
			return true;
	return false;
}

bool trace_calls_complete(const struct trace *trace)
{
	const struct trace_event *kind;

	/* Messages that were under way when a history began have one end there. */
	if (trace->choice.found && trace->choice.has_calls)
		return false;
	for (uint32_t i = 0; (kind = trace_kind(trace, i)); i++)
		if (kind->unit == TRACE_CALLS && (kind->floor || kind->stored != kind->taken))
			return false;
	return !trace_calls_lost(trace) && trace_has_calls(trace);
}
