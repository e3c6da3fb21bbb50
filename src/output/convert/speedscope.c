/*
 * speedscope's own format: one sampled profile for every thread and event or counter, all with the
 * same table of functions. A run of samples with one stack is written as one with their weight. A
 * thread's instrumented calls are a further, "evented" profile: frames that open and close. Markers
 * and values take no time, and have no place there.
 */
#include "output/convert/convert.h"
#include "output/text/escape.h"
#include "output/convert/spool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct speedscope {
	struct conversion *conversion;
	struct spool *spool;
	const struct paths *paths; /* the spool's */
	FILE *file;
	uint32_t *depths, *chain;
	bool *seen;         /* by event, in the thread at hand */
	uint32_t nr_events; /* counters have the numbers behind them */
	unsigned nr_profiles;
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
	const struct spool_source *source = &runs->spool->sources[sample->source];

	if (runs->event < runs->nr_events)
		return source->event == runs->event ? source->weight : 0;
	return source->event ? 0 : spool_counters(runs->spool)[runs->event - runs->nr_events];
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

/* Nearly all of a file is these. */
static void put_number(FILE *file, uint32_t number)
{
	char digits[10];
	unsigned at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	fwrite_unlocked(digits + at, 1, sizeof(digits) - at, file);
}

static void print_stack(const struct speedscope *speedscope, uint32_t path)
{
	uint32_t depth = speedscope->depths[path], at = depth;

	for (; path != PATH_NONE; path = paths_caller(speedscope->paths, path))
		speedscope->chain[--at] = paths_leaf(speedscope->paths, path);
	for (; at < depth; at++) {
		putc_unlocked(at ? ',' : '[', speedscope->file);
		put_number(speedscope->file, speedscope->chain[at]);
	}
	putc_unlocked(']', speedscope->file);
}

static int print_samples(struct speedscope *speedscope, uint32_t thread, uint32_t event)
{
	const char *separator = "";
	struct runs runs;
	struct run run;
	int got, err;

	runs_open(&runs, speedscope, thread, event);
	while ((got = runs_next(&runs, &run)) == 1) {
		fputs(separator, speedscope->file);
		separator = ",\n";
		print_stack(speedscope, run.path);
		err = convert_step(speedscope->conversion);
		if (err)
			return err;
	}
	return got;
}

static int print_weights(struct speedscope *speedscope, uint32_t thread, uint32_t event,
                         uint64_t *total)
{
	const char *separator = "";
	struct runs runs;
	struct run run;
	int got;

	*total = 0;
	runs_open(&runs, speedscope, thread, event);
	while ((got = runs_next(&runs, &run)) == 1) {
		fprintf(speedscope->file, "%s%" PRIu64, separator, run.weight);
		separator = ",";
		*total += run.weight;
	}
	return got;
}

static int print_profile(struct speedscope *speedscope, uint32_t thread, uint32_t event)
{
	const struct trace *trace = speedscope->conversion->trace;
	const struct trace_event *entry = trace_event(trace, event);
	const struct trace_counter *counter =
		entry ? NULL : trace_counter(trace, event - speedscope->nr_events);
	uint32_t unit = entry ? entry->unit : counter ? counter->unit : TRACE_COUNT;
	char text[CONVERT_TEXT_SIZE];
	FILE *file = speedscope->file;
	uint64_t total;
	int err;

	convert_thread_text(trace, thread, entry ? event : 0, text);
	if (counter)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ": %.64s",
		         trace_string(trace, counter->name));
	fprintf(file, "%s\n{\"type\":\"sampled\",\"name\":", speedscope->nr_profiles++ ? "," : "");
	escape_json(file, text);
	fprintf(file, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[\n",
	        unit == TRACE_NS ? "nanoseconds" : "none");
	err = print_samples(speedscope, thread, event);
	if (err)
		return err;
	fputs("],\n\"weights\":[", file);
	err = print_weights(speedscope, thread, event, &total);
	fprintf(file, "],\n\"endValue\":%" PRIu64 "}", total);
	return err;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The profile of a thread's calls on its way. */
struct events {
	const struct spool *spool;
	FILE *file;
	uint32_t thread;
	unsigned *nr_profiles;
	uint64_t nr, last; /* last: the time of the last one; 0: there is none */
};

/* Before the first event: of a thread may be only marks and values, which make none. */
static void begin_calls(const struct events *events)
{
	char text[CONVERT_TEXT_SIZE];

	convert_thread_text(events->spool->paths.trace, events->thread, 0, text);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ": calls");
	fprintf(events->file,
	        "%s\n{\"type\":\"evented\",\"name\":", (*events->nr_profiles)++ ? "," : "");
	escape_json(events->file, text);
	fputs(",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[\n", events->file);
}

