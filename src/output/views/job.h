/*
 * Reports of a job: how evenly its ranks share the work, and what they spend and send in MPI.
 *
 * Times come from samples throughout, or from calls throughout: the two are never added up. What
 * comes from which is said with every table.
 */
#ifndef OUTPUT_VIEWS_JOB_H
#define OUTPUT_VIEWS_JOB_H

#include "output/views/call_callers.h"
#include "output/views/call_sums.h"
#include "output/views/rank_sums.h"
#include "output/views/query.h"
#include "output/profile/warnings.h"

/* The data of the reports. */
struct job {
	const struct trace *trace;
	const struct view_query *query;
	struct rank_rows rows;
	struct call_sums calls;
	struct rank_sums samples; /* of the query's event, or the first one; of reports by rank */
	struct call_callers callers; /* of reports on MPI alone */
};

/* Prepares the ranks alone. Returns 0 or -ENOMEM; call job_fini() in either case. */
int job_init_ranks(struct job *job, const struct trace *trace, const struct view_query *query);
/* The same with calls. Returns 0, -ENOMEM or -EBADMSG; call job_fini() in either case. */
int job_init_calls(struct job *job, const struct trace *trace, const struct view_query *query);
/* The same with samples. */
int job_init(struct job *job, const struct trace *trace, const struct view_query *query);
/*
 * The same with callers. -ENODATA: the trace has neither ranks, nor calls, nor samples in functions
 * of MPI.
 */
int job_init_mpi(struct job *job, const struct trace *trace, const struct view_query *query);
void job_fini(struct job *job);

/* Calls fn with the warnings of the run, and with one if the trace lacks some ranks. */
void job_warnings(const struct job *job, warning_fn *fn, void *arg);

#define JOB_MATRIX_RANKS 16 /* a matrix of more ranks would be too wide */

/* Returns the highest rank that sent or received messages; -1: there is none. */
int32_t job_highest_rank(const struct job *job);
/*
 * Returns the senders and receivers of messages. The caller frees them; NULL: no memory. Where a
 * matrix would be too wide, they are sorted by bytes, most first, and cut to the query's limit.
 */
struct call_link *job_links(const struct job *job, uint32_t *nr);

/*
 * Whether an ordinary report shows calls, too. A report of some CPUs does not, because the CPU of a
 * call is unknown.
 */
bool job_has_calls(const struct trace *trace, const struct view_query *query);
#endif
