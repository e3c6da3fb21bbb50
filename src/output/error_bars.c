#include "output/error_bars.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_ROOM 64

/* Its latest sample: the row is open until the next one tells. */
struct error_stream {
	uint32_t row; /* + 1; 0: none */
	uint64_t weight;
};

static double square(double x)
{
	return x * x;
}

int error_bars_init(struct error_bars *bars, const struct trace *trace, uint32_t event)
{
	*bars = (struct error_bars){
		.trace = trace,
		.event = event,
		.by_cpu = trace_run(trace)->flags & TRACE_RUN_CGROUP,
	};
	/* One more: for numbers that a file makes up. */
	bars->nr_streams = (bars->by_cpu ? trace_nr_cpus(trace) : trace_nr_threads(trace)) + 1;
	bars->streams = calloc(bars->nr_streams, sizeof(*bars->streams));
	return bars->streams ? 0 : -ENOMEM;
}

void error_bars_fini(struct error_bars *bars)
{
	free(bars->streams);
	free(bars->rows);
	*bars = (struct error_bars){0};
}

/* The last place of an array is for all that are behind it. */
static struct error_stream *stream_at(struct error_stream *streams, uint32_t number, uint32_t nr)
{
	return &streams[number < nr ? number : nr - 1];
}

/* The difference between a stream's latest sample and its next one. */
static void stream_step(struct error_bars *bars, struct error_stream *stream, uint32_t row,
                        uint64_t weight)
{
	if (stream->row == row + 1) {
		if (weight != stream->weight)
			bars->rows[row] += square((double)weight - (double)stream->weight) / 2;
	} else {
		if (stream->row)
			bars->rows[stream->row - 1] += square((double)stream->weight) / 2;
		if (row != ERROR_BARS_NONE)
			bars->rows[row] += square((double)weight) / 2;
	}
	stream->row = row + 1;
	stream->weight = weight;
}

static int make_room(struct error_bars *bars, uint32_t row)
{
	uint32_t room = bars->room ? bars->room : LEAST_ROOM;
	double *grown;

	while (room <= row)
		room *= 2;
	grown = reallocarray(bars->rows, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + bars->room, 0, (room - bars->room) * sizeof(*grown));
	bars->rows = grown;
	bars->room = room;
	return 0;
}

int error_bars_step(struct error_bars *bars, const struct trace_sample *sample, uint32_t row,
                    uint64_t weight)
{
	uint32_t number = bars->by_cpu ? sample->cpu : sample->thread;

	if (row != ERROR_BARS_NONE) {
		if (row >= bars->room && make_room(bars, row))
			return -ENOMEM;
		if (weight > bars->max_weight)
			bars->max_weight = weight;
	}
	stream_step(bars, stream_at(bars->streams, number, bars->nr_streams), row, weight);
	return 0;
}

/* The kernel's own total has no occurrence that is no sample. */
static bool has_all(const struct error_bars *bars)
{
	const struct trace_event *event = trace_event(bars->trace, bars->event);

	return bars->max_weight == 1 && event->stored == event->exact;
}

void error_bars_end(struct error_bars *bars)
{
	bars->has_all = has_all(bars);
	for (uint32_t i = 0; i < bars->nr_streams; i++)
		stream_step(bars, &bars->streams[i], ERROR_BARS_NONE, 0);
}

double error_bars_variance(const struct error_bars *bars, uint32_t row)
{
	if (bars->has_all)
		return 0;
	return square((double)bars->max_weight) + (row < bars->room ? bars->rows[row] : 0);
}
