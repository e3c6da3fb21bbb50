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
	double weight;
	uint64_t time;   /* 0: no sample yet */
	uint32_t passed; /* gaps of the recording that began before it */
	uint64_t gaps;   /* so far: where a tick may have met the other side of the system */
};

/* The differences of all streams in one tick, for one sum. */
struct error_tick {
	uint64_t tick;
	double difference;
};

static double square(double x)
{
	return x * x;
}

/* Notes when the event's gaps begin. Those of several processes are in the order of all. */
static int find_gaps(struct error_bars *bars)
{
	const struct trace_gap *gap;

	bars->gaps = calloc(trace_nr(bars->trace, TRACE_GAPS) + 1UL, sizeof(*bars->gaps));
	for (uint32_t i = 0; bars->gaps && (gap = trace_gap(bars->trace, i)); i++)
		if (gap->event == bars->event)
			bars->gaps[bars->nr_gaps++] = gap->from;
	return bars->gaps ? 0 : -ENOMEM;
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
	ticks_init(&bars->ticks, trace, event);
	if (find_gaps(bars))
		return -ENOMEM;
	if (bars->by_cpu)
		bars->nr_streams = bars->nr_cpus;
	else
		bars->cpus = calloc(bars->nr_cpus, sizeof(*bars->cpus));
	bars->streams = calloc(bars->nr_streams, sizeof(*bars->streams));
	return bars->streams && (bars->by_cpu || bars->cpus) ? 0 : -ENOMEM;
}

void error_bars_fini(struct error_bars *bars)
{
	free(bars->gaps);
	free(bars->streams);
	free(bars->cpus);
	free(bars->sums);
	free(bars->unfinished);
	*bars = (struct error_bars){0};
}

/* The last place of an array is for all that are behind it. */
static struct error_stream *stream_at(struct error_stream *streams, uint32_t number, uint32_t nr)
{
	return &streams[number < nr ? number : nr - 1];
}

static size_t first_sum(const struct error_bars *bars, uint32_t row)
{
	return (size_t)row * bars->nr_sums;
}

static size_t sum_of(const struct error_bars *bars, uint32_t row, bool by_cpu)
{
	return first_sum(bars, row) + by_cpu;
}

static size_t gaps_of(const struct error_bars *bars, uint32_t row)
{
	return first_sum(bars, row) + bars->nr_sums - 1;
}

static void finish_tick(struct error_bars *bars, size_t sum)
{
	bars->sums[sum] += square(bars->unfinished[sum].difference);
	bars->unfinished[sum] = (struct error_tick){.tick = bars->tick};
}

/* Adds the square of a difference, or of what it and others of the same tick add up to. */
static void add_difference(struct error_bars *bars, size_t sum, double difference)
{
	if (!bars->unfinished) {
		bars->sums[sum] += square(difference);
		return;
	}
	if (bars->unfinished[sum].tick != bars->tick)
		finish_tick(bars, sum);
	bars->unfinished[sum].difference += difference;
}

