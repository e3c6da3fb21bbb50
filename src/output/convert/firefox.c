/*
 * The processed format of the Firefox Profiler, version 60: columns of numbers that refer to tables
 * which all threads share. Later versions of the profiler read it as well.
 *
 *     samples.stack → stackTable (frame, prefix) → frameTable → funcTable → name, resource → lib
 *
 * Numbers of stacks are those of paths; of frames those of places. A function with lines of several
 * files is one in each: a frame's line is understood as one of its function's file. The strings are
 * the functions' names, then the modules', the source files', and the rest.
 */
#include "output/convert/convert.h"
#include "output/text/escape.h"
#include "output/convert/firefox.h"
#include "output/text/gzip.h"
#include "output/profile/processes.h"
#include "output/views/run_properties.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define VERSION 60

void firefox_print_ms(FILE *file, uint64_t ns)
{
	uint64_t fraction = ns % 1000000;
	int digits = 6;

	fprintf(file, "%" PRIu64, ns / 1000000);
	if (!fraction)
		return;
	for (; fraction % 10 == 0; digits--)
		fraction /= 10;
	fprintf(file, ".%0*" PRIu64, digits, fraction);
}

uint64_t firefox_since_start(const struct firefox *firefox, uint64_t time)
{
	return time > firefox->start ? time - firefox->start : 0;
}

/* --- what is said of the run ------------------------------------------------------------------ */

struct entries {
	FILE *file;
	const char *separator;
};

static int print_entry(void *arg, const char *name, const char *value)
{
	struct entries *entries = arg;

	fprintf(entries->file, "%s{\"label\":", entries->separator);
	escape_json(entries->file, name);
	fputs(",\"format\":\"string\",\"value\":", entries->file);
	escape_json(entries->file, value);
	putc('}', entries->file);
	entries->separator = ",\n";
	return 0;
}

static void print_interval(const struct firefox *firefox)
{
	uint64_t weight = firefox->spool->nr_sources ? firefox->spool->sources[0].weight : 1000000;
	const struct trace_run *run = trace_run(firefox->trace);

	fputs("{\"meta\":{\"interval\":", firefox->file);
	firefox_print_ms(firefox->file, firefox->time_event ? weight : 1000000);
	fputs(",\"startTime\":", firefox->file);
	firefox_print_ms(firefox->file, run->real_start - (run->start - firefox->start));
	fprintf(firefox->file, ",\"startTimeAsClockMonotonicNanosecondsSinceBoot\":%" PRIu64,
	        firefox->start);
}

static void print_member(const struct firefox *firefox, const char *key, uint32_t string)
{
	fprintf(firefox->file, ",\"%s\":", key);
	escape_json(firefox->file, trace_string(firefox->trace, string));
}

static int print_meta(const struct firefox *firefox)
{
	const struct trace_run *run = trace_run(firefox->trace);
	struct entries entries = {firefox->file, ""};
	FILE *file = firefox->file;
	int err;

	print_interval(firefox);
	fprintf(file,
	        ",\n\"processType\":0,\"stackwalk\":1,\"version\":30,"
	        "\"preprocessedProfileVersion\":%d,\"symbolicated\":true,"
	        "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
	        "\"importedFrom\":\"adaptrace " ADAPTRACE_VERSION "\",\n\"product\":",
	        VERSION);
	err = convert_command_json(firefox->trace, file);
	print_member(firefox, "oscpu", run->kernel);
	print_member(firefox, "CPUName", run->cpu_model);
	fprintf(file, ",\"logicalCPUs\":%" PRIu32, run->nr_cpus);
	fputs(",\n\"categories\":["
	      "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Calls\",\"color\":\"purple\",\"subcategories\":[\"Other\"]}],\n"
	      "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n"
	      "\"markerSchema\":[{\"name\":\"Reduction\","
	      "\"tooltipLabel\":\"Sampling became slower\","
	      "\"tableLabel\":\"{marker.data.what}\",\"chartLabel\":\"{marker.data.what}\","
	      "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
	      "\"fields\":[{\"key\":\"what\",\"label\":\"Since then\",\"format\":\"string\"}]},"
	      "{\"name\":\"Call\",\"tooltipLabel\":\"{marker.name}\","
	      "\"tableLabel\":\"{marker.data.what}\",\"chartLabel\":\"{marker.name}\","
	      "\"display\":[\"marker-chart\",\"marker-table\"],"
	      "\"fields\":[{\"key\":\"what\",\"label\":\"What it did\",\"format\":\"string\"}]}],\n"
	      "\"extra\":[{\"label\":\"Recording\",\"entries\":[",
	      file);
	if (!err)
		err = run_properties(firefox->trace, print_entry, &entries);
	fputs("]}]},\n", file);
	return err;
}

/* --- threads ---------------------------------------------------------------------------------- */

typedef void print_sample(const struct firefox *firefox, const struct spool_sample *sample);

static uint64_t weight_of(const struct firefox *firefox, const struct spool_sample *sample)
{
	return firefox->spool->sources[sample->source].weight;
}

