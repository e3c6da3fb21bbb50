#include "output/trace_calls.h"
#include "output/trace_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARTS (1 << 16) /* of a call that is put together; a file may go on for ever */

/* Which calls are wanted; NULL in place of it: all. */
struct filter {
	const struct call_index *index;
	uint32_t thread;
};

/* The calls of one kind and level, at the next record. */
struct list {
	const struct place *at, *end; /* the bins that follow */
	const struct filter *filter;
	struct call record;
	struct call_cursor *cursor; /* NULL: there is no further record */
	uint32_t list;
};

struct call_walk {
	struct places own; /* of a walk over all threads */
	const struct places *places;
	struct filter filter;
	struct list *lists;
	uint32_t nr_lists;
	struct call_part *parts;
	uint32_t nr_parts, room;
};

/* --- lists ------------------------------------------------------------------------------------ */

static bool bin_wanted(const struct list *list)
{
	const struct filter *filter = list->filter;

	return !filter || filter->index->threads[list->at - filter->index->places->places] >>
	                                  filter->thread % 64 &
	                          1;
}

/* 1 with the list's next record, 0 at its end, -EBADMSG. */
static int list_step(struct list *list)
{
	for (;;) {
		int got = call_code_next(list->cursor, &list->record);

		if (got == 1 && list->filter && list->record.thread != list->filter->thread)
			continue;
		if (got)
			return got;
		while (list->at < list->end && !bin_wanted(list))
			list->at++;
		if (list->at == list->end)
			return 0;
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

static int list_open(struct list *list, const struct place *first, const struct place *end,
                     const struct filter *filter)
{
	*list = (struct list){.at = first, .end = end, .list = first->list, .filter = filter};
	list->cursor = calloc(1, sizeof(*list->cursor));
	return list->cursor ? list_next(list) : -ENOMEM;
}

/* Of calls that are left together the inner one is first. */
static bool before(const struct call *a, const struct call *b)
{
	return a->leave < b->leave ||
	       (a->leave == b->leave && a->thread == b->thread && a->depth > b->depth);
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

static int open_lists(struct call_walk *walk, const struct filter *filter)
{
	const struct place *place = walk->places->places, *end = place + walk->places->nr, *next;
	int err = 0;

	walk->lists = calloc((size_t)places_lists(walk->places) + 1, sizeof(*walk->lists));
	if (!walk->lists)
		return -ENOMEM;
	for (; place < end && !err; place = next) {
		next = places_list_end(walk->places, place);
		err = list_open(&walk->lists[walk->nr_lists++], place, next, filter);
	}
	return err;
}

/* The walk with its lists open, unless there was an error; else NULL with errno. */
static struct call_walk *walk_begin(struct call_walk *walk, int err, const struct filter *filter)
{
	if (!err)
		err = open_lists(walk, filter);
	if (!err)
		return walk;
	call_walk_free(walk);
	errno = -err;
	return NULL;
}

struct call_walk *call_walk_new(const struct trace *trace)
{
	struct call_walk *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return NULL;
	walk->places = &walk->own;
	return walk_begin(walk, places_find(&walk->own, trace, BIN_CALLS, TRACE_ALL_EVENTS), NULL);
}

struct call_walk *call_walk_thread(const struct call_index *index, uint32_t thread)
{
	struct call_walk *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return NULL;
	walk->places = index->places;
	walk->filter = (struct filter){index, thread};
	return walk_begin(walk, 0, &walk->filter);
}

void call_walk_free(struct call_walk *walk)
{
	if (!walk)
		return;
	for (uint32_t i = 0; i < walk->nr_lists; i++)
		free(walk->lists[i].cursor);
	free(walk->lists);
	free(walk->parts);
	places_fini(&walk->own);
	free(walk);
}

static int add_parts(struct call_walk *walk, const struct call *record)
{
	uint32_t room = walk->room ? 2 * walk->room : 64;
	struct call_part *grown;

	if (walk->nr_parts + record->nr_parts > walk->room) {
		grown = reallocarray(walk->parts, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		walk->parts = grown;
		walk->room = room;
	}
	if (record->nr_parts)
		memcpy(walk->parts + walk->nr_parts, record->parts,
		       record->nr_parts * sizeof(*walk->parts));
	walk->nr_parts += record->nr_parts;
	return 0;
}

/* Whether the list's next record goes on with this call. */
static bool goes_on(const struct list *list, const struct call *call, uint32_t nr_parts)
{
	return call->flags & CALL_CONTINUED && list->cursor && nr_parts < MAX_PARTS &&
	       list->record.thread == call->thread && list->record.region == call->region &&
	       list->record.enter == call->enter && list->record.leave == call->leave;
}

int call_walk_next(struct call_walk *walk, struct trace_call *call)
{
	struct list *list = oldest(walk);
	int err;

	if (!list)
		return 0;
	walk->nr_parts = 0;
	do {
		*call = (struct trace_call){list->list >> 8, list->list & 0xff, list->record};
		err = add_parts(walk, &list->record);
		if (!err)
			err = list_next(list);
		if (err)
			return err;
	} while (goes_on(list, &call->call, walk->nr_parts));
	call->call.nr_parts = walk->nr_parts;
	call->call.parts = walk->parts;
	return 1;
}

/* --- the index -------------------------------------------------------------------------------- */

static void index_call(struct call_index *index, size_t place, const struct call *call)
{
	index->threads[place] |= (uint64_t)1 << call->thread % 64;
	if (call->flags & CALL_CONTINUED)
		return;
	index->nr[call->thread < index->nr_threads ? call->thread : index->nr_threads]++;
	if (!index->first_time || call->enter < index->first_time)
		index->first_time = call->enter;
	if (call->leave > index->last_time)
		index->last_time = call->leave;
}

static int index_bins(struct call_index *index)
{
	struct call_cursor *cursor = malloc(sizeof(*cursor));
	int got = cursor ? 0 : -ENOMEM;

	for (size_t i = 0; i < index->places->nr && !got; i++) {
		const struct bin *bin = index->places->places[i].bin;
		struct call call;

		got = call_code_open(cursor, bin, bin_size(bin));
		while (!got && (got = call_code_next(cursor, &call)) == 1) {
			index_call(index, i, &call);
			got = 0;
		}
	}
	free(cursor);
	return got;
}

struct call_index *call_index_new(const struct trace *trace)
{
	struct call_index *index = calloc(1, sizeof(*index));
	int err = -ENOMEM;

	if (!index)
		goto out;
	index->trace = trace;
	index->places = calloc(1, sizeof(*index->places));
	if (!index->places || places_find(index->places, trace, BIN_CALLS, TRACE_ALL_EVENTS))
		goto out;
	index->nr_threads = trace_nr_threads(trace);
	index->threads = calloc(index->places->nr + 1, sizeof(*index->threads));
	index->nr = calloc(index->nr_threads + 1UL, sizeof(*index->nr));
	if (!index->threads || !index->nr)
		goto out;
	err = index_bins(index);
	if (!err)
		return index;
out:
	call_index_free(index);
	errno = -err;
	return NULL;
}

void call_index_free(struct call_index *index)
{
	if (!index)
		return;
	if (index->places)
		places_fini(index->places);
	free(index->places);
	free(index->threads);
	free(index->nr);
	free(index);
}

/* --- figures and names ------------------------------------------------------------------------ */

int trace_call_bytes(const struct trace *trace, uint64_t *bytes)
{
	struct places places;
	int err = places_find(&places, trace, BIN_CALLS, TRACE_ALL_EVENTS);

	*bytes = 0;
	for (size_t i = 0; i < places.nr; i++)
		*bytes += places.places[i].bin->record_bytes;
	places_fini(&places);
	return err;
}

bool trace_has_calls(const struct trace *trace)
{
	return trace_kind(trace, trace->nr_events) != NULL;
}

const char *region_class_name(uint32_t region_class)
{
	static const char *const names[NR_TRACE_REGION_CLASSES] = {
		[TRACE_MPI_OTHER] = "MPI",
		[TRACE_MPI_POINT_TO_POINT] = "point-to-point",
		[TRACE_MPI_COLLECTIVE] = "collective",
		[TRACE_MPI_ONE_SIDED] = "one-sided",
		[TRACE_MPI_IO] = "I/O",
		[TRACE_USER_REGION] = "region",
		[TRACE_MARKER] = "marker",
		[TRACE_VALUE] = "value",
	};

	return region_class < NR_TRACE_REGION_CLASSES ? names[region_class] : "unknown";
}

const char *part_kind_name(unsigned kind)
{
	static const char *const names[NR_CALL_PARTS] = {
		[CALL_SEND] = "send",
		[CALL_RECEIVE] = "receive",
		[CALL_SEND_POSTED] = "send-posted",
		[CALL_SEND_DONE] = "send-done",
		[CALL_RECEIVE_POSTED] = "receive-posted",
		[CALL_RECEIVE_DONE] = "receive-done",
		[CALL_TEST_FAILED] = "test-failed",
		[CALL_CANCELLED] = "cancelled",
		[CALL_COLLECTIVE] = "collective",
		[CALL_COLLECTIVE_POSTED] = "collective-posted",
		[CALL_COLLECTIVE_DONE] = "collective-done",
		[CALL_COMM_CREATED] = "communicator-created",
		[CALL_COMM_FREED] = "communicator-freed",
		[CALL_PUT] = "put",
		[CALL_GET] = "get",
		[CALL_ATOMIC] = "atomic",
		[CALL_READ] = "read",
		[CALL_WRITE] = "write",
		[CALL_VALUE] = "value",
		[CALL_FILE_OPENED] = "file-opened",
		[CALL_FILE_CLOSED] = "file-closed",
		[CALL_FILE_READ] = "read",
		[CALL_FILE_WRITE] = "write",
		[CALL_READ_POSTED] = "read-posted",
		[CALL_READ_DONE] = "read-done",
		[CALL_WRITE_POSTED] = "write-posted",
		[CALL_WRITE_DONE] = "write-done",
	};

	return kind < NR_CALL_PARTS ? names[kind] : "unknown";
}

const char *policy_name(uint32_t policy)
{
	static const char *const names[NR_TRACE_POLICIES] = {
		[TRACE_POLICY_ALL] = "all",
		[TRACE_POLICY_CLASS] = "class",
		[TRACE_POLICY_DEPTH] = "depth",
		[TRACE_POLICY_DURATION] = "duration",
	};

	return policy < NR_TRACE_POLICIES ? names[policy] : "unknown";
}

const char *trace_region_name(const struct trace *trace, uint32_t region)
{
	const struct trace_region *entry = trace_region(trace, region);

	return entry && entry->name ? trace_string(trace, entry->name) : "[unknown]";
}
