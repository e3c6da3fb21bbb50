#include "output/otf2.h"

#include "output/escape.h"
#include "output/otf2_plan.h"
#include "output/run_properties.h"
#include "output/spool.h"

#include <errno.h>
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_CHUNK      (1 << 20)
#define DEFINITION_CHUNK (4 << 20)
#define TEXT_SIZE        256

struct archive {
	struct conversion *conversion;
	const struct trace *trace;
	struct paths paths;
	struct spool *spool;
	uint32_t *depths, *source_of_place; /* by path, by place */
	struct otf2_plan plan;
	OTF2_Archive *otf2;
	OTF2_GlobalDefWriter *definitions;
	struct map64 strings; /* OTF2's number by the trace's */
	uint32_t nr_strings;
	uint64_t *nr_events; /* by thread */
	OTF2_Type metric_types[COUNTER_MAX];
	unsigned nr_metrics; /* one for each counter */
	int error;           /* the first one */
};

bool otf2_knows(const char *path)
{
	size_t digits;

	if (!strcmp(path, "traces.otf2") || !strcmp(path, "traces.def") ||
	    !strcmp(path, "traces.marker"))
		return true;
	if (strncmp(path, "traces/", 7) != 0)
		return false;
	path += 7;
	digits = strspn(path, "0123456789");
	return digits && (!strcmp(path + digits, ".evt") || !strcmp(path + digits, ".def"));
}

/* --- what the library says -------------------------------------------------------------------- */

static OTF2_ErrorCode say_nothing(void *data, const char *file, uint64_t line, const char *function,
                                  OTF2_ErrorCode code, const char *format, va_list args)
{
	(void)data, (void)file, (void)line, (void)function, (void)format, (void)args;
	return code;
}

static OTF2_FlushType always_flush(void *data, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
	(void)data, (void)type, (void)location, (void)caller, (void) final;
	return OTF2_FLUSH;
}

static void check(struct archive *archive, OTF2_ErrorCode code)
{
	if (archive->error || code == OTF2_SUCCESS)
		return;
	archive->error = code == OTF2_ERROR_ENOSPC   ? -ENOSPC
	                 : code == OTF2_ERROR_EDQUOT ? -EDQUOT
	                 : code == OTF2_ERROR_EACCES ? -EACCES
	                 : code == OTF2_ERROR_EMFILE ? -EMFILE
	                 : code == OTF2_ERROR_ENOMEM || code == OTF2_ERROR_MEM_ALLOC_FAILED
	                         ? -ENOMEM
	                         : -EIO;
}

static bool failed(struct archive *archive, const void *pointer)
{
	if (!pointer && !archive->error)
		archive->error = -ENOMEM;
	return archive->error;
}

/* --- strings ---------------------------------------------------------------------------------- */

/* A new string; its number is free of gaps, and 0 is the empty one. */
static uint32_t add_string(struct archive *archive, const char *text)
{
	char *copy;

	if (!*text && archive->nr_strings)
		return 0;
	copy = escape_copy(text);
	if (failed(archive, copy)) {
		free(copy);
		return 0;
	}
	check(archive,
	      OTF2_GlobalDefWriter_WriteString(archive->definitions, archive->nr_strings, copy));
	free(copy);
	return archive->nr_strings++;
}

/* A string of the trace. */
static uint32_t find_string(struct archive *archive, uint32_t offset)
{
	uint32_t string = map64_get(&archive->strings, offset);

	if (string != UINT32_MAX)
		return string;
	string = add_string(archive, trace_string(archive->trace, offset));
	if (map64_add(&archive->strings, offset, string) && !archive->error)
		archive->error = -ENOMEM;
	return string;
}

/* --- events ----------------------------------------------------------------------------------- */

/*
 * A sampler cannot see which functions were left and entered again between two samples, so
 * everything counts as newly entered: the depth, and 1 for what is below the root.
 */
static void write_sample(struct archive *archive, OTF2_EvtWriter *writer,
                         const struct spool_sample *sample)
{
	check(archive,
	      OTF2_EvtWriter_CallingContextSample(
		      writer, NULL, sample->time, sample->path, archive->depths[sample->path] + 1,
		      archive->plan.generator_of_source[sample->source]));
}

