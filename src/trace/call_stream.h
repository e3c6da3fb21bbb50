/*
 * The calls of one thread as what happened one after the other: entered, left, entered, … Visits of
 * the user's regions are put in memory for that, for a region is stored when it is left, behind all
 * that happened in it; of other calls only those that are open.
 *
 * Always: times do not go back, and whatever is entered is left in the reverse order. Where a file
 * says otherwise, times are moved.
 */
#ifndef TRACE_CALL_STREAM_H
#define TRACE_CALL_STREAM_H

#include "trace/trace_calls.h"

enum call_moment_type {
	CALL_ENTERED,
	CALL_LEFT,
	CALL_POINT, /* a marker or a value: it takes no time */
};

struct call_moment {
	enum call_moment_type type;
	uint64_t time;
	const struct call *call; /* until the next moment; the same calls are entered and left */
};

struct call_stream;

/* Returns NULL with errno on failure. The index must outlive the stream. */
struct call_stream *call_stream_new(const struct call_index *index, uint32_t thread);
void call_stream_free(struct call_stream *stream);

/* Returns 1 with the next enter or leave, 0 at the end, or -errno. */
int call_stream_next(struct call_stream *stream, struct call_moment *moment);

/* Whether the request was posted by this thread, and completed by it. */
bool call_stream_completes(const struct call_stream *stream, uint64_t request);

#endif
