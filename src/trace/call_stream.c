#include "trace/call_stream.h"

#include "base/map64.h"
#include "base/array.h"
#include "trace/call_sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPEN 4096 /* calls within calls; a file may say that there is no end to them */

/* A call that was entered. */
struct open_call {
	struct call call;
	struct call_part *parts;
	uint32_t room;
	uint64_t leave; /* not behind that of the call around it */
};

struct call_stream {
	const struct call_index *index;
	uint32_t thread;
	struct call_walk *walk; /* of the calls that are no regions */
	struct call next;       /* of these */
	bool more;
	struct call *regions; /* by time of enter, outer ones first */
	size_t nr_regions, at;
	struct map64 unfinished; /* requests that were posted and not completed */
	struct open_call *stack;
	unsigned depth, room;
	uint64_t time; /* of the last moment */
};

/* --- the first pass: regions, and requests without an end ------------------------------------- */

static enum region_type type_of(const struct call_stream *stream, const struct call *call)
{
	return trace_region_traits(stream->index->trace, call->region)->type;
}

static bool is_region(const struct call_stream *stream, const struct call *call)
{
	return type_of(stream, call) == REGION_AROUND;
}

static bool is_point(const struct call_stream *stream, const struct call *call)
{
	enum region_type type = type_of(stream, call);

	return type == REGION_MARKER || type == REGION_VALUE;
}

static int add_region(struct call_stream *stream, const struct call *call)
{
	struct call region = *call;

	region.parts = NULL;
	region.nr_parts = 0;
	return ARRAY_ADD(stream->regions, stream->nr_regions, region);
}

/* After the last call, `active` holds the requests that were never completed. */
static int count_request(struct map64 *active, const struct call_part *part)
{
	unsigned fields = call_part_fields(part->type);

	if (!(fields & PART_REQUEST) || part->type == CALL_TEST_FAILED)
		return 0;
	if (fields & PART_POSTS)
		return map64_get(active, part->request) == UINT32_MAX
		               ? map64_add(active, part->request, 0)
		               : 0;
	map64_remove(active, part->request);
	return 0;
}

static int note_call(void *arg, const struct trace_call *noted)
{
	struct call_stream *stream = arg;
	const struct call *call = &noted->call;
	int err = is_region(stream, call) ? add_region(stream, call) : 0;

	for (uint32_t i = 0; i < call->nr_parts && !err; i++)
		err = count_request(&stream->unfinished, &call->parts[i]);
	return err;
}

static int compare_regions(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return ORDER(x->enter, y->enter) ?: ORDER(x->depth, y->depth) ?: ORDER(y->leave, x->leave);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Finds the next call that is not a region. */
static int step(struct call_stream *stream)
{
	struct trace_call call;
	int got;

	do
		got = call_walk_next(stream->walk, &call);
	while (got == 1 && is_region(stream, &call.call));
	stream->more = got == 1;
	if (got == 1)
		stream->next = call.call;
	return got < 0 ? got : 0;
}

static int stream_open(struct call_stream *stream)
{
	int err =
		trace_each_call(call_walk_thread(stream->index, stream->thread), note_call, stream);

	if (err)
		return err;
	ARRAY_SORT(stream->regions, stream->nr_regions, compare_regions);
	stream->walk = call_walk_thread(stream->index, stream->thread);
	return stream->walk ? step(stream) : -errno;
}

struct call_stream *call_stream_new(const struct call_index *index, uint32_t thread)
{
	struct call_stream *stream = calloc(1, sizeof(*stream));
	int err = -ENOMEM;

	if (!stream)
		goto out;
	stream->index = index;
	stream->thread = thread;
	err = stream_open(stream);
	if (!err)
		return stream;
out:
	call_stream_free(stream);
	errno = -err;
	return NULL;
}

void call_stream_free(struct call_stream *stream)
{
	if (!stream)
		return;
	call_walk_free(stream->walk);
	for (unsigned i = 0; i < stream->room; i++)
		free(stream->stack[i].parts);
	free(stream->stack);
	free(stream->regions);
	map64_fini(&stream->unfinished);
	free(stream);
}

bool call_stream_completes(const struct call_stream *stream, uint64_t request)
{
	return map64_get(&stream->unfinished, request) == UINT32_MAX;
}

/* --- what happened next ----------------------------------------------------------------------- */

static int compare_requests(const void *a, const void *b)
{
	const struct call_part *x = a, *y = b;

	return ORDER(x->request, y->request);
}

/*
 * Receives that end in one call stand in the order in which they were posted, for that is the one
 * in which MPI gives them their messages.
 */
static void order_receives(struct call_part *parts, uint32_t nr)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i <= nr; i++) {
		if (i < nr && parts[i].type == CALL_RECEIVE_DONE)
			continue;
		if (i > first + 1)
			ARRAY_SORT(parts + first, i - first, compare_requests);
		first = i + 1;
	}
}