/*
 * What was counted in the location up to now, as counters are there: at the time of each sample,
 * and before it. Readers take differences.
 */
static void write_metrics(struct archive *archive, OTF2_EvtWriter *writer, uint64_t time,
                          OTF2_MetricValue *totals)
{
	const uint64_t *counters = spool_counters(archive->spool);

	if (!archive->nr_metrics)
		return;
	for (unsigned i = 0; i < archive->nr_metrics; i++)
		totals[i].unsigned_int += counters[i];
	check(archive, OTF2_EvtWriter_Metric(writer, NULL, time, 0, (uint8_t)archive->nr_metrics,
	                                     archive->metric_types, totals));
}

/* Counters are those of the first event. */
static bool has_counters(const struct archive *archive, const struct spool_sample *sample)
{
	return !archive->spool->sources[sample->source].event;
}

static void write_location(struct archive *archive, uint32_t thread)
{
	OTF2_MetricValue totals[COUNTER_MAX] = {{0}};
	OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive->otf2, thread);
	struct spool_sample sample;
	int got = 0;

	if (failed(archive, writer))
		return;
	spool_open(archive->spool, thread);
	while (!archive->error && (got = spool_next(archive->spool, &sample)) == 1) {
		if (has_counters(archive, &sample))
			write_metrics(archive, writer, sample.time, totals);
		write_sample(archive, writer, &sample);
		if (!archive->error)
			archive->error = convert_step(archive->conversion);
	}
	if (got < 0)
		archive->error = got;
	check(archive, OTF2_EvtWriter_GetNumberOfEvents(writer, &archive->nr_events[thread]));
	check(archive, OTF2_Archive_CloseEvtWriter(archive->otf2, writer));
}

/* Readers complain about locations without a file of definitions, even if it would say nothing. */
static void write_local_definitions(struct archive *archive)
{
	check(archive, OTF2_Archive_OpenDefFiles(archive->otf2));
	for (uint32_t i = 0; i < archive->plan.nr_threads && !archive->error; i++) {
		OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive->otf2, i);

		if (!failed(archive, writer))
			check(archive, OTF2_Archive_CloseDefWriter(archive->otf2, writer));
	}
	check(archive, OTF2_Archive_CloseDefFiles(archive->otf2));
}

static void write_events(struct archive *archive)
{
	check(archive, OTF2_Archive_OpenEvtFiles(archive->otf2));
	for (uint32_t i = 0; i < archive->plan.nr_threads && !archive->error; i++)
		write_location(archive, i);
	check(archive, OTF2_Archive_CloseEvtFiles(archive->otf2));
}

/* --- definitions ------------------------------------------------------------------------------ */

static uint64_t first_time(const struct archive *archive)
{
	uint64_t start = trace_run(archive->trace)->start;

	return archive->spool->last_time && archive->spool->first_time < start
	               ? archive->spool->first_time
	               : start;
}

static void write_clock(struct archive *archive)
{
	const struct trace_run *run = trace_run(archive->trace);
	uint64_t start = first_time(archive), end = run->end;

	if (archive->spool->last_time > end)
		end = archive->spool->last_time;
	if (end < start)
		end = start;
	check(archive, OTF2_GlobalDefWriter_WriteClockProperties(
			       archive->definitions, 1000000000, start, end - start + 1,
			       run->real_start - (run->start - start)));
}

