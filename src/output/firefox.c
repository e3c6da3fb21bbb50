/*
 * The processed format of the Firefox Profiler, version 60: columns of numbers that refer to tables
 * which all threads share. Later versions of the profiler read it as well.
 *
 *     samples.stack → stackTable (frame, prefix) → frameTable → funcTable → name, resource → lib
 *
 * Numbers of stacks are those of paths; of frames those of places; of functions those of names. The
 * strings are the functions' names, then the modules', the source files', and the rest.
 */
#include "output/convert.h"
#include "output/escape.h"
#include "output/gzip.h"
#include "output/run_properties.h"
#include "output/spool.h"

#include "symbolize/module.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define VERSION 60

enum category { CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_OTHER };

struct firefox {
	struct conversion *conversion;
	const struct trace *trace;
	const struct trace_event *event;
	struct paths paths;
	struct spool *spool;
	FILE *file;
	struct map64 libs;  /* by the string of the path */
	uint32_t *lib_name; /* functions whose modules they are */
	uint32_t nr_libs;
	struct map64 files;  /* numbers by the string of the path */
	uint32_t *file_name; /* and the strings */
	uint32_t nr_files;
	uint32_t *file_of_function; /* number + 1; 0: not known */
	uint64_t start;             /* ns: time 0 */
	bool time_event;            /* weights are ns */
};

static const struct trace_module *module_of(const struct firefox *firefox, uint32_t function)
{
	uint64_t frame = firefox->paths.names.names[function].frame;

	return frame_module(frame) ? trace_module(firefox->trace, frame_module(frame)) : NULL;
}

/* Nanoseconds as milliseconds, exactly. */
static void print_ms(FILE *file, uint64_t ns)
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

static uint64_t since_start(const struct firefox *firefox, uint64_t time)
{
	return time > firefox->start ? time - firefox->start : 0;
}

/* --- columns ---------------------------------------------------------------------------------- */

typedef void print_cell(const struct firefox *firefox, uint32_t row);

static void print_column(const struct firefox *firefox, const char *name, uint32_t nr,
                         print_cell *cell)
{
	fprintf(firefox->file, "\"%s\":[", name);
	for (uint32_t i = 0; i < nr; i++) {
		if (i)
			putc_unlocked(',', firefox->file);
		cell(firefox, i);
	}
	fputs("],\n", firefox->file);
}

/* A column that says the same in every row. */
static void print_same(const struct firefox *firefox, const char *name, uint32_t nr,
                       const char *value)
{
	fprintf(firefox->file, "\"%s\":[", name);
	for (uint32_t i = 0; i < nr; i++)
		fprintf(firefox->file, "%s%s", i ? "," : "", value);
	fputs("],\n", firefox->file);
}

static void print_length(const struct firefox *firefox, uint32_t nr)
{
	fprintf(firefox->file, "\"length\":%" PRIu32 "},\n", nr);
}

static void print_number(const struct firefox *firefox, uint32_t row)
{
	fprintf(firefox->file, "%" PRIu32, row);
}

static void print_stack_frame(const struct firefox *firefox, uint32_t row)
{
	fprintf(firefox->file, "%" PRIu32, firefox->paths.paths[row].place);
}

static void print_stack_prefix(const struct firefox *firefox, uint32_t row)
{
	uint32_t caller = firefox->paths.paths[row].caller;

	if (caller == PATH_NONE)
		fputs("null", firefox->file);
	else
		fprintf(firefox->file, "%" PRIu32, caller);
}

static void print_frame_function(const struct firefox *firefox, uint32_t row)
{
	fprintf(firefox->file, "%" PRIu32, firefox->paths.places[row].function);
}

static void print_frame_category(const struct firefox *firefox, uint32_t row)
{
	const struct trace_module *module = module_of(firefox, firefox->paths.places[row].function);

	fprintf(firefox->file, "%d",
	        !module                         ? CATEGORY_OTHER
	        : module->kind == MODULE_KERNEL ? CATEGORY_KERNEL
	                                        : CATEGORY_USER);
}

static void print_function_resource(const struct firefox *firefox, uint32_t row)
{
	uint32_t module = firefox->paths.names.names[row].module;

	if (module)
		fprintf(firefox->file, "%" PRIu32, map64_get(&firefox->libs, module));
	else
		fputs("-1", firefox->file);
}

static void print_resource_name(const struct firefox *firefox, uint32_t row)
{
	fprintf(firefox->file, "%" PRIu32, firefox->paths.names.nr + row);
}

