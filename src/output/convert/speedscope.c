/*
 * speedscope's own format: one sampled profile for every thread and event or counter, all with the
 * same table of functions. A run of samples with one stack is written as one with their weight. A
 * thread's instrumented calls are a further, "evented" profile: frames that open and close. Markers
 * and values take no time, and have no place there.
 */
#include "output/convert/convert.h"
#include "output/text/json_writer.h"
#include "output/convert/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct speedscope {
	struct conversion *conversion;
	struct spool *spool;
	const struct paths *paths; /* the spool's */
	struct json_writer json;
	uint32_t *depths, *chain;
	bool *seen;         /* by event, in the thread at hand */
	uint32_t nr_events; /* counters have the numbers behind them */
};

/* Samples of one event and thread, that follow each other and have one stack. */
struct run {
	uint32_t path;
	uint64_t weight;
};

struct runs {
	struct spool *spool;
	uint32_t event, nr_events;
	struct run next;
	bool started, ended;
};

static void runs_open(struct runs *runs, const struct speedscope *speedscope, uint32_t thread,
                      uint32_t event)
{
	*runs = (struct runs){
		.spool = speedscope->spool,
		.event = event,
		.nr_events = speedscope->nr_events,
	};
	spool_open(runs->spool, thread);
}

/*
 * Returns the weight of a sample in the profile of an event or of a counter; 0: the sample is not
 * in it.
 */
static uint64_t weight_of(const struct runs *runs, const struct spool_sample *sample)
{
	const struct spool_rate *rate = &runs->spool->rates[sample->rate];

	if (runs->event < runs->nr_events)
		return rate->event == runs->event ? rate->weight : 0;
	return rate->event ? 0 : spool_counters(runs->spool)[runs->event - runs->nr_events];
}

/* 1 with a run, 0 at the end, -errno. */
static int runs_next(struct runs *runs, struct run *run)
{
	struct spool_sample sample;
	int got = 0;

	while (!runs->ended && (got = spool_next(runs->spool, &sample)) == 1) {
		uint64_t weight = weight_of(runs, &sample);
		struct run done = runs->next;

		if (!weight)
			continue;
		if (runs->started && sample.path == done.path) {
			runs->next.weight += weight;
			continue;
		}
		runs->next = (struct run){sample.path, weight};
		if (runs->started) {
			*run = done;
			return 1;
		}
		runs->started = true;
	}
	if (got < 0 || runs->ended || !runs->started)
		return got;
	runs->ended = true;
	*run = runs->next;
	return 1;
}

/* --- one profile ------------------------------------------------------------------------------ */

static void begin_profile(struct json_writer *json, const char *type, const char *name,
                          const char *unit)
{
	json_break(json);
	json_begin(json, NULL);
	json_text(json, "type", type);
	json_text(json, "name", name);
	json_text(json, "unit", unit);
	json_number(json, "startValue", 0);
}

/* Ends the list that came last, too. */
static void end_profile(struct json_writer *json, uint64_t end)
{
	json_end_list(json);
	json_break(json);
	json_number(json, "endValue", end);
	json_end(json);
}

static void put_stack(struct speedscope *speedscope, uint32_t path)
{
	uint32_t depth = speedscope->depths[path], at = depth;

	for (; path != PATH_NONE; path = paths_caller(speedscope->paths, path))
		speedscope->chain[--at] = paths_leaf(speedscope->paths, path);
	json_begin_list(&speedscope->json, NULL);
	for (; at < depth; at++)
		json_number(&speedscope->json, NULL, speedscope->chain[at]);
	json_end_list(&speedscope->json);
}

static int put_samples(struct speedscope *speedscope, uint32_t thread, uint32_t event)
{
	struct runs runs;
	struct run run;
	int got, err;

	runs_open(&runs, speedscope, thread, event);
	while ((got = runs_next(&runs, &run)) == 1) {
		json_break_between(&speedscope->json);
		put_stack(speedscope, run.path);
		err = convert_step(speedscope->conversion);
		if (err)
			return err;
	}
	return got;
}

static int put_weights(struct speedscope *speedscope, uint32_t thread, uint32_t event,
                       uint64_t *total)
{
	struct runs runs;
	struct run run;
	int got;

	*total = 0;
	runs_open(&runs, speedscope, thread, event);
	while ((got = runs_next(&runs, &run)) == 1) {
		json_number(&speedscope->json, NULL, run.weight);
		*total += run.weight;
	}
	return got;
}

static int put_profile(struct speedscope *speedscope, uint32_t thread, uint32_t event)
{
	const struct trace *trace = speedscope->conversion->trace;
	const struct trace_event *entry = trace_event(trace, event);
	const struct trace_counter *counter =
		entry ? NULL : trace_counter(trace, event - speedscope->nr_events);
	uint32_t unit = entry ? entry->unit : counter ? counter->unit : TRACE_COUNT;
	char text[CONVERT_TEXT_SIZE];
	struct json_writer *json = &speedscope->json;
	uint64_t total;
	int err;

	convert_thread_text(trace, thread, entry ? event : 0, text);
	if (counter)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ": %.64s",
		         trace_string(trace, counter->name));
	begin_profile(json, "sampled", text, unit == TRACE_NS ? "nanoseconds" : "none");
	json_begin_list(json, "samples");
	json_break(json);
	err = put_samples(speedscope, thread, event);
	if (err)
		return err;
	json_end_list(json);
	json_break(json);
	json_begin_list(json, "weights");
	err = put_weights(speedscope, thread, event, &total);
	end_profile(json, total);
	return err;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The profile of a thread's calls on its way. */
struct events {
	const struct spool *spool;
	struct json_writer *json;
	uint32_t thread;
	bool any;
	uint64_t last; /* the time of the last one */
};