static void print_event(void *arg, const struct call_moment *moment)
{
	struct events *events = arg;
	const struct paths *paths = &events->spool->paths;

	if (moment->kind == CALL_POINT || !trace_region(paths->trace, moment->call->region))
		return;
	if (!events->nr)
		begin_calls(events);
	events->last = moment->time - events->spool->calls->first_time;
	fprintf(events->file, "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64 "}",
	        events->nr++ ? ",\n" : "", moment->kind == CALL_ENTERED ? 'O' : 'C',
	        paths->names.nr_functions + moment->call->region, events->last);
}

static int print_calls(const struct spool *spool, FILE *file, uint32_t thread, unsigned *nr)
{
	struct events events = {.spool = spool, .file = file, .thread = thread, .nr_profiles = nr};
	int err;

	if (!spool_has_calls(spool, thread))
		return 0;
	err = spool_tell_calls(spool, thread, print_event, &events);
	if (events.nr)
		fprintf(file, "],\n\"endValue\":%" PRIu64 "}", events.last);
	return err;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Frames behind the functions, each with a comma in front, unless it is the first. */
static void print_regions(const struct trace *trace, FILE *file, bool first)
{
	for (uint32_t i = 0; trace_region(trace, i); i++) {
		fprintf(file, "%s\n{\"name\":", first && !i ? "" : ",");
		escape_json(file, trace_region_name(trace, i));
		putc('}', file);
	}
}

static void print_functions(const struct speedscope *speedscope)
{
	const struct paths *paths = speedscope->paths;
	char text[FRAME_TEXT_SIZE];

	fputs(",\n\"shared\":{\"frames\":[", speedscope->file);
	for (uint32_t i = 0; i < paths->names.nr_functions; i++) {
		fprintf(speedscope->file, "%s\n{\"name\":", i ? "," : "");
		escape_json(speedscope->file, paths_function(paths, i, text));
		if (paths_name(paths, i)->module) {
			fputs(",\"file\":", speedscope->file);
			escape_json(speedscope->file, paths_module(paths, i));
		}
		putc('}', speedscope->file);
	}
	print_regions(paths->trace, speedscope->file, !paths->names.nr_functions);
	fputs("]}", speedscope->file);
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
		speedscope->seen[speedscope->spool->sources[sample.source].event] = true;
		for (uint32_t i = 0; i < speedscope->spool->nr_counters; i++)
			if (spool_counters(speedscope->spool)[i])
				speedscope->seen[speedscope->nr_events + i] = true;
	}
	return got;
}

static int print_thread(struct speedscope *speedscope, uint32_t thread)
{
	int err = find_events(speedscope, thread);

	for (uint32_t i = 0; i < nr_profiles(speedscope) && !err; i++)
		if (speedscope->seen[i])
			err = print_profile(speedscope, thread, i);
	return err ? err
	           : print_calls(speedscope->spool, speedscope->file, thread,
	                         &speedscope->nr_profiles);
}

static int print_all(struct speedscope *speedscope)
{
	const struct trace *trace = speedscope->conversion->trace;
	int err;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"",
	      speedscope->file);
	fputs(",\n\"exporter\":\"adaptrace " ADAPTRACE_VERSION "\",\"name\":", speedscope->file);
	err = convert_command_json(trace, speedscope->file);
	print_functions(speedscope);
	fputs(",\n\"profiles\":[", speedscope->file);
	for (uint32_t i = 0; i < speedscope->spool->nr_threads && !err; i++)
		err = print_thread(speedscope, i);
	fputs("]}\n", speedscope->file);
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
	struct speedscope speedscope = {.conversion = conversion, .file = file};
	int err;

	convert_plan(conversion, SPOOL_WALKS + 1, TRACE_ALL_EVENTS);
	err = prepare(&speedscope);
	if (!err && !speedscope.spool->last_time)
		err = -ENODATA; /* speedscope shows nothing of a file without profiles */
	if (!err)
		err = print_all(&speedscope);
	spool_free(speedscope.spool);
	free(speedscope.seen);
	free(speedscope.depths);
	free(speedscope.chain);
	return err;
}