static void print_frame_line(const struct firefox *firefox, uint32_t row)
{
	uint32_t line = firefox->paths.places[row].line;

	if (line)
		fprintf(firefox->file, "%" PRIu32, line);
	else
		fputs("null", firefox->file);
}

static void print_function_source(const struct firefox *firefox, uint32_t row)
{
	if (firefox->file_of_function[row])
		fprintf(firefox->file, "%" PRIu32, firefox->file_of_function[row] - 1);
	else
		fputs("null", firefox->file);
}

static void print_file_name(const struct firefox *firefox, uint32_t row)
{
	fprintf(firefox->file, "%" PRIu32, firefox->paths.names.nr + firefox->nr_libs + row);
}

/* --- the shared tables ------------------------------------------------------------------------ */

static int find_libs(struct firefox *firefox)
{
	const struct frame_names *names = &firefox->paths.names;

	firefox->lib_name = calloc((size_t)names->nr + 1, sizeof(*firefox->lib_name));
	if (!firefox->lib_name)
		return -ENOMEM;
	for (uint32_t i = 0; i < names->nr; i++) {
		uint32_t module = names->names[i].module;

		if (!module || map64_get(&firefox->libs, module) != UINT32_MAX)
			continue;
		if (map64_add(&firefox->libs, module, firefox->nr_libs))
			return -ENOMEM;
		firefox->lib_name[firefox->nr_libs++] = i;
	}
	return 0;
}

/* A function is in the file of its first line that is known. */
static int find_files(struct firefox *firefox)
{
	const struct paths *paths = &firefox->paths;

	firefox->file_name = calloc((size_t)paths->nr_places + 1, sizeof(*firefox->file_name));
	firefox->file_of_function =
		calloc((size_t)paths->names.nr + 1, sizeof(*firefox->file_of_function));
	if (!firefox->file_name || !firefox->file_of_function)
		return -ENOMEM;
	for (uint32_t i = 0; i < paths->nr_places; i++) {
		const struct place *place = &paths->places[i];
		uint32_t number = map64_get(&firefox->files, place->file);

		if (!place->file)
			continue;
		if (number == UINT32_MAX) {
			number = firefox->nr_files++;
			firefox->file_name[number] = place->file;
			if (map64_add(&firefox->files, place->file, number))
				return -ENOMEM;
		}
		if (!firefox->file_of_function[place->function])
			firefox->file_of_function[place->function] = number + 1;
	}
	return 0;
}

/* The first 16 bytes as a GUID, whose first fields are little-endian, and age 0. */
static void print_breakpad_id(FILE *file, const struct trace_module *module)
{
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

	fputs(",\"breakpadId\":\"", file);
	for (unsigned i = 0; i < 16; i++)
		fprintf(file, "%02X", module ? module->build_id[order[i]] : 0);
	fputs("0\",\"codeId\":", file);
	if (!module || !module->build_id_size) {
		fputs("null", file);
		return;
	}
	putc('"', file);
	for (unsigned i = 0; i < module->build_id_size && i < sizeof(module->build_id); i++)
		fprintf(file, "%02x", module->build_id[i]);
	putc('"', file);
}

static void print_libs(const struct firefox *firefox)
{
	static const char *const keys[] = {"name", "debugName", "path", "debugPath"};
	FILE *file = firefox->file;

	fputs("\"libs\":[", file);
	for (uint32_t i = 0; i < firefox->nr_libs; i++) {
		uint32_t function = firefox->lib_name[i];
		uint64_t frame = firefox->paths.names.names[function].frame;

		fprintf(file, "%s\n{\"arch\":\"\"", i ? "," : "");
		for (unsigned k = 0; k < 4; k++) {
			fprintf(file, ",\"%s\":", keys[k]);
			escape_json(file, k < 2 ? frame_module_text(firefox->trace, frame)
			                        : paths_module(&firefox->paths, function));
		}
		print_breakpad_id(file, module_of(firefox, function));
		putc('}', file);
	}
	fputs("],\n", file);
}

static void print_strings(const struct firefox *firefox)
{
	char text[FRAME_TEXT_SIZE];

	fputs("\"stringArray\":[", firefox->file);
	for (uint32_t i = 0; i < firefox->paths.names.nr; i++) {
		escape_json(firefox->file, paths_function(&firefox->paths, i, text));
		fputs(",\n", firefox->file);
	}
	for (uint32_t i = 0; i < firefox->nr_libs; i++) {
		uint32_t function = firefox->lib_name[i];

		escape_json(firefox->file,
		            frame_module_text(firefox->trace,
		                              firefox->paths.names.names[function].frame));
		fputs(",\n", firefox->file);
	}
	for (uint32_t i = 0; i < firefox->nr_files; i++) {
		escape_json(firefox->file, trace_string(firefox->trace, firefox->file_name[i]));
		fputs(",\n", firefox->file);
	}
	fputs("\"Reduction\"]", firefox->file);
}

