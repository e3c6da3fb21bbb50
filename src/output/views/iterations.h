/*
 * Iterations of the loops that a program's threads went through, found in their calls: MPI calls,
 * regions and markers of adaptrace.h. See hmb/segment.h for how.
 *
 * A phase is a part of a thread's run with one loop. A loop in a loop gives phases of several
 * levels at one time; one of them, the *unit*, is taken for the program's steps.
 */
#ifndef OUTPUT_VIEWS_ITERATIONS_H
#define OUTPUT_VIEWS_ITERATIONS_H

#include "output/views/durations.h"
#include "output/views/query.h"
#include "hmb/segment.h"
#include "trace/trace_iterations.h"

#include <stdbool.h>

#define ITERATION_BINS 60 /* of the time that is shown, for a line of durations */

struct iteration_pattern {
	uint64_t iterations, calls;
};

struct iteration_phase {
	uint32_t thread; /* of the trace */
	int32_t rank;    /* -1: none */
	uint32_t level;  /* 0: the innermost loop */
	bool unit;
	bool is_outer;                 /* those of the level below are its inner loop */
	uint64_t from, to;             /* ns of the trace's clock */
	uint64_t first_call, end_call; /* numbers of calls of the thread that repeat, from 0 */
	uint64_t first_ordinal, last_ordinal; /* how often its first call occurred */
	uint64_t not_stored;                  /* iterations of which calls are not in the trace */
	struct durations durations;
	struct iteration_pattern patterns[SEGMENT_PATTERNS];
	struct {
		uint64_t nr, sum;
	} line[ITERATION_BINS];
};

struct iterations {
	struct iteration_phase **phases; /* by rank, thread and time */
	uint32_t nr;
	uint64_t left_out;        /* phases for which there was no room */
	uint64_t calls;           /* that were looked at */
	uint64_t seen, stored;    /* of all: less are stored where a policy dropped some */
	bool recorded;            /* the program found them itself while it ran */
	uint64_t from, to;        /* the time of calls that were looked at; 0, UINT64_MAX: all */
	struct call_index *index; /* NULL: calls were not read yet */
	struct iteration_index records; /* where the program found them */
};

/*
 * Finds the phases of 8 iterations and more in the query's part of a trace. Returns 0, -ENODATA
 * where there are no calls, -ENOMEM or -EBADMSG. iterations_fini() may be called in either case.
 */
int iterations_init(struct iterations *iterations, const struct trace *trace,
                    const struct view_query *query);
/* A part of iterations_init(): reads those that the program itself found. */
int iterations_read_records(struct iterations *iterations, const struct trace *trace,
                            const struct view_query *query);
void iterations_fini(struct iterations *iterations);

/*
 * Calls fn for each iteration at the level of a phase of `iterations` within its time, in order;
 * those of its most frequent pattern are `main`. What is not 0 ends it. Returns 0, what fn
 * returned, -ENOMEM or -EBADMSG.
 */
struct iteration_time {
	uint64_t begin, end; /* ns of the trace's clock */
	bool main;
};
typedef int iteration_fn(void *arg, const struct iteration_time *time);
int iterations_walk(struct iterations *iterations, const struct trace *trace,
                    const struct view_query *query, const struct iteration_phase *phase,
                    iteration_fn *fn, void *arg);
/* A part of iterations_walk(): for iterations that the program itself found. */
int iterations_walk_records(const struct iterations *iterations,
                            const struct iteration_phase *phase, iteration_fn *fn, void *arg);

/* An iteration whose phase is being found. */
struct found_iteration {
	uint64_t begin, end; /* ns of the trace's clock */
	uint64_t ordinal, calls;
	unsigned pattern;
};
/* A part of iterations_init(). start, end: of the time that is shown, ns of the trace's clock. */
void iteration_phase_add(struct iteration_phase *phase, const struct found_iteration *iteration,
                         uint64_t start, uint64_t end);

/* The most frequent one of a phase. */
const struct iteration_pattern *iteration_main_pattern(const struct iteration_phase *phase);
/* Returns the calls of an ordinary iteration. */
uint64_t iteration_calls(const struct iteration_phase *phase);
uint32_t iteration_patterns(const struct iteration_phase *phase);
/* Returns how many iterations took more than twice the median. */
uint64_t iteration_slow(const struct iteration_phase *phase);

#endif