static int copy_parts(struct open_call *open, const struct call *call)
{
	if (ARRAY_RESERVE(open->parts, open->room, call->nr_parts))
		return -ENOMEM;
	if (call->nr_parts)
		memcpy(open->parts, call->parts, call->nr_parts * sizeof(*call->parts));
	order_receives(open->parts, call->nr_parts);
	open->call.parts = open->parts;
	return 0;
}

/* Returns the next call that is not entered yet; NULL if there is none. */
static const struct call *coming(const struct call_stream *stream)
{
	const struct call *region =
		stream->at < stream->nr_regions ? &stream->regions[stream->at] : NULL;

	if (!stream->more || !region)
		return region ? region : stream->more ? &stream->next : NULL;
	if (region->enter != stream->next.enter)
		return region->enter < stream->next.enter ? region : &stream->next;
	return region->depth <= stream->next.depth ? region : &stream->next;
}

static int consume(struct call_stream *stream, const struct call *call)
{
	if (call != &stream->next) {
		stream->at++;
		return 0;
	}
	return step(stream);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int enter(struct call_stream *stream, const struct call *call, struct call_moment *moment)
{
	struct open_call *open;
	uint64_t limit;
	int err = ARRAY_RESERVE_ZEROED(stream->stack, stream->room, (size_t)stream->depth + 1);

	if (err)
		return err;
	open = &stream->stack[stream->depth];
	limit = stream->depth ? open[-1].leave : UINT64_MAX;
	open->call = *call;
	err = copy_parts(open, call);
	if (err)
		return err;
	stream->time = later(stream->time, call->enter);
	open->leave = call->leave < limit ? call->leave : limit;
	*moment = (struct call_moment){
		.type = is_point(stream, call) ? CALL_POINT : CALL_ENTERED,
		.time = stream->time,
		.call = &open->call,
	};
	stream->depth += moment->type == CALL_ENTERED;
	err = consume(stream, call);
	return err ? err : 1;
}

static int leave(struct call_stream *stream, struct call_moment *moment)
{
	const struct open_call *open = &stream->stack[--stream->depth];

	stream->time = later(stream->time, open->leave);
	*moment = (struct call_moment){
		.type = CALL_LEFT,
		.time = stream->time,
		.call = &open->call,
	};
	return 1;
}

int call_stream_next(struct call_stream *stream, struct call_moment *moment)
{
	const struct call *call = coming(stream);
	const struct open_call *top = stream->depth ? &stream->stack[stream->depth - 1] : NULL;

	/*
	 * A call that is entered at the time when another one is left is not inside it, unless it
	 * is deeper.
	 */
	if (top && (!call || call->enter > top->leave || stream->depth == MAX_OPEN ||
	            (call->enter == top->leave && call->depth <= top->call.depth)))
		return leave(stream, moment);
	return call ? enter(stream, call, moment) : 0;
}