static void print_frames(const struct firefox *firefox)
{
	uint32_t nr = firefox->paths.nr_places;

	fputs("\"frameTable\":{", firefox->file);
	print_same(firefox, "address", nr, "-1");
	print_same(firefox, "inlineDepth", nr, "0");
	print_column(firefox, "category", nr, print_frame_category);
	print_same(firefox, "subcategory", nr, "0");
	print_column(firefox, "func", nr, print_frame_function);
	print_same(firefox, "nativeSymbol", nr, "null");
	print_same(firefox, "innerWindowID", nr, "0");
	print_column(firefox, "line", nr, print_frame_line);
	print_same(firefox, "column", nr, "null");
	print_length(firefox, nr);
}

static void print_functions(const struct firefox *firefox)
{
	uint32_t nr = firefox->paths.names.nr;

	fputs("\"funcTable\":{", firefox->file);
	print_column(firefox, "name", nr, print_number);
	print_same(firefox, "isJS", nr, "false");
	print_same(firefox, "relevantForJS", nr, "false");
	print_column(firefox, "resource", nr, print_function_resource);
	print_column(firefox, "source", nr, print_function_source);
	print_same(firefox, "lineNumber", nr, "null");
	print_same(firefox, "columnNumber", nr, "null");
	print_length(firefox, nr);
	nr = firefox->nr_libs;
	fputs("\"resourceTable\":{", firefox->file);
	print_column(firefox, "lib", nr, print_number);
	print_column(firefox, "name", nr, print_resource_name);
	print_same(firefox, "host", nr, "null");
	print_same(firefox, "type", nr, "1");
	print_length(firefox, nr);
}

static void print_shared(const struct firefox *firefox)
{
	uint32_t nr = firefox->paths.nr_paths;

	fputs("\"shared\":{\"stackTable\":{", firefox->file);
	print_column(firefox, "frame", nr, print_stack_frame);
	print_column(firefox, "prefix", nr, print_stack_prefix);
	print_length(firefox, nr);
	print_frames(firefox);
	print_functions(firefox);
	fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	      "\"length\":0},\n\"sources\":{",
	      firefox->file);
	print_same(firefox, "uuid", firefox->nr_files, "null");
	print_column(firefox, "filename", firefox->nr_files, print_file_name);
	print_length(firefox, firefox->nr_files);
	print_strings(firefox);
	fputs("},\n", firefox->file);
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

	fputs("{\"meta\":{\"interval\":", firefox->file);
	print_ms(firefox->file, firefox->time_event ? weight : 1000000);
	fputs(",\"startTime\":", firefox->file);
	print_ms(firefox->file, trace_run(firefox->trace)->real_start);
	fprintf(firefox->file, ",\"startTimeAsClockMonotonicNanosecondsSinceBoot\":%" PRIu64,
	        firefox->start);
}

static void print_member(const struct firefox *firefox, const char *key, uint32_t string)
{
	fprintf(firefox->file, ",\"%s\":", key);
	escape_json(firefox->file, trace_string(firefox->trace, string));
}

static void print_meta(const struct firefox *firefox)
{
	const struct trace_run *run = trace_run(firefox->trace);
	struct entries entries = {firefox->file, ""};
	FILE *file = firefox->file;

	print_interval(firefox);
	fprintf(file,
	        ",\n\"processType\":0,\"stackwalk\":1,\"version\":30,"
	        "\"preprocessedProfileVersion\":%d,\"symbolicated\":true,"
	        "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
	        "\"importedFrom\":\"adaptrace " ADAPTRACE_VERSION "\",\n\"product\":",
	        VERSION);
	convert_command_json(firefox->trace, file);
	print_member(firefox, "oscpu", run->kernel);
	print_member(firefox, "CPUName", run->cpu_model);
	fprintf(file, ",\"logicalCPUs\":%" PRIu32, run->nr_cpus);
	fputs(",\n\"categories\":["
	      "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],\n"
	      "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n"
	      "\"markerSchema\":[{\"name\":\"Reduction\","
	      "\"tooltipLabel\":\"Sampling became slower\","
	      "\"tableLabel\":\"{marker.data.what}\",\"chartLabel\":\"{marker.data.what}\","
	      "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
	      "\"fields\":[{\"key\":\"what\",\"label\":\"Since then\",\"format\":\"string\"}]}],\n"
	      "\"extra\":[{\"label\":\"Recording\",\"entries\":[",
	      file);
	run_properties(firefox->trace, print_entry, &entries);
	fputs("]}]},\n", file);
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
	print_ms(firefox->file, since_start(firefox, sample->time));
}

