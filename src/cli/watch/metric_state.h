/* The metrics of terms, for the files that read them. */
#ifndef CLI_WATCH_METRIC_STATE_H
#define CLI_WATCH_METRIC_STATE_H

#include "base/map64.h"
#include "cli/watch/condition.h"
#include "cli/watch/median.h"
#include "cli/watch/metrics.h"
#include "hmb/limits.h"
#include "trace/new_calls.h"
#include "trace/trace.h"

#include <sys/types.h>

#define METRIC_WINDOW_NS ((uint64_t)1000000000)
#define METRIC_DELAY_NS  ((uint64_t)200000000)
#define METRIC_STEP_NS   ((uint64_t)10000000) /* between moments */
#define METRIC_MOMENTS   64 /* of one look; if it was late, they are farther apart */
#define HISTORY_SIZE     32

/* The total of something over time, from which its rate in the last second follows. */
struct metric_history {
	uint64_t times[HISTORY_SIZE];
	double totals[HISTORY_SIZE];
	unsigned nr;
};

/* Returns whether it is known: a total of long enough ago is there. */
bool metric_history_rate(struct metric_history *history, uint64_t now, double total, double *rate);

/* A term, with all that is known of its metric. */
struct metric_term {
	const struct condition_term *term;
	struct reading *reading;
	struct median *median;
	unsigned share; /* number of a share among the shares */
};

/* The last look at a row of TRACE_CALL_SUMS. */
struct metric_row {
	uint64_t calls, time, longest;
	struct trace_value_sum values;
};

struct metric_calls {
	struct new_calls seen;
	struct metric_row *rows;
	uint32_t nr_rows;
	uint64_t from;  /* calls that were left earlier are known; 0: this is the first look */
	uint64_t start; /* of the recording; it changes when the recording is reset */
	struct metric_history mpi;
};

struct metrics {
	struct metric_term *terms;
	struct reading *readings; /* of all terms, in order */
	unsigned *first;          /* of each condition */
	unsigned nr_terms, nr_shares;
	bool has[NR_METRICS];
	/* Ends of the windows since the last look, and the one that is chosen. */
	uint64_t moments[METRIC_MOMENTS];
	unsigned nr_moments, moment;
	/* Weights in each of these windows. */
	double weights[HMB_MAX_KINDS][METRIC_MOMENTS + 1];
	double shares[METRICS_MAX_SHARES][METRIC_MOMENTS + 1];
	bool whole;          /* the windows are: none begins before the recording */
	double nameless;     /* weight in functions that have no name yet, in the last window */
	double matters;      /* share of them from which on a condition may depend on their names */
	struct map64 frames; /* a bit for each share whose pattern a frame matches, or NAMELESS */
	const struct trace *trace;
	struct watched *watched;
	struct metric_calls calls;
	struct metric_history cpu;
};

/* The metric has one value at this look. */
void metric_set(struct metric_term *term, double value);
/* One of several values; forget: it does not count for the median. */
void metric_add(struct metric_term *term, double value, bool forget);

/* Reads mpi, time() and value(). 0, -ENOMEM, -EBADMSG. */
int metric_calls_read(struct metrics *metrics);
void metric_calls_fini(struct metric_calls *calls);

/* Reads rss, and cpu where no clock is sampled. */
int metric_processes_read(struct metrics *metrics);
/* Finds the limit of rss or cpu, if the term compares with it; pid 0: the machine's. */
void metric_find_limit(struct metric_term *term, pid_t pid);

/* Returns the name of the first event that is a clock; NULL: there is none. */
const char *metric_clock(const struct trace *trace);

#endif
