/*
 * Sums of the calls of a trace: by region, by rank, and between ranks. They are the exact sums that
 * the targets kept, if the trace has them. Those cover the whole run: where a part of the time is
 * selected, and in older traces, the stored calls are summed.
 */
#ifndef OUTPUT_VIEWS_CALL_SUMS_H
#define OUTPUT_VIEWS_CALL_SUMS_H

#include "base/map64.h"
#include "trace/selection.h"
#include "trace/rank_rows.h"
#include "trace/trace_calls.h"

/* Statistics of the values that a program reported under one name. */
struct value_sum {
	uint64_t nr; /* values that are numbers; the other fields count only these */
	double sum, least, most, last;
	uint64_t last_time;
};

/* Messages are those between two: collectives and files have bytes alone. */
struct call_sum {
	uint64_t calls, unfinished;
	uint64_t polls;           /* calls that asked in vain; 0 where stored calls are summed */
	uint64_t time, longest;   /* ns */
	double variance;          /* of time, ns^2 */
	bool thinned;             /* not all calls were timed */
	bool untimed;             /* none was, and the time is not known */
	uint64_t sent, received;  /* messages, one-sided accesses */
	uint64_t bytes, bytes_in; /* sent and received; of files written and read */
	struct value_sum values;
};

struct call_link {
	int32_t from, to; /* ranks in MPI_COMM_WORLD */
	uint64_t messages, bytes;
};

struct call_sums {
	const struct trace *trace;
	struct call_sum *regions;
	struct call_sum *ranks; /* by row, of MPI alone */
	struct call_link *links;
	uint64_t messages_elsewhere, bytes_elsewhere; /* of no two ranks, as far as is known */
	uint32_t nr_regions, nr_links;
	struct map64 link_by_ranks;
	const struct selection *selection;
	bool exact; /* regions and ranks have all calls, whether they are stored or not */
	/* Some calls were not timed: times are estimates, and the longest is that of the timed
	 * calls. */
	bool thinned;
};

/* Returns the 95 % error of the time of a thinned sum, ns. */
double call_sum_error(const struct call_sum *sum);

/* Adds a stored call. */
void call_sum_add(struct call_sum *sum, const struct call *call);
/* Adds a row of CALL_SUMS but for its time. values: its region is of class TRACE_VALUE. */
void call_sum_join(struct call_sum *to, const struct trace_call_sum *from, bool values);

/* Tells whether all calls of the selection are summed, and not only the stored ones. */
bool call_sums_are_exact(const struct trace *trace, const struct selection *selection);

/*
 * Sums the calls of the selected threads that were entered in the selected time. Returns 0, -ENOMEM
 * or -EBADMSG. call_sums_fini() must be called in any case.
 */
int call_sums_init(struct call_sums *sums, const struct trace *trace, const struct rank_rows *rows,
                   const struct selection *selection);
void call_sums_fini(struct call_sums *sums);

/* Returns the messages that one rank sent to another; NULL: there were none. */
const struct call_link *call_sums_link(const struct call_sums *sums, int32_t from, int32_t to);
/* Returns the regions that were called, most time first. The caller frees them; NULL: no memory. */
uint32_t *call_sums_order(const struct call_sums *sums, uint32_t *nr);

#endif
