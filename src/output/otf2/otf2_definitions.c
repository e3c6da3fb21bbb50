#include "output/otf2/otf2_archive.h"

/* --- where and when --------------------------------------------------------------------------- */

static void write_clock(struct archive *archive)
{
	const struct trace_run *run = trace_run(archive->trace);
	uint64_t start = spool_start(archive->spool), end = run->end;

	if (archive->spool->last_time > end)
		end = archive->spool->last_time;
	if (end < start)
		end = start;
	otf2_check(archive, OTF2_GlobalDefWriter_WriteClockProperties(
				    archive->definitions, 1000000000, start, end - start + 1,
				    run->real_start - (run->start - start)));
}

/* The trace has properties of one machine only: they belong to its first host. */
static void write_node_properties(struct archive *archive)
{
	const struct trace_run *run = trace_run(archive->trace);
	struct {
		const char *name;
		uint32_t value;
	} properties[] = {{"kernel", run->kernel}, {"cpu model", run->cpu_model}};

	for (unsigned i = 0; i < sizeof(properties) / sizeof(*properties); i++) {
		uint32_t name = otf2_add_string(archive, properties[i].name);
		OTF2_AttributeValue value = {
			.stringRef = otf2_find_string(archive, properties[i].value)};

		otf2_check(archive,
		           OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(
				   archive->definitions, 1, name, OTF2_TYPE_STRING, value));
	}
}

