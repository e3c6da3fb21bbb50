#include "output/profile/error_bars.h"

#include "output/profile/clock_sides.h"
#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Its latest sample: the row is open until the next one tells. */
struct error_stream {
	uint32_t row; /* + 1; 0: none */
	uint64_t weight;
	uint64_t time; /* 0: no sample yet */
	uint64_t gaps; /* so far: where a tick may have met the other side of the system */
};

static double square(double x)
{
	return x * x;
}

int error_bars_init(struct error_bars *bars, const struct trace *trace, uint32_t event)
{
	/* One more of each: for numbers that a file makes up. */
	*bars = (struct error_bars){
		.trace = trace,
		.event = event,
		.by_cpu = trace_run(trace)->flags & TRACE_RUN_CGROUP,
		.one_sided = clock_sides(trace, trace_event(trace, event)) != CLOCK_BOTH,
		.nr_cpus = trace_nr_cpus(trace) + 1,
		.nr_streams = trace_nr(trace, TRACE_THREADS) + 1,
	};
	bars->nr_sums = 1u + !bars->by_cpu + bars->one_sided;
	if (bars->by_cpu)
		bars->nr_streams = bars->nr_cpus;
	else
		bars->cpus = calloc(bars->nr_cpus, sizeof(*bars->cpus));
	bars->streams = calloc(bars->nr_streams, sizeof(*bars->streams));
	return bars->streams && (bars->by_cpu || bars->cpus) ? 0 : -ENOMEM;
}

void error_bars_fini(struct error_bars *bars)
{
	free(bars->streams);
	free(bars->cpus);
	free(bars->sums);
	*bars = (struct error_bars){0};
}

/* The last place of an array is for all that are behind it. */
static struct error_stream *stream_at(struct error_stream *streams, uint32_t number, uint32_t nr)
{
	return &streams[number < nr ? number : nr - 1];
}

static double *sums_of(const struct error_bars *bars, uint32_t row)
{
	return &bars->sums[(size_t)row * bars->nr_sums];
}

static double *sum_of(const struct error_bars *bars, uint32_t row, bool by_cpu)
{
	return sums_of(bars, row) + by_cpu;
}

static double *gaps_of(const struct error_bars *bars, uint32_t row)
{
	return sums_of(bars, row) + bars->nr_sums - 1;
}

/* The difference between a stream's latest sample and its next one, added to one of the sums. */
static void stream_step(struct error_bars *bars, struct error_stream *stream, uint32_t row,
                        uint64_t weight, bool by_cpu)
{
	if (stream->row == row + 1) {
		if (weight != stream->weight)
			*sum_of(bars, row, by_cpu) +=
				square((double)weight - (double)stream->weight) / 2;
	} else {
		if (stream->row)
			*sum_of(bars, stream->row - 1, by_cpu) +=
				square((double)stream->weight) / 2;
		if (row != ERROR_BARS_NONE)
			*sum_of(bars, row, by_cpu) += square((double)weight) / 2;
	}
	stream->row = row + 1;
	stream->weight = weight;
}

/* Where a tick may have met the other side, before a sample of a row or of none. */
static void note_gap(struct error_bars *bars, struct error_stream *stream,
                     const struct trace_sample *sample, uint32_t row)
{
	bool gap = stream->time && sample->time > stream->time + sample->weight * 3 / 2;

	bars->weight += sample->weight;
	stream->time = sample->time;
	if (!gap)
		return;
	stream->gaps++;
	if (row != ERROR_BARS_NONE && stream->row == row + 1)
		*gaps_of(bars, row) += square((double)sample->weight);
}

static struct error_stream *stream_of(const struct error_bars *bars,
                                      const struct trace_sample *sample)
{
	return stream_at(bars->streams, bars->by_cpu ? sample->cpu : sample->thread,
	                 bars->nr_streams);
}

bool error_bars_goes_on(const struct error_bars *bars, const struct trace_sample *sample,
                        uint32_t row)
{
	return stream_of(bars, sample)->row == row + 1;
}

/* A row that is not there yet, and those before it; what is behind them stays untouched. */
static int add_rows(struct error_bars *bars, uint32_t row)
{
	if (ARRAY_RESERVE(bars->sums, bars->room, ((size_t)row + 1) * bars->nr_sums))
		return -ENOMEM;
	memset(sums_of(bars, bars->nr), 0,
	       (row + 1 - bars->nr) * bars->nr_sums * sizeof(*bars->sums));
	bars->nr = row + 1;
	return 0;
}

void error_bars_prefetch(const struct error_bars *bars, uint32_t row)
{
	if (row < bars->nr)
		__builtin_prefetch(sums_of(bars, row), 1);
}

int error_bars_step(struct error_bars *bars, const struct trace_sample *sample, uint32_t row,
                    uint64_t weight)
{
	struct error_stream *stream = stream_of(bars, sample);

	if (row != ERROR_BARS_NONE) {
		if (row >= bars->nr && add_rows(bars, row))
			return -ENOMEM;
		if (weight > bars->max_weight)
			bars->max_weight = weight;
	}
	if (bars->one_sided)
		note_gap(bars, stream, sample, row);
	stream_step(bars, stream, row, weight, false);
	if (bars->cpus)
		stream_step(bars, stream_at(bars->cpus, sample->cpu, bars->nr_cpus), row, weight,
		            true);
	return 0;
}

/* The kernel's own total has no occurrence that is no sample. */
static bool has_all(const struct error_bars *bars)
{
	const struct trace_event *event = trace_event(bars->trace, bars->event);

	return bars->max_weight == 1 && event->stored == event->exact;
}

/*
 * Returns the share of the gaps that are ticks, over the whole run, whichever part of it is in
 * rows. It is 1 where the exact total is unknown.
 */
static double gap_share(const struct error_bars *bars)
{
	const struct trace_event *event = trace_event(bars->trace, bars->event);
	double missing = (double)event->exact - (double)bars->weight, gaps = 0;

	for (uint32_t i = 0; i < bars->nr_streams; i++)
		gaps += (double)bars->streams[i].gaps;
	missing /= (double)trace_period(event, trace_shift(event));
	return !event->exact || missing > gaps ? 1 : fmax(missing, 0) / fmax(gaps, 1);
}

void error_bars_end(struct error_bars *bars)
{
	bars->has_all = has_all(bars);
	if (bars->one_sided)
		bars->gap_share = gap_share(bars);
	for (uint32_t i = 0; i < bars->nr_streams; i++)
		stream_step(bars, &bars->streams[i], ERROR_BARS_NONE, 0, false);
	for (uint32_t i = 0; bars->cpus && i < bars->nr_cpus; i++)
		stream_step(bars, &bars->cpus[i], ERROR_BARS_NONE, 0, true);
}

double error_bars_variance(const struct error_bars *bars, uint32_t row)
{
	double streams = 0, cpus = 0;

	if (bars->has_all)
		return 0;
	if (row < bars->nr) {
		streams = *sum_of(bars, row, false);
		streams += bars->one_sided ? bars->gap_share * *gaps_of(bars, row) : 0;
		cpus = bars->cpus ? *sum_of(bars, row, true) : 0;
	}
	return square((double)bars->max_weight) + fmax(streams, cpus);
}

double error_bars_runs(const struct error_bars *bars, uint32_t thread)
{
	double gaps = bars->by_cpu ? 0 : (double)bars->streams[thread].gaps;

	return 1 + bars->gap_share * gaps;
}
