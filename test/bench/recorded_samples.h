/* The samples of a recorded program, as a buffer takes them. */
#ifndef RECORDED_SAMPLES_H
#define RECORDED_SAMPLES_H

#include "hmb/hmb.h"
#include "trace/trace.h"

enum { RECORDED_MAX_PATH = 1024 };

/* Returns the unit of times that a recorder chooses for the first event, as a shift. */
static inline unsigned recorded_time_shift(const struct trace *trace)
{
	unsigned shift = 0;

	while (trace_event(trace, 0)->base_period >> shift > 724)
		shift++;
	return shift;
}

static uint64_t recorded_period(const struct trace *trace, const struct trace_sample *sample)
{
	const struct trace_stream *stream;

	for (uint32_t i = 0; (stream = trace_stream(trace, i)); i++)
		if (stream->event == sample->event &&
		    (stream->cpu == sample->cpu || stream->cpu == UINT32_MAX))
			return stream->base_period;
	return 0;
}

/* Returns the number of frames of a sample's stack that are kept: the leaf and its path. */
static inline size_t recorded_stack(const struct trace *trace, const struct trace_sample *sample,
                                    uint64_t frames[RECORDED_MAX_PATH])
{
	size_t nr = trace_stack(trace, sample, frames, RECORDED_MAX_PATH);

	return nr < RECORDED_MAX_PATH ? nr : RECORDED_MAX_PATH;
}

/* The caller keeps the frames, nr of recorded_stack(). */
static inline struct hmb_sample recorded_sample(const struct trace *trace,
                                                const struct trace_sample *sample,
                                                const uint64_t *frames, size_t nr)
{
	return (struct hmb_sample){
		.level = sample->level,
		.time = sample->time,
		.step = recorded_period(trace, sample) << (sample->level + 1) % 64,
		.thread = sample->thread,
		.cpu = sample->cpu,
		.leaf = frames[0],
		.path = frames + 1,
		.path_size = (unsigned)nr - 1,
	};
}

#endif
