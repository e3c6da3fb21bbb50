/* A recording for the model of top: a live trace, whose functions have no names. */
#ifndef TEST_LIVE_RECORDING_H
#define TEST_LIVE_RECORDING_H

#include "output/screen/top_model.h"

static int live_recording_update(void *live)
{
	return live_trace_update(live);
}

static void live_recording_choose(void *live, uint64_t from, uint64_t max)
{
	live_trace_choose(live, from, max);
}

static int live_recording_choose_window(void *live, uint32_t number)
{
	return live_trace_choose_window(live, number);
}

static const struct trace *live_recording_trace(void *live)
{
	return live_trace_of(live);
}

static enum live_state live_recording_state(void *live)
{
	return live_trace_state(live);
}

static struct recording_state live_recording_recorder(void *live)
{
	return live_trace_recorder(live);
}

static bool live_recording_name(void *live, const struct profile *profile, bool patient)
{
	(void)live;
	(void)profile;
	(void)patient;
	return false;
}

static void live_recording_add_names(void *live, const struct profile *profile)
{
	(void)live;
	(void)profile;
}

/* The caller keeps the path. */
static inline struct top_recording live_recording(struct live_trace *live, const char *path,
                                                  uint64_t interval)
{
	return (struct top_recording){
		.update = live_recording_update,
		.choose = live_recording_choose,
		.choose_window = live_recording_choose_window,
		.trace = live_recording_trace,
		.state = live_recording_state,
		.recorder = live_recording_recorder,
		.name = live_recording_name,
		.add_names = live_recording_add_names,
		.arg = live,
		.path = path,
		.interval = interval,
	};
}

#endif