static void write_machine(struct archive *archive)
{
	uint32_t host = otf2_find_string(archive, archive->plan.hosts[0]);
	uint32_t machine = otf2_add_string(archive, "machine"),
		 node = otf2_add_string(archive, "node");
	OTF2_GlobalDefWriter *to = archive->definitions;

	otf2_check(archive, OTF2_GlobalDefWriter_WriteSystemTreeNode(
				    to, 0, host && archive->plan.nr_hosts == 1 ? host : machine,
				    machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	otf2_check(archive, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
				    to, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
	for (uint32_t i = 0; i < archive->plan.nr_hosts; i++) {
		host = otf2_find_string(archive, archive->plan.hosts[i]);
		otf2_check(archive, OTF2_GlobalDefWriter_WriteSystemTreeNode(
					    to, 1 + i, host ? host : node, node, 0));
		otf2_check(archive, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
					    to, 1 + i, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
	}
	write_node_properties(archive);
}

static uint32_t group_name(struct archive *archive, const struct otf2_group *group)
{
	const char *comm = trace_command_name(archive->trace, group->comm);
	char text[OTF2_TEXT_SIZE];

	if (group->rank >= 0 && !group->comm && !group->pid)
		snprintf(text, sizeof(text), "rank %d (not recorded)", group->rank);
	else if (group->rank >= 0)
		snprintf(text, sizeof(text), "rank %d: %.64s", group->rank, comm);
	else if (!group->pid)
		snprintf(text, sizeof(text), "%.64s (later tasks)", comm);
	else
		return group->comm ? otf2_find_string(archive, group->comm)
		                   : otf2_add_string(archive, comm);
	return otf2_add_string(archive, text);
}

static void write_groups(struct archive *archive)
{
	uint32_t key = otf2_add_string(archive, "PID");

	for (uint32_t i = 0; i < archive->plan.nr_groups && !archive->err; i++) {
		const struct otf2_group *group = &archive->plan.groups[i];
		OTF2_AttributeValue pid = {.int32 = group->pid};

		otf2_check(archive, OTF2_GlobalDefWriter_WriteLocationGroup(
					    archive->definitions, i, group_name(archive, group),
					    OTF2_LOCATION_GROUP_TYPE_PROCESS, 1 + group->host,
					    OTF2_UNDEFINED_LOCATION_GROUP));
		otf2_check(archive, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
					    archive->definitions, i, key, OTF2_TYPE_INT32, pid));
	}
}

static void write_location_properties(struct archive *archive, const uint32_t keys[4],
                                      uint32_t location, const struct trace_thread *entry)
{
	uint64_t values[] = {entry->start, entry->end, entry->exact};
	OTF2_AttributeValue value = {.int32 = entry->tid};

	otf2_check(archive,
	           OTF2_GlobalDefWriter_WriteLocationProperty(archive->definitions, location,
	                                                      keys[0], OTF2_TYPE_INT32, value));
	for (unsigned i = 0; i < 3; i++) {
		/* an end or total that is not known */
		if ((i == 1 && !entry->end) || (i == 2 && !(entry->flags & TRACE_THREAD_EXACT)))
			continue;
		value.uint64 = values[i];
		otf2_check(archive, OTF2_GlobalDefWriter_WriteLocationProperty(
					    archive->definitions, location, keys[1 + i],
					    OTF2_TYPE_UINT64, value));
	}
}

/* Writes the number of calls of a location, and for how many of them the callers are known. */
static void write_call_properties(struct archive *archive, const uint32_t keys[2],
                                  uint32_t location, const struct otf2_calls *calls)
{
	OTF2_AttributeValue values[] = {{.uint64 = calls->nr}, {.uint64 = calls->known}};

	for (unsigned i = 0; i < 2 && calls->nr; i++)
		otf2_check(archive, OTF2_GlobalDefWriter_WriteLocationProperty(
					    archive->definitions, location, keys[i],
					    OTF2_TYPE_UINT64, values[i]));
}

static void write_missing_location(struct archive *archive, uint32_t rank)
{
	char text[OTF2_TEXT_SIZE];

	snprintf(text, sizeof(text), "rank %u (not recorded)", rank);
	otf2_check(archive, OTF2_GlobalDefWriter_WriteLocation(
				    archive->definitions, rank, otf2_add_string(archive, text),
				    OTF2_LOCATION_TYPE_CPU_THREAD, 0, rank));
}

static void write_location(struct archive *archive, const uint32_t keys[6], uint32_t location)
{
	uint32_t number = archive->plan.thread_of_location[location];
	const struct trace_thread *thread = trace_thread(archive->trace, number);
	char text[OTF2_TEXT_SIZE];

	snprintf(text, sizeof(text), "%.64s %d",
	         trace_command_name(archive->trace, thread ? thread->comm : 0),
	         thread ? thread->tid : 0);
	otf2_check(archive, OTF2_GlobalDefWriter_WriteLocation(
				    archive->definitions, location, otf2_add_string(archive, text),
				    OTF2_LOCATION_TYPE_CPU_THREAD, archive->nr_events[number],
				    archive->plan.group_of_thread[number]));
	if (thread)
		write_location_properties(archive, keys, location, thread);
	write_call_properties(archive, keys + 4, location, &archive->nr_calls[number]);
}

static void write_locations(struct archive *archive)
{
	static const char *const names[] = {"TID",         "start",     "end",
	                                    "exact total", "MPI calls", "MPI calls with callers"};
	uint32_t keys[6];

	for (unsigned i = 0; i < 6; i++)
		keys[i] = otf2_add_string(archive, names[i]);
	for (uint32_t i = 0; i < archive->plan.nr_locations && !archive->err; i++)
		if (archive->plan.thread_of_location[i] == PLAN_NONE)
			write_missing_location(archive, i);
		else
			write_location(archive, keys, i);
}

/* A module is a region's description: OTF2 has no place for it. */
static void write_regions(struct archive *archive)
{
	uint32_t nr = archive->paths->names.nr_functions;
	char text[FRAME_TEXT_SIZE];

	for (uint32_t i = 0; i < nr && !archive->err; i++) {
		const struct frame_name *function = paths_name(archive->paths, i);
		uint32_t symbol = function->symbol, module, name;

		name = symbol ? otf2_find_string(archive, symbol)
		              : otf2_add_string(archive, paths_function(archive->paths, i, text));
		module = otf2_find_string(archive, function->module);
		otf2_check(archive, OTF2_GlobalDefWriter_WriteRegion(
					    archive->definitions, i, name, name, module,
					    OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_SAMPLING,
					    OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
	}
}

/* Places without a line have none; the others' numbers are free of gaps. */
static void write_locations_in_source(struct archive *archive)
{
	const struct paths *paths = archive->paths;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < paths->names.nr && !archive->err; i++) {
		const struct frame_name *name = &paths->names.names[i];

		archive->source_of_name[i] = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
		if (!name->file)
			continue;
		archive->source_of_name[i] = nr;
		otf2_check(archive, OTF2_GlobalDefWriter_WriteSourceCodeLocation(
					    archive->definitions, nr++,
					    otf2_find_string(archive, name->file), name->line));
	}
}

static void write_context(struct archive *archive, uint32_t number, uint32_t region,
                          uint32_t caller)
{
	otf2_check(archive, OTF2_GlobalDefWriter_WriteCallingContext(
				    archive->definitions, number, region,
				    OTF2_UNDEFINED_SOURCE_CODE_LOCATION,
				    caller == PATH_NONE ? OTF2_UNDEFINED_CALLING_CONTEXT : caller));
}

static void write_contexts(struct archive *archive)
{
	const struct paths *paths = archive->paths;

	for (uint32_t i = 0; i < paths_nr(paths) && !archive->err; i++)
		write_context(archive, i, paths_leaf(paths, i), paths_caller(paths, i));
	for (uint32_t i = 0; i < archive->nr_contexts && !archive->err; i++)
		write_context(archive, paths_nr(paths) + i, archive->contexts[i].region,
		              archive->contexts[i].caller);
}

/* The period is the weight of its samples: what one stands for in the end, after all doublings. */
static void write_generators(struct archive *archive)
{
	for (uint32_t i = 0; i < archive->plan.nr_generators && !archive->err; i++) {
		const struct otf2_generator *generator = &archive->plan.generators[i];
		const struct trace_event *event = trace_event(archive->trace, generator->event);
		bool time = event->unit == TRACE_NS;

		otf2_check(archive,
		           OTF2_GlobalDefWriter_WriteInterruptGenerator(
				   archive->definitions, i, otf2_find_string(archive, event->name),
				   time ? OTF2_INTERRUPT_GENERATOR_MODE_TIME
					: OTF2_INTERRUPT_GENERATOR_MODE_COUNT,
				   OTF2_BASE_DECIMAL, time ? -9 : 0, generator->period));
	}
}

/* --- the whole -------------------------------------------------------------------------------- */

void otf2_write_definitions(struct archive *archive)
{
	archive->definitions = OTF2_Archive_GetGlobalDefWriter(archive->otf2);
	if (otf2_failed(archive, archive->definitions))
		return;
	write_clock(archive);
	otf2_add_string(archive, "");
	otf2_write_paradigms(archive);
	write_machine(archive);
	write_groups(archive);
	write_locations(archive);
	write_regions(archive);
	otf2_write_call_regions(archive);
	write_generators(archive);
	write_locations_in_source(archive);
	write_contexts(archive);
	otf2_define_counters(archive);
	otf2_write_metrics(archive);
	if (archive->plan.nr_comms)
		otf2_write_comms(archive);
	otf2_write_teams(archive);
	otf2_write_files(archive);
	otf2_check(archive, OTF2_Archive_CloseGlobalDefWriter(archive->otf2, archive->definitions));
}
