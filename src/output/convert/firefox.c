/*
 * The processed format of the Firefox Profiler, version 60: columns of numbers that refer to tables
 * which all threads share. Later versions of the profiler read it as well.
 *
 *     samples.stack → stackTable (frame, prefix) → frameTable → funcTable → name, resource → lib
 *
 * Numbers of stacks are those of paths; of frames those of names. A function with lines of several
 * files is one in each: a frame's line is understood as one of its function's file. The strings are
 * the functions' names, then the modules', the source files', and the rest.
 */
#include "output/convert/convert.h"
#include "output/convert/firefox.h"
#include "output/text/gzip.h"
#include "output/profile/processes.h"
#include "output/views/run_properties.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define VERSION 60

void firefox_put_ms(struct json_writer *json, const char *key, uint64_t ns)
{
	uint64_t fraction = ns % 1000000;
	int digits = 6;

	if (!fraction) {
		json_number(json, key, ns / 1000000);
		return;
	}
	for (; fraction % 10 == 0; digits--)
		fraction /= 10;
	json_raw(json, key, "%" PRIu64 ".%0*" PRIu64, ns / 1000000, digits, fraction);
}

uint64_t firefox_since_start(const struct firefox *firefox, uint64_t time)
{
	return time > firefox->start ? time - firefox->start : 0;
}

/* --- what is said of the run ------------------------------------------------------------------ */

static int put_entry(void *arg, const char *name, const char *value)
{
	struct json_writer *json = arg;

	json_break_between(json);
	json_begin(json, NULL);
	json_text(json, "label", name);
	json_text(json, "format", "string");
	json_text(json, "value", value);
	json_end(json);
	return 0;
}

static void put_times(struct firefox *firefox)
{
	uint64_t weight = firefox->spool->nr_rates ? firefox->spool->rates[0].weight : 1000000;
	const struct trace_run *run = trace_run(firefox->trace);
	struct json_writer *json = &firefox->json;

	firefox_put_ms(json, "interval", firefox->time_event ? weight : 1000000);
	firefox_put_ms(json, "startTime", run->real_start - (run->start - firefox->start));
	json_number(json, "startTimeAsClockMonotonicNanosecondsSinceBoot", firefox->start);
}

