/*
 * The iterations that a program found in its calls while it ran (record --scale-trace), thread by
 * thread in order of time. Those of one thread are of one level at a time and do not overlap.
 */
#ifndef TRACE_TRACE_ITERATIONS_H
#define TRACE_TRACE_ITERATIONS_H

#include "hmb/call.h"
#include "trace/trace.h"

struct trace_iteration {
	uint64_t begin, end; /* ns of the trace's clock */
	uint32_t thread;
	uint32_t phase;   /* of the thread and the level */
	uint32_t ordinal; /* how often the loop had begun an iteration, this one included */
	uint32_t calls;   /* the mean of the iterations that are coded together */
	uint8_t level, pattern;
	bool stored, slow;
	/* How far the thread was before it: see struct trace_iterations. */
	bool has_point;
	uint32_t collectives;
	uint64_t balance;
};

/* Returns the level of the buffer in which the calls of an entry's iteration were stored. */
unsigned trace_iteration_level(const struct trace_iterations *entry, unsigned at);
/* Returns the lowest level that the calls of a trace have. */
unsigned trace_calls_floor(const struct trace *trace);

struct iteration_index {
	const struct trace *trace;
	const struct trace_iterations **entries; /* by thread and begin */
	uint32_t *phases;                        /* of entries */
	uint32_t nr;
	unsigned floor; /* of calls: those of lower levels are not there any more */
};

/* Returns 0 or -ENOMEM; iteration_index_fini() may be called in either case. */
int iteration_index_init(struct iteration_index *index, const struct trace *trace);
void iteration_index_fini(struct iteration_index *index);

struct iteration_cursor {
	const struct iteration_index *index;
	uint32_t entry, end, at;
	uint64_t begin;
};

/* Places the cursor before a thread's iterations. */
void iteration_cursor_init(struct iteration_cursor *cursor, const struct iteration_index *index,
                           uint32_t thread);
/* Returns false at the end. */
bool iteration_cursor_next(struct iteration_cursor *cursor, struct trace_iteration *iteration);

/* An iteration whose calls are stored, or several of a phase, one after the other, that are not. */
struct iteration_span {
	struct trace_iteration first;
	uint64_t end;
	uint64_t nr; /* iterations */
};
bool iteration_cursor_next_span(struct iteration_cursor *cursor, struct iteration_span *span);

/* Whether nothing can have been between two iterations of a thread that come one after the other.
 */
bool iterations_adjoin(const struct trace_iteration *first, const struct trace_iteration *second);

/*
 * Tells to which iteration each call of a thread belongs. An iteration begins with a call, whose
 * time differs by a rounding error. Where another call is as near, those with which iterations
 * begin are known from others.
 */
#define ITERATION_ANCHORS 16

struct iteration_follower {
	struct iteration_cursor cursor;
	struct trace_iteration iteration; /* the one that is open, or the next one */
	bool more, open;
	uint64_t boundary; /* where the open one ends, or the next one begins; UINT64_MAX: never */
	uint64_t anchors[ITERATION_ANCHORS];
	unsigned nr_anchors;
};

void iteration_follower_init(struct iteration_follower *follower,
                             const struct iteration_index *index, uint32_t thread);
/* Whether the boundary is at the begin of this call of the thread, or before. */
bool iteration_is_due(const struct iteration_follower *follower, const struct call *call);
/* Goes beyond it. call: the one that it is at, or NULL. */
void iteration_pass(struct iteration_follower *follower, const struct call *call);

#endif