/* Before the first event: of a thread may be only marks and values, which make none. */
static void begin_calls(const struct events *events)
{
	char text[CONVERT_TEXT_SIZE];

	convert_thread_text(events->spool->paths.trace, events->thread, 0, text);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ": calls");
	begin_profile(events->json, "evented", text, "nanoseconds");
	json_begin_list(events->json, "events");
	json_break(events->json);
}

static void put_event(void *arg, const struct call_moment *moment)
{
	struct events *events = arg;
	const struct paths *paths = &events->spool->paths;
	struct json_writer *json = events->json;

	if (moment->type == CALL_POINT || !trace_region(paths->trace, moment->call->region))
		return;
	if (!events->any)
		begin_calls(events);
	events->any = true;
	events->last = moment->time - events->spool->calls->first_time;
	json_break_between(json);
	json_begin(json, NULL);
	json_text(json, "type", moment->type == CALL_ENTERED ? "O" : "C");
	json_number(json, "frame", paths->names.nr_functions + moment->call->region);
	json_number(json, "at", events->last);
	json_end(json);
}

static int put_calls(struct speedscope *speedscope, uint32_t thread)
{
	struct events events = {speedscope->spool, &speedscope->json, thread, false, 0};
	int err;

	if (!spool_has_calls(speedscope->spool, thread))
		return 0;
	err = spool_tell_calls(speedscope->spool, thread, put_event, &events);
	if (events.any)
		end_profile(&speedscope->json, events.last);
	return err;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Puts the functions, and behind them the regions. */
static void put_frames(struct speedscope *speedscope)
{
	const struct paths *paths = speedscope->paths;
	struct json_writer *json = &speedscope->json;
	char text[FRAME_TEXT_SIZE];

	json_begin_list(json, "frames");
	for (uint32_t i = 0; i < paths->names.nr_functions; i++) {
		json_break(json);
		json_begin(json, NULL);
		json_text(json, "name", paths_function(paths, i, text));
		if (paths_name(paths, i)->module)
			json_text(json, "file", paths_module(paths, i));
		json_end(json);
	}
	for (uint32_t i = 0; trace_region(paths->trace, i); i++) {
		json_break(json);
		json_begin(json, NULL);
		json_text(json, "name", trace_region_name(paths->trace, i));
		json_end(json);
	}
	json_end_list(json);
}

/* Returns the largest number of profiles that a thread can have. */
static uint32_t nr_profiles(const struct speedscope *speedscope)
{
	return speedscope->nr_events + speedscope->spool->nr_counters;
}

static int find_events(struct speedscope *speedscope, uint32_t thread)
{
	struct spool_sample sample;
	int got;

	memset(speedscope->seen, 0, nr_profiles(speedscope) * sizeof(*speedscope->seen));
	spool_open(speedscope->spool, thread);
	while ((got = spool_next(speedscope->spool, &sample)) == 1) {
		speedscope->seen[speedscope->spool->rates[sample.rate].event] = true;
		for (uint32_t i = 0; i < speedscope->spool->nr_counters; i++)
			if (spool_counters(speedscope->spool)[i])
				speedscope->seen[speedscope->nr_events + i] = true;
	}
	return got;
}

static int put_thread(struct speedscope *speedscope, uint32_t thread)
{
	int err = find_events(speedscope, thread);

	for (uint32_t i = 0; i < nr_profiles(speedscope) && !err; i++)
		if (speedscope->seen[i])
			err = put_profile(speedscope, thread, i);
	return err ? err : put_calls(speedscope, thread);
}

static int put_all(struct speedscope *speedscope)
{
	struct json_writer *json = &speedscope->json;
	int err;

	json_begin(json, NULL);
	json_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_break(json);
	json_text(json, "exporter", "adaptrace " ADAPTRACE_VERSION);
	err = convert_command_json(speedscope->conversion->trace, json, "name");
	json_break(json);
	json_begin(json, "shared");
	put_frames(speedscope);
	json_end(json);
	json_break(json);
	json_begin_list(json, "profiles");
	for (uint32_t i = 0; i < speedscope->spool->nr_threads && !err; i++)
		err = put_thread(speedscope, i);
	json_end_list(json);
	json_end(json);
	fputc('\n', json->to);
	return err;
}

static int prepare(struct speedscope *speedscope)
{
	uint32_t deepest;

	speedscope->spool = spool_new(speedscope->conversion, PATHS_BY_FUNCTION, TRACE_ALL_EVENTS);
	if (!speedscope->spool)
		return -errno;
	speedscope->paths = &speedscope->spool->paths;
	speedscope->nr_events = trace_nr_events(speedscope->conversion->trace);
	speedscope->seen = calloc(nr_profiles(speedscope) + 1UL, sizeof(*speedscope->seen));
	speedscope->depths = paths_depths(speedscope->paths, &deepest);
	speedscope->chain = calloc(deepest + 1, sizeof(*speedscope->chain));
	return speedscope->seen && speedscope->depths && speedscope->chain ? 0 : -ENOMEM;
}

int speedscope_write(struct conversion *conversion, FILE *file)
{
	struct speedscope speedscope = {
		.conversion = conversion,
		.json = {.to = file, .in_page = true},
	};
	int err;

	convert_plan(conversion, SPOOL_WALKS + 1, TRACE_ALL_EVENTS);
	err = prepare(&speedscope);
	if (!err && !speedscope.spool->last_time)
		err = -ENODATA; /* speedscope shows nothing of a file without profiles */
	if (!err)
		err = put_all(&speedscope);
	spool_free(speedscope.spool);
	free(speedscope.seen);
	free(speedscope.depths);
	free(speedscope.chain);
	return err;
}