static void print_sample_stack(const struct firefox *firefox, const struct spool_sample *sample)
{
	fprintf(firefox->file, "%" PRIu32, sample->path);
}

static void print_sample_time(const struct firefox *firefox, const struct spool_sample *sample)
{
	firefox_print_ms(firefox->file, firefox_since_start(firefox, sample->time));
}

static void print_sample_weight(const struct firefox *firefox, const struct spool_sample *sample)
{
	if (firefox->time_event)
		firefox_print_ms(firefox->file, weight_of(firefox, sample));
	else
		fprintf(firefox->file, "%" PRIu64, weight_of(firefox, sample));
}

static void print_sample_cpu(const struct firefox *firefox, const struct spool_sample *sample)
{
	fprintf(firefox->file, "%" PRIu64, weight_of(firefox, sample));
}

static int print_samples_column(const struct firefox *firefox, uint32_t thread, const char *name,
                                print_sample *print)
{
	const char *separator = "";
	struct spool_sample sample;
	int got, err;

	fprintf(firefox->file, "\"%s\":[", name);
	spool_open(firefox->spool, thread);
	while ((got = spool_next(firefox->spool, &sample)) == 1) {
		fputs(separator, firefox->file);
		separator = ",";
		print(firefox, &sample);
		err = convert_step(firefox->conversion);
		if (err)
			return err;
	}
	fputs("],\n", firefox->file);
	return got;
}

static int print_samples(const struct firefox *firefox, uint32_t thread)
{
	int err = print_samples_column(firefox, thread, "stack", print_sample_stack);

	if (!err)
		err = print_samples_column(firefox, thread, "time", print_sample_time);
	if (!err)
		err = print_samples_column(firefox, thread, "weight", print_sample_weight);
	/* A thread is sampled while it runs. */
	if (!err && firefox->time_event)
		err = print_samples_column(firefox, thread, "threadCPUDelta", print_sample_cpu);
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
static void print_process(const struct firefox *firefox, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(firefox->trace, thread);
	int32_t rank = trace_rank(firefox->trace, thread);
	char text[CONVERT_TEXT_SIZE];

	fprintf(firefox->file, ",\"pid\":\"%d", entry ? entry->pid : 0);
	if (rank >= 0)
		fprintf(firefox->file, " of rank %d", rank);
	convert_process_text(firefox->trace, thread, process_name(firefox, thread), text);
	fputs("\",\"processName\":", firefox->file);
	escape_json(firefox->file, text);
}

static void print_thread_head(const struct firefox *firefox, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(firefox->trace, thread);
	FILE *file = firefox->file;

	fputs("{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	      "\"pausedRanges\":[],\"registerTime\":",
	      file);
	firefox_print_ms(file, firefox_since_start(firefox, entry ? entry->start : 0));
	fputs(",\"unregisterTime\":", file);
	if (entry && entry->end)
		firefox_print_ms(file, firefox_since_start(firefox, entry->end));
	else
		fputs("null", file);
	print_process(firefox, thread);
	fprintf(file, ",\"tid\":%d,\"isMainThread\":%s", entry ? entry->tid : 0,
	        entry && entry->pid == entry->tid ? "true" : "false");
	fputs(",\"name\":", file);
	escape_json(file, trace_command_name(firefox->trace, entry ? entry->comm : 0));
	fputs(",\n\"samples\":{", file);
}

static int print_thread(const struct firefox *firefox, uint32_t thread, bool first)
{
	int err;

	if (!first)
		fputs(",\n", firefox->file);
	print_thread_head(firefox, thread);
	err = print_samples(firefox, thread);
	if (err)
		return err;
	fprintf(firefox->file, "\"weightType\":\"%s\",\"length\":%" PRIu64 "},\n",
	        firefox->time_event ? "tracing-ms" : "samples", firefox->spool->threads[thread].nr);
	err = firefox_print_markers(firefox, thread, first);
	putc('}', firefox->file);
	return err;
}

static int print_all(const struct firefox *firefox)
{
	bool first = true;
	int err = print_meta(firefox);

	firefox_print_tables(firefox);
	fputs("\"threads\":[", firefox->file);
	for (uint32_t i = 0; i < firefox->spool->nr_threads && !err; i++) {
		if (!firefox->spool->threads[i].nr && !firefox->spool->calls->nr[i])
			continue;
		err = print_thread(firefox, i, first);
		first = false;
	}
	fputs("]}\n", firefox->file);
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

	firefox.file = gzip_open(file);
	if (!firefox.file)
		return -errno;
	convert_plan(conversion, SPOOL_WALKS + 4, conversion->event);
	err = prepare(&firefox);
	if (!err && !firefox.spool->last_time)
		err = -ENODATA; /* the viewer refuses a profile without threads */
	if (!err)
		err = print_all(&firefox);
	err = gzip_close(firefox.file, err);
	spool_free(firefox.spool);
	free(firefox.process_of);
	firefox_free_names(&firefox);
	return err;
}
