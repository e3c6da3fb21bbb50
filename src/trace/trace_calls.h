/*
 * The instrumented calls of a trace. Calls of one thread and one level come in the order in which
 * they were left: an inner call before the call around it. Calls of different threads come in the
 * order in which the recorder took them; call_order.h has them by time.
 */
#ifndef TRACE_TRACE_CALLS_H
#define TRACE_TRACE_CALLS_H

#include "hmb/call.h"
#include "base/scratch.h"
#include "trace/call_sources.h"
#include "trace/trace.h"

struct trace_call {
	uint32_t level;
	struct call call; /* whole, unless CALL_CONTINUED: then the rest is missing */
};

/*
 * A walk over all stored calls; lists of different levels are merged by time of leave. The parts of
 * a call are valid until the next step. Returns NULL with errno on failure.
 */
struct call_walk;
struct call_walk *call_walk_new(const struct trace *trace);
void call_walk_free(struct call_walk *walk);
/* Returns 1 with a call, 0 at the end, -EBADMSG or -ENOMEM. */
int call_walk_next(struct call_walk *walk, struct trace_call *call);
/*
 * The whole of a new one, which is freed: 0, -EBADMSG, -ENOMEM, or what fn returned that was not 0,
 * which ends it. -errno where it is NULL.
 */
typedef int trace_call_fn(void *arg, const struct trace_call *call);
int trace_each_call(struct call_walk *walk, trace_call_fn *fn, void *arg);

/*
 * An index of the bins that hold the calls of each thread, for walks over one thread after the
 * other.
 */
struct call_index {
	const struct trace *trace;
	struct bin_position *positions;  /* of thread after thread */
	struct bin_positions *of_thread; /* each one's part of them */
	uint64_t *nr;                    /* calls by thread; of numbers made up the last one */
	uint32_t nr_threads;
	uint64_t first_time, last_time; /* of all calls; 0: there are none */
	struct call_regrouped *own;     /* NULL: the bins are the trace's */
};

/*
 * Reads all calls, twice if they are regrouped in the scratch file. Returns NULL with errno on
 * failure.
 */
struct call_index *call_index_new(const struct trace *trace, const struct scratch *scratch);
void call_index_free(struct call_index *index);

/* Walks over the calls of one thread, in order of leaving. Returns NULL with errno on failure. */
struct call_walk *call_walk_thread(const struct call_index *index, uint32_t thread);

/* Counts the bytes of records that the calls of a trace take. Returns 0 or -ENOMEM. */
int trace_call_bytes(const struct trace *trace, uint64_t *bytes);
/* Whether calls were recorded, stored or not. */
bool trace_has_calls(const struct trace *trace);
/* Whether the program lost calls that were to be recorded. */
bool trace_calls_lost(const struct trace *trace);
/* Tells whether it has some, and all that were made: of others, messages find wrong partners. */
bool trace_calls_complete(const struct trace *trace);

/*
 * Gives the value of a call that reported one: that of its first CALL_VALUE. Returns false for
 * other calls.
 */
bool call_value(const struct call *call, double *value);
/* Returns the value that a CALL_VALUE has. */
double call_part_value(const struct call_part *part);

/* Returns the members of the communicator that has the most. */
uint32_t trace_most_members(const struct trace *trace);
/* Whether a part is a collective of a communicator with so many members. */
bool trace_part_is_wide(const struct trace *trace, const struct call_part *part, uint32_t members);

/* Returns the traits of a region by its number; an unknown one has those of an unknown class. */
const struct region_traits *trace_region_traits(const struct trace *trace, uint32_t region);
/* Returns the name of a region as the program or the file has it, or "[unknown]". */
const char *trace_region_name(const struct trace *trace, uint32_t region);

#endif