/* Constants of the format, for viewers to show markers. */
static void put_schemas(struct json_writer *json)
{
	json_break(json);
	json_raw(json, "categories", "%s",
	         "[{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	         "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	         "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	         "{\"name\":\"Calls\",\"color\":\"purple\",\"subcategories\":[\"Other\"]}]");
	json_break(json);
	json_raw(json, "sampleUnits", "%s",
	         "{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}");
	json_break(json);
	json_raw(json, "markerSchema", "%s",
	         "[{\"name\":\"Reduction\",\"tooltipLabel\":\"Sampling became slower\","
	         "\"tableLabel\":\"{marker.data.what}\",\"chartLabel\":\"{marker.data.what}\","
	         "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
	         "\"fields\":[{\"key\":\"what\",\"label\":\"Since then\",\"format\":\"string\"}]},"
	         "{\"name\":\"Action\",\"tooltipLabel\":\"{marker.data.what}\","
	         "\"tableLabel\":\"{marker.data.what}\",\"chartLabel\":\"{marker.data.what}\","
	         "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
	         "\"fields\":[{\"key\":\"what\",\"label\":\"Action or mark\","
	         "\"format\":\"string\"}]},"
	         "{\"name\":\"Iteration\",\"tooltipLabel\":\"{marker.name}\","
	         "\"tableLabel\":\"{marker.data.what}\",\"chartLabel\":\"{marker.name}\","
	         "\"display\":[\"marker-chart\",\"marker-table\"],"
	         "\"fields\":[{\"key\":\"what\",\"label\":\"Which\",\"format\":\"string\"}]},"
	         "{\"name\":\"Call\",\"tooltipLabel\":\"{marker.name}\","
	         "\"tableLabel\":\"{marker.data.what}\",\"chartLabel\":\"{marker.name}\","
	         "\"display\":[\"marker-chart\",\"marker-table\"],"
	         "\"fields\":[{\"key\":\"what\",\"label\":\"What it "
	         "did\",\"format\":\"string\"}]}]");
}

static int put_extra(struct firefox *firefox)
{
	struct json_writer *json = &firefox->json;
	int err;

	json_break(json);
	json_begin_list(json, "extra");
	json_begin(json, NULL);
	json_text(json, "label", "Recording");
	json_begin_list(json, "entries");
	err = run_properties(firefox->trace, put_entry, json);
	json_end_list(json);
	json_end(json);
	json_end_list(json);
	return err;
}

static int put_meta(struct firefox *firefox)
{
	const struct trace_run *run = trace_run(firefox->trace);
	struct json_writer *json = &firefox->json;
	int err;

	json_begin(json, "meta");
	put_times(firefox);
	json_break(json);
	json_number(json, "processType", 0);
	json_number(json, "stackwalk", 1);
	json_number(json, "version", 30);
	json_number(json, "preprocessedProfileVersion", VERSION);
	json_flag(json, "symbolicated", true);
	json_flag(json, "usesOnlyOneStackType", true);
	json_flag(json, "sourceCodeIsNotOnSearchfox", true);
	json_text(json, "importedFrom", "adaptrace " ADAPTRACE_VERSION);
	json_break(json);
	err = convert_command_json(firefox->trace, json, "product");
	json_text(json, "oscpu", trace_string(firefox->trace, run->kernel));
	json_text(json, "CPUName", trace_string(firefox->trace, run->cpu_model));
	json_number(json, "logicalCPUs", run->nr_cpus);
	put_schemas(json);
	if (!err)
		err = put_extra(firefox);
	json_end(json);
	return err;
}

/* --- threads ---------------------------------------------------------------------------------- */

typedef void put_sample(struct firefox *firefox, const struct spool_sample *sample);

static uint64_t weight_of(const struct firefox *firefox, const struct spool_sample *sample)
{
	return firefox->spool->rates[sample->rate].weight;
}

static void put_sample_stack(struct firefox *firefox, const struct spool_sample *sample)
{
	json_number(&firefox->json, NULL, sample->path);
}

static void put_sample_time(struct firefox *firefox, const struct spool_sample *sample)
{
	firefox_put_ms(&firefox->json, NULL, firefox_since_start(firefox, sample->time));
}

static void put_sample_weight(struct firefox *firefox, const struct spool_sample *sample)
{
	if (firefox->time_event)
		firefox_put_ms(&firefox->json, NULL, weight_of(firefox, sample));
	else
		json_number(&firefox->json, NULL, weight_of(firefox, sample));
}

static void put_sample_cpu(struct firefox *firefox, const struct spool_sample *sample)
{
	json_number(&firefox->json, NULL, weight_of(firefox, sample));
}

static int put_samples_column(struct firefox *firefox, uint32_t thread, const char *name,
                              put_sample *put)
{
	struct spool_sample sample;
	int got, err;

	json_begin_list(&firefox->json, name);
	spool_open(firefox->spool, thread);
	while ((got = spool_next(firefox->spool, &sample)) == 1) {
		put(firefox, &sample);
		err = convert_step(firefox->conversion);
		if (err)
			return err;
	}
	json_end_list(&firefox->json);
	json_break(&firefox->json);
	return got;
}

static int put_samples(struct firefox *firefox, uint32_t thread)
{
	int err = put_samples_column(firefox, thread, "stack", put_sample_stack);

	if (!err)
		err = put_samples_column(firefox, thread, "time", put_sample_time);
	if (!err)
		err = put_samples_column(firefox, thread, "weight", put_sample_weight);
	/* A thread is sampled while it runs. */
	if (!err && firefox->time_event)
		err = put_samples_column(firefox, thread, "threadCPUDelta", put_sample_cpu);
	return err;
}

/* A process has one name; what executed another program before has that name as a thread alone. */
static uint32_t process_name(const struct firefox *firefox, uint32_t thread)
{
	if (thread >= trace_nr(firefox->trace, TRACE_THREADS))
		return 0;
	return trace_thread(firefox->trace, firefox->process_of[thread])->comm;
}

/*
 * Threads with one "pid" are of one process, and processes of ranks that ran on different hosts may
 * have the same.
 */
static void put_process(struct firefox *firefox, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(firefox->trace, thread);
	int32_t rank = trace_rank(firefox->trace, thread);
	struct json_writer *json = &firefox->json;
	FILE *to = json_begin_text(json, "pid");
	char text[CONVERT_TEXT_SIZE];

	fprintf(to, "%d", entry ? entry->pid : 0);
	if (rank >= 0)
		fprintf(to, " of rank %d", rank);
	json_end_text(json);
	convert_process_text(firefox->trace, thread, process_name(firefox, thread), text);
	json_text(json, "processName", text);
}

static void put_thread_head(struct firefox *firefox, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(firefox->trace, thread);
	struct json_writer *json = &firefox->json;

	json_text(json, "processType", "default");
	json_number(json, "processStartupTime", 0);
	json_null(json, "processShutdownTime");
	json_raw(json, "pausedRanges", "[]");
	firefox_put_ms(json, "registerTime",
	               firefox_since_start(firefox, entry ? entry->start : 0));
	if (entry && entry->end)
		firefox_put_ms(json, "unregisterTime", firefox_since_start(firefox, entry->end));
	else
		json_null(json, "unregisterTime");
	put_process(firefox, thread);
	json_int(json, "tid", entry ? entry->tid : 0);
	json_flag(json, "isMainThread", entry && entry->pid == entry->tid);
	json_text(json, "name", trace_command_name(firefox->trace, entry ? entry->comm : 0));
}

static int put_thread(struct firefox *firefox, uint32_t thread, bool first)
{
	struct json_writer *json = &firefox->json;
	int err;

	json_break_between(json);
	json_begin(json, NULL);
	put_thread_head(firefox, thread);
	json_break(json);
	json_begin(json, "samples");
	err = put_samples(firefox, thread);
	if (err)
		return err;
	json_text(json, "weightType", firefox->time_event ? "tracing-ms" : "samples");
	json_number(json, "length", firefox->spool->threads[thread].nr);
	json_end(json);
	json_break(json);
	err = firefox_put_markers(firefox, thread, first);
	json_end(json);
	return err;
}

static int put_all(struct firefox *firefox)
{
	struct json_writer *json = &firefox->json;
	bool first = true;
	int err;

	json_begin(json, NULL);
	err = put_meta(firefox);
	firefox_put_tables(firefox);
	json_begin_list(json, "threads");
	for (uint32_t i = 0; i < firefox->spool->nr_threads && !err; i++) {
		if (!firefox->spool->threads[i].nr && !firefox->spool->calls->nr[i])
			continue;
		err = put_thread(firefox, i, first);
		first = false;
	}
	json_end_list(json);
	json_end(json);
	fputc('\n', json->to);
	return err;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int prepare(struct firefox *firefox)
{
	firefox->spool = spool_new(firefox->conversion, PATHS_BY_LINE, firefox->conversion->event);
	if (!firefox->spool)
		return -errno;
	firefox->paths = &firefox->spool->paths;
	firefox->start = spool_start(firefox->spool);
	firefox->event = trace_event(firefox->trace, firefox->conversion->event);
	firefox->time_event = firefox->event && firefox->event->unit == TRACE_NS;
	firefox->process_of = processes_find(firefox->trace);
	if (!firefox->process_of)
		return -ENOMEM;
	return firefox_find_names(firefox);
}

int firefox_write(struct conversion *conversion, FILE *file)
{
	struct firefox firefox = {.conversion = conversion, .trace = conversion->trace};
	int err;

	firefox.json = (struct json_writer){.to = gzip_open(file), .in_page = true};
	if (!firefox.json.to)
		return -errno;
	convert_plan(conversion, SPOOL_WALKS + 4, conversion->event);
	err = prepare(&firefox);
	if (!err && !firefox.spool->last_time)
		err = -ENODATA; /* the viewer refuses a profile without threads */
	if (!err)
		err = iteration_index_init(&firefox.iterations, firefox.trace);
	if (!err)
		err = put_all(&firefox);
	iteration_index_fini(&firefox.iterations);
	err = gzip_close(firefox.json.to, err);
	spool_free(firefox.spool);
	free(firefox.process_of);
	firefox_free_names(&firefox);
	return err;
}