/* The difference between a stream's latest sample and its next one, added to one of the sums. */
static void stream_step(struct error_bars *bars, struct error_stream *stream, uint32_t row,
                        double weight, bool by_cpu)
{
	if (stream->row == row + 1) {
		if (weight != stream->weight)
			add_difference(bars, sum_of(bars, row, by_cpu), weight - stream->weight);
	} else {
		if (stream->row)
			add_difference(bars, sum_of(bars, stream->row - 1, by_cpu),
			               -stream->weight);
		if (row != ERROR_BARS_NONE)
			add_difference(bars, sum_of(bars, row, by_cpu), weight);
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
		add_difference(bars, gaps_of(bars, row), (double)sample->weight);
}

/* Returns how many of the gaps began up to this time. */
static uint32_t count_passed(const struct error_bars *bars, uint64_t time)
{
	return (uint32_t)ARRAY_PARTITION(bars->gaps, bars->nr_gaps, gap, *gap <= time);
}

/* A stream ends where the event was not sampled: its next sample does not follow the last one. */
static void end_at_gap(struct error_bars *bars, struct error_stream *stream, uint64_t time,
                       bool by_cpu)
{
	uint32_t passed = count_passed(bars, time);

	if (stream->passed == passed)
		return;
	stream_step(bars, stream, ERROR_BARS_NONE, 0, by_cpu);
	stream->passed = passed;
	stream->time = 0;
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

/* Adds a row, and those before it that have no samples yet. */
static int add_rows(struct error_bars *bars, uint32_t row)
{
	size_t first = first_sum(bars, bars->nr), end = first_sum(bars, row + 1);

	if (ARRAY_RESERVE(bars->sums, bars->room, end))
		return -ENOMEM;
	memset(bars->sums + first, 0, (end - first) * sizeof(*bars->sums));
	if (ticks_known(&bars->ticks)) {
		if (ARRAY_RESERVE(bars->unfinished, bars->unfinished_room, end))
			return -ENOMEM;
		memset(bars->unfinished + first, 0, (end - first) * sizeof(*bars->unfinished));
	}
	bars->nr = row + 1;
	return 0;
}

void error_bars_prefetch(const struct error_bars *bars, uint32_t row)
{
	if (row >= bars->nr)
		return;
	__builtin_prefetch(&bars->sums[first_sum(bars, row)], 1);
	if (bars->unfinished)
		__builtin_prefetch(&bars->unfinished[first_sum(bars, row)], 1);
}

int error_bars_step(struct error_bars *bars, const struct trace_sample *sample, uint32_t row,
                    double weight)
{
	struct error_stream *stream = stream_of(bars, sample);
	struct error_stream *cpu =
		bars->cpus ? stream_at(bars->cpus, sample->cpu, bars->nr_cpus) : NULL;

	if (ticks_known(&bars->ticks))
		bars->tick = ticks_at(&bars->ticks, sample->time);
	if (row != ERROR_BARS_NONE) {
		if (row >= bars->nr && add_rows(bars, row))
			return -ENOMEM;
		bars->max_weight = fmax(bars->max_weight, fabs(weight));
	}
	if (bars->nr_gaps) {
		end_at_gap(bars, stream, sample->time, false);
		if (cpu)
			end_at_gap(bars, cpu, sample->time, true);
	}
	if (bars->one_sided)
		note_gap(bars, stream, sample, row);
	stream_step(bars, stream, row, weight, false);
	if (cpu)
		stream_step(bars, cpu, row, weight, true);
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
	bars->tick = UINT64_MAX;
	for (uint32_t i = 0; i < bars->nr_streams; i++)
		stream_step(bars, &bars->streams[i], ERROR_BARS_NONE, 0, false);
	for (uint32_t i = 0; bars->cpus && i < bars->nr_cpus; i++)
		stream_step(bars, &bars->cpus[i], ERROR_BARS_NONE, 0, true);
	for (size_t sum = 0; bars->unfinished && sum < first_sum(bars, bars->nr); sum++)
		finish_tick(bars, sum);
}

double error_bars_variance(const struct error_bars *bars, uint32_t row)
{
	double streams = 0, cpus = 0;

	if (bars->has_all)
		return 0;
	if (row < bars->nr) {
		streams = bars->sums[sum_of(bars, row, false)] / 2;
		if (bars->one_sided)
			streams += bars->gap_share * bars->sums[gaps_of(bars, row)];
		cpus = bars->cpus ? bars->sums[sum_of(bars, row, true)] / 2 : 0;
	}
	return square(bars->max_weight) + fmax(streams, cpus);
}

double error_bars_runs(const struct error_bars *bars, uint32_t thread)
{
	double gaps = bars->by_cpu ? 0 : (double)bars->streams[thread].gaps;

	return 1 + bars->gap_share * gaps;
}
