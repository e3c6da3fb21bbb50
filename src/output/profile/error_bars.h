/*
 * How uncertain weights are that are sums over some of an event's samples: rows.
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
 */
#ifndef OUTPUT_PROFILE_ERROR_BARS_H
#define OUTPUT_PROFILE_ERROR_BARS_H

#include "trace/trace.h"

#define ERROR_BARS_NONE UINT32_MAX

struct error_bars {
	const struct trace *trace;
	uint32_t event;
	bool by_cpu;    /* streams */
	bool one_sided; /* a clock: ticks may leave gaps */
	bool has_all;   /* every occurrence of the event is a sample; known at the end */
	struct error_stream *streams;
	struct error_stream *cpus; /* NULL: they are the streams */
	uint32_t nr_streams, nr_cpus;
	/* Of each row: over streams; over CPUs, where they are not the streams; over gaps in
	   streams of one side, if each was a tick. */
	double *sums;
	size_t room;         /* sums */
	unsigned nr_sums;    /* of a row */
	uint32_t nr;         /* rows that were asked for */
	uint64_t weight;     /* of all samples, in a row or not */
	uint64_t max_weight; /* of one sample, as it was added to a row */
	double gap_share;    /* which part of the gaps were ticks */
};

/* 0 or -ENOMEM; to be given to error_bars_fini() in either case. */
int error_bars_init(struct error_bars *bars, const struct trace *trace, uint32_t event);
void error_bars_fini(struct error_bars *bars);

/*
 * One sample more of the event, in the order of a walk, and by which weight it is in a row;
 * ERROR_BARS_NONE: in none, which ends a run of one. 0 or -ENOMEM.
 */
int error_bars_step(struct error_bars *bars, const struct trace_sample *sample, uint32_t row,
                    uint64_t weight);

/* Before that: whether the stream's sample before this one is in the same row. */
bool error_bars_goes_on(const struct error_bars *bars, const struct trace_sample *sample,
                        uint32_t row);

/* Asks for the memory of a row, which will be in the next steps. */
void error_bars_prefetch(const struct error_bars *bars, uint32_t row);

/* Behind the last sample: from then on the others may be asked. */
void error_bars_end(struct error_bars *bars);
/* Of a row, also of one that no sample was in. */
double error_bars_variance(const struct error_bars *bars, uint32_t row);
/* In how many runs all samples of a thread are, where it is a stream. */
double error_bars_runs(const struct error_bars *bars, uint32_t thread);

#endif
