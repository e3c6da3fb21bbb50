/*
 * How uncertain the weights of rows are. A row's weight is the sum of some of an event's samples.
 *
 * Samples are evenly spaced and programs have phases, so the variance of a row's weight is
 * estimated from successive differences within each stream:
 *
 *     Var = w² + ½ Σ over streams Σ over i = 1 … n + 1 of (w_i y_i − w_(i−1) y_(i−1))²
 *
 * where y_i says whether sample i is in the row, and is 0 beyond both ends. With one weight w in a
 * stream the inner sum adds w² wherever y changes. y starts and ends as 0, so it changes twice for
 * every run of successive samples in the row: Var = w² + Σ over streams of w² · runs. The leading
 * w² is of the event's largest weight; it keeps a single sample from looking certain. Where every
 * occurrence of an event was a sample, and is one still, all is certain: Var = 0.
 *
 * A stream is an event on a CPU, or of a thread where events are inherited. But threads that were
 * inherited from one may pass them on, and with them what is left of a period, when they take turns
 * on a CPU. So there the sum is made over CPUs as well, and the larger one counts.
 *
 * A clock that was sampled on one side of the system alone, user or kernel, leaves no sample where
 * it ticks on the other side, and both samples around it may be of one function. A gap in the
 * stream's times ends a run there, too, if only in part: threads that wait leave gaps as well, and
 * no more of them were ticks than the exact total lacks samples.
 *
 * In a recording in step, CPUs that do the same are seen doing it at the same instant, and their
 * differences do not average out. So the differences of all streams in one tick (see ticks.h) are
 * added up before they are squared:
 *
 *     Var = w² + ½ Σ over ticks (Σ over its samples, i of a stream, w_i y_i − w_(i−1) y_(i−1))²
 *
 * Where CPUs have nothing to do with each other, this is the sum above on average. A row keeps one
 * sum that is not squared yet, for samples come in the order of their times.
 */
#ifndef OUTPUT_PROFILE_ERROR_BARS_H
#define OUTPUT_PROFILE_ERROR_BARS_H

#include "output/profile/ticks.h"
#include "trace/trace.h"

#define ERROR_BARS_NONE UINT32_MAX

struct error_bars {
	const struct trace *trace;
	uint32_t event;
	bool by_cpu;    /* streams */
	bool one_sided; /* a clock sampled on one side: ticks on the other side may leave gaps */
	bool has_all;   /* every occurrence of the event is a sample; known at the end */
	struct error_stream *streams;
	struct error_stream *cpus; /* NULL: they are the streams */
	uint32_t nr_streams, nr_cpus;
	uint64_t *gaps; /* when times began in which the event was not sampled, ascending */
	uint32_t nr_gaps;
	/*
	 * For each row up to three sums: over streams; over CPUs, where CPUs are not the streams;
	 * over gaps in streams of a one-sided clock, as if each gap was a tick.
	 */
	double *sums;
	size_t room;                   /* sums */
	struct ticks ticks;            /* known of a recording in step alone */
	uint64_t tick;                 /* that the latest sample is in */
	struct error_tick *unfinished; /* by sum: its differences in one tick; NULL: not in step */
	size_t unfinished_room;
	unsigned nr_sums;  /* of a row */
	uint32_t nr;       /* rows that were asked for */
	uint64_t weight;   /* of all samples, in a row or not */
	double max_weight; /* of one sample, as it was added to a row */
	double gap_share;  /* the share of the gaps that are ticks */
};

/* Returns 0 or -ENOMEM; call error_bars_fini() in either case. */
int error_bars_init(struct error_bars *bars, const struct trace *trace, uint32_t event);
void error_bars_fini(struct error_bars *bars);

/*
 * Adds a sample of the event, in the order of a walk, with its weight in the row, which may be
 * negative. ERROR_BARS_NONE: the sample is in no row, which ends a run of samples in one. Returns 0
 * or -ENOMEM.
 */
int error_bars_step(struct error_bars *bars, const struct trace_sample *sample, uint32_t row,
                    double weight);

/*
 * Whether the stream's previous sample is in the same row. It must be called before
 * error_bars_step() adds this sample.
 */
bool error_bars_goes_on(const struct error_bars *bars, const struct trace_sample *sample,
                        uint32_t row);

/* Prefetches the sums of a row that the next steps use. */
void error_bars_prefetch(const struct error_bars *bars, uint32_t row);

/*
 * Ends the sums, after the last sample. error_bars_variance() and error_bars_runs() need it.
 * The streams end together.
 */
void error_bars_end(struct error_bars *bars);
/* Returns the variance of a row's weight. The row may have no samples. */
double error_bars_variance(const struct error_bars *bars, uint32_t row);
/* Returns the number of runs that all samples of a thread form, where threads are streams. */
double error_bars_runs(const struct error_bars *bars, uint32_t thread);

#endif