static void print_sample_weight(const struct firefox *firefox, const struct spool_sample *sample)
{
	if (firefox->time_event)
		print_ms(firefox->file, weight_of(firefox, sample));
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

/* Reductions are of the whole run; the first thread shows them. */
static void print_markers(const struct firefox *firefox, bool wanted)
{
	const struct trace_reduction *reduction;
	FILE *file = firefox->file;
	uint32_t nr = 0;
	char text[CONVERT_TEXT_SIZE];

	fputs("\"markers\":{\"data\":[", file);
	for (; wanted && (reduction = trace_reduction(firefox->trace, nr)); nr++) {
		reduction_text(firefox->trace, reduction, text, sizeof(text));
		fprintf(file, "%s{\"type\":\"Reduction\",\"what\":", nr ? "," : "");
		escape_json(file, text);
		putc('}', file);
	}
	fputs("],\n\"startTime\":[", file);
	for (uint32_t i = 0; i < nr; i++) {
		if (i)
			putc(',', file);
		print_ms(file, since_start(firefox, trace_reduction(firefox->trace, i)->time));
	}
	fputs("],\n\"name\":[", file);
	for (uint32_t i = 0; i < nr; i++)
		fprintf(file, "%s%" PRIu32, i ? "," : "",
		        firefox->paths.names.nr + firefox->nr_libs + firefox->nr_files);
	fputs("],\n", file);
	print_same(firefox, "endTime", nr, "null");
	print_same(firefox, "phase", nr, "0");
	print_same(firefox, "category", nr, "2");
	fprintf(file, "\"length\":%" PRIu32 "}", nr);
}

static void print_thread_head(const struct firefox *firefox, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(firefox->trace, thread);
	FILE *file = firefox->file;

	fputs("{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	      "\"pausedRanges\":[],\"registerTime\":",
	      file);
	print_ms(file, since_start(firefox, entry ? entry->start : 0));
	fputs(",\"unregisterTime\":", file);
	if (entry && entry->end)
		print_ms(file, since_start(firefox, entry->end));
	else
		fputs("null", file);
	fprintf(file, ",\"pid\":\"%d\",\"tid\":%d,\"isMainThread\":%s", entry ? entry->pid : 0,
	        entry ? entry->tid : 0, entry && entry->pid == entry->tid ? "true" : "false");
	print_member(firefox, "name", entry ? entry->comm : 0);
	print_member(firefox, "processName", entry ? entry->comm : 0);
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
	print_markers(firefox, first);
	putc('}', firefox->file);
	return 0;
}

static int print_all(const struct firefox *firefox)
{
	bool first = true;
	int err = 0;

	print_meta(firefox);
	print_libs(firefox);
	print_shared(firefox);
	fputs("\"threads\":[", firefox->file);
	for (uint32_t i = 0; i < firefox->spool->nr_threads && !err; i++) {
		if (!firefox->spool->threads[i].nr)
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
	struct spool *spool;

	if (paths_init(&firefox->paths, firefox->trace, PATHS_BY_LINE))
		return -ENOMEM;
	spool = firefox->spool =
		spool_new(firefox->conversion, &firefox->paths, firefox->conversion->event);
	if (!spool)
		return -errno;
	firefox->start = trace_run(firefox->trace)->start;
	if (spool->last_time && spool->first_time < firefox->start)
		firefox->start = spool->first_time;
	firefox->event = trace_event(firefox->trace, firefox->conversion->event);
	firefox->time_event = firefox->event && firefox->event->unit == TRACE_NS;
	return find_libs(firefox) || find_files(firefox) ? -ENOMEM : 0;
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
	if (!err)
		err = print_all(&firefox);
	err = gzip_close(firefox.file, err);
	paths_fini(&firefox.paths);
	spool_free(firefox.spool);
	map64_fini(&firefox.libs);
	free(firefox.lib_name);
	map64_fini(&firefox.files);
	free(firefox.file_name);
	free(firefox.file_of_function);
	return err;
}