static void write_machine(struct archive *archive)
{
	const struct trace_run *run = trace_run(archive->trace);
	uint32_t host = find_string(archive, run->host);
	uint32_t machine = add_string(archive, "machine"), node = add_string(archive, "node");
	OTF2_GlobalDefWriter *to = archive->definitions;
	struct {
		const char *name;
		uint32_t value;
	} properties[] = {{"kernel", run->kernel}, {"cpu model", run->cpu_model}};

	check(archive,
	      OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 0, host ? host : machine, machine,
	                                               OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	check(archive, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
			       to, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
	check(archive,
	      OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 1, host ? host : node, node, 0));
	check(archive, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
			       to, 1, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
	for (unsigned i = 0; i < sizeof(properties) / sizeof(*properties); i++) {
		uint32_t name = add_string(archive, properties[i].name);
		OTF2_AttributeValue value = {.stringRef =
		                                     find_string(archive, properties[i].value)};

		check(archive, OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(
				       to, 1, name, OTF2_TYPE_STRING, value));
	}
}

static void write_groups(struct archive *archive)
{
	uint32_t key = add_string(archive, "PID");

	for (uint32_t i = 0; i < archive->plan.nr_groups && !archive->error; i++) {
		const struct otf2_group *group = &archive->plan.groups[i];
		OTF2_AttributeValue pid = {.int32 = group->pid};
		char text[TEXT_SIZE];
		uint32_t name;

		snprintf(text, sizeof(text), "%.64s (later tasks)",
		         trace_string(archive->trace, group->comm));
		name = group->pid ? find_string(archive, group->comm) : add_string(archive, text);
		check(archive,
		      OTF2_GlobalDefWriter_WriteLocationGroup(archive->definitions, i, name,
		                                              OTF2_LOCATION_GROUP_TYPE_PROCESS, 1,
		                                              OTF2_UNDEFINED_LOCATION_GROUP));
		check(archive, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
				       archive->definitions, i, key, OTF2_TYPE_INT32, pid));
	}
}

static void write_location_properties(struct archive *archive, const uint32_t keys[4],
                                      uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(archive->trace, thread);
	uint64_t values[] = {entry->start, entry->end, entry->exact};
	OTF2_AttributeValue value = {.int32 = entry->tid};

	check(archive, OTF2_GlobalDefWriter_WriteLocationProperty(archive->definitions, thread,
	                                                          keys[0], OTF2_TYPE_INT32, value));
	for (unsigned i = 0; i < 3; i++) {
		/* an end or total that is not known */
		if ((i == 1 && !entry->end) || (i == 2 && !(entry->flags & TRACE_THREAD_EXACT)))
			continue;
		value.uint64 = values[i];
		check(archive, OTF2_GlobalDefWriter_WriteLocationProperty(archive->definitions,
		                                                          thread, keys[1 + i],
		                                                          OTF2_TYPE_UINT64, value));
	}
}

static void write_locations(struct archive *archive)
{
	static const char *const names[] = {"TID", "start", "end", "exact total"};
	uint32_t keys[4];

	for (unsigned i = 0; i < 4; i++)
		keys[i] = add_string(archive, names[i]);
	for (uint32_t i = 0; i < archive->plan.nr_threads && !archive->error; i++) {
		const struct trace_thread *thread = trace_thread(archive->trace, i);
		char text[TEXT_SIZE];

		snprintf(text, sizeof(text), "%.64s %d",
		         thread ? trace_string(archive->trace, thread->comm) : "[unknown]",
		         thread ? thread->tid : 0);
		check(archive, OTF2_GlobalDefWriter_WriteLocation(
				       archive->definitions, i, add_string(archive, text),
				       OTF2_LOCATION_TYPE_CPU_THREAD, archive->nr_events[i],
				       archive->plan.group_of_thread[i]));
		if (thread)
			write_location_properties(archive, keys, i);
	}
}

/* A module is a region's description: OTF2 has no place for it. */
static void write_regions(struct archive *archive)
{
	const struct frame_names *names = &archive->paths.names;
	char text[FRAME_TEXT_SIZE];

	for (uint32_t i = 0; i < names->nr && !archive->error; i++) {
		uint32_t symbol = names->names[i].symbol, module, name;

		name = symbol ? find_string(archive, symbol)
		              : add_string(archive, paths_function(&archive->paths, i, text));
		module = find_string(archive, names->names[i].module);
		check(archive, OTF2_GlobalDefWriter_WriteRegion(
				       archive->definitions, i, name, name, module,
				       OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_SAMPLING,
				       OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
	}
}

/* Places without a line have none; the others' numbers are free of gaps. */
static void write_locations_in_source(struct archive *archive)
{
	const struct paths *paths = &archive->paths;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < paths->nr_places && !archive->error; i++) {
		const struct place *place = &paths->places[i];

		archive->source_of_place[i] = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
		if (!place->file)
			continue;
		archive->source_of_place[i] = nr;
		check(archive, OTF2_GlobalDefWriter_WriteSourceCodeLocation(
				       archive->definitions, nr++,
				       find_string(archive, place->file), place->line));
	}
}

static void write_contexts(struct archive *archive)
{
	const struct paths *paths = &archive->paths;

	for (uint32_t i = 0; i < paths->nr_paths && !archive->error; i++) {
		uint32_t caller = paths->paths[i].caller;

		check(archive,
		      OTF2_GlobalDefWriter_WriteCallingContext(
			      archive->definitions, i, paths_leaf(paths, i),
			      OTF2_UNDEFINED_SOURCE_CODE_LOCATION,
			      caller == PATH_NONE ? OTF2_UNDEFINED_CALLING_CONTEXT : caller));
	}
}

/* The period is the weight of its samples: what one stands for in the end, after all doublings. */
static void write_generators(struct archive *archive)
{
	for (uint32_t i = 0; i < archive->plan.nr_generators && !archive->error; i++) {
		const struct otf2_generator *generator = &archive->plan.generators[i];
		const struct trace_event *event = trace_event(archive->trace, generator->event);
		bool time = event->unit == TRACE_NS;

		check(archive, OTF2_GlobalDefWriter_WriteInterruptGenerator(
				       archive->definitions, i, find_string(archive, event->name),
				       time ? OTF2_INTERRUPT_GENERATOR_MODE_TIME
					    : OTF2_INTERRUPT_GENERATOR_MODE_COUNT,
				       OTF2_BASE_DECIMAL, time ? -9 : 0, generator->period));
	}
}

static void write_metric_members(struct archive *archive)
{
	uint32_t seconds = add_string(archive, "s"), number = add_string(archive, "#");

	for (uint32_t i = 0; i < archive->nr_metrics && !archive->error; i++) {
		const struct trace_counter *counter = trace_counter(archive->trace, i);
		uint32_t name = find_string(archive, counter->name);
		bool time = counter->unit == TRACE_NS;

		check(archive, OTF2_GlobalDefWriter_WriteMetricMember(
				       archive->definitions, i, name, name, OTF2_METRIC_TYPE_OTHER,
				       OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64,
				       OTF2_BASE_DECIMAL, time ? -9 : 0, time ? seconds : number));
	}
}

/* One class with all counters, recorded by every location itself. */
static void write_metric_class(struct archive *archive)
{
	OTF2_MetricMemberRef members[COUNTER_MAX];

	if (!archive->nr_metrics)
		return;
	write_metric_members(archive);
	for (unsigned i = 0; i < archive->nr_metrics; i++)
		members[i] = i;
	check(archive, OTF2_GlobalDefWriter_WriteMetricClass(
			       archive->definitions, 0, (uint8_t)archive->nr_metrics, members,
			       OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
	for (uint32_t i = 0; i < archive->plan.nr_threads && !archive->error; i++)
		check(archive,
		      OTF2_GlobalDefWriter_WriteMetricClassRecorder(archive->definitions, 0, i));
}

static void write_global_definitions(struct archive *archive)
{
	archive->definitions = OTF2_Archive_GetGlobalDefWriter(archive->otf2);
	if (failed(archive, archive->definitions))
		return;
	write_clock(archive);
	add_string(archive, "");
	write_machine(archive);
	write_groups(archive);
	write_locations(archive);
	write_regions(archive);
	write_generators(archive);
	write_locations_in_source(archive);
	write_contexts(archive);
	write_metric_class(archive);
	check(archive, OTF2_Archive_CloseGlobalDefWriter(archive->otf2, archive->definitions));
}

/* --- reductions, as markers ------------------------------------------------------------------- */

static void write_markers(struct archive *archive)
{
	const struct trace_reduction *reduction;
	OTF2_MarkerWriter *writer = NULL;
	char text[TEXT_SIZE];

	if (archive->error || !trace_reduction(archive->trace, 0))
		return;
	writer = OTF2_Archive_GetMarkerWriter(archive->otf2);
	if (failed(archive, writer))
		return;
	check(archive, OTF2_MarkerWriter_WriteDefMarker(writer, 0, "adaptrace", "reduction",
	                                                OTF2_SEVERITY_NONE));
	for (uint32_t i = 0; (reduction = trace_reduction(archive->trace, i)); i++) {
		reduction_text(archive->trace, reduction, text, sizeof(text));
		check(archive, OTF2_MarkerWriter_WriteMarker(writer, reduction->time, 0, 0,
		                                             OTF2_MARKER_SCOPE_GLOBAL, 0, text));
	}
	check(archive, OTF2_Archive_CloseMarkerWriter(archive->otf2, writer));
}

/* --- the whole -------------------------------------------------------------------------------- */

static int add_property(void *arg, const char *name, const char *value)
{
	struct archive *archive = arg;
	char *copy, key[TEXT_SIZE];

	if (!*value) /* would remove the property */
		return 0;
	copy = escape_copy(value);
	snprintf(key, sizeof(key), "ADAPTRACE::%s", name);
	if (!failed(archive, copy))
		check(archive, OTF2_Archive_SetProperty(archive->otf2, key, copy, true));
	free(copy);
	return archive->error;
}

static void write_archive(struct archive *archive)
{
	static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = always_flush};

	check(archive, OTF2_Archive_SetSerialCollectiveCallbacks(archive->otf2));
	check(archive, OTF2_Archive_SetFlushCallbacks(archive->otf2, &flush, NULL));
	check(archive, OTF2_Archive_SetCreator(archive->otf2, "adaptrace " ADAPTRACE_VERSION));
	if (!archive->error)
		run_properties(archive->trace, add_property, archive);
	write_events(archive);
	write_local_definitions(archive);
	write_global_definitions(archive);
	write_markers(archive);
}

static int archive_init(struct archive *archive)
{
	if (paths_init(&archive->paths, archive->trace, PATHS_BY_LINE))
		return -ENOMEM;
	archive->spool = spool_new(archive->conversion, &archive->paths, TRACE_ALL_EVENTS);
	if (!archive->spool)
		return -errno;
	archive->nr_metrics = archive->spool->nr_counters;
	for (unsigned i = 0; i < archive->nr_metrics; i++)
		archive->metric_types[i] = OTF2_TYPE_UINT64;
	archive->depths = paths_depths(&archive->paths);
	archive->source_of_place =
		calloc((size_t)archive->paths.nr_places + 1, sizeof(*archive->source_of_place));
	archive->nr_events = calloc(archive->spool->nr_threads, sizeof(*archive->nr_events));
	if (!archive->depths || !archive->source_of_place || !archive->nr_events)
		return -ENOMEM;
	return otf2_plan_init(&archive->plan, archive->trace, archive->spool);
}

static void archive_fini(struct archive *archive)
{
	paths_fini(&archive->paths);
	spool_free(archive->spool);
	otf2_plan_fini(&archive->plan);
	map64_fini(&archive->strings);
	free(archive->depths);
	free(archive->source_of_place);
	free(archive->nr_events);
}

int otf2_write(struct conversion *conversion, const char *folder)
{
	struct archive archive = {.conversion = conversion, .trace = conversion->trace};
	OTF2_ErrorCallback old = OTF2_Error_RegisterCallback(say_nothing, NULL);

	convert_plan(conversion, SPOOL_WALKS + 1, TRACE_ALL_EVENTS);
	archive.error = archive_init(&archive);
	if (!archive.error) {
		archive.otf2 = OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK,
		                                 DEFINITION_CHUNK, OTF2_SUBSTRATE_POSIX,
		                                 OTF2_COMPRESSION_NONE);
		if (!failed(&archive, archive.otf2))
			write_archive(&archive);
		check(&archive, OTF2_Archive_Close(archive.otf2));
	}
	archive_fini(&archive);
	OTF2_Error_RegisterCallback(old, NULL);
	return archive.error;
}
