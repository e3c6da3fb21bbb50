#include "output/otf2/otf2.h"

#include "output/text/escape.h"
#include "output/views/mpi_paths.h"
#include "output/otf2/otf2_archive.h"
#include "output/views/run_properties.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define EVENT_CHUNK (1 << 20)
/* Every location's file costs one; a list of very many ranks must fit into one. */
#define DEFINITION_CHUNK (256 << 10)
#define MANY_DEFINITIONS (4 << 20)
#define MANY_RANKS       (1 << 14)

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

/*
 * The library calls this before it writes a full chunk, and at the end of each file, whose last
 * chunk is not counted. Other files than those of events are counted by their texts.
 */
static OTF2_FlushType count_flush(void *data, OTF2_FileType type, OTF2_LocationRef location,
                                  void *caller, bool final)
{
	struct archive *archive = data;

	(void)location, (void)caller;
	if (type == OTF2_FILETYPE_EVENTS && !final)
		otf2_took(archive, EVENT_CHUNK);
	return OTF2_FLUSH;
}

/* --- reductions ------------------------------------------------------------------------------- */

static void write_actions(struct archive *archive)
{
	const struct trace_action *action;

	for (uint32_t i = 0; (action = trace_action(archive->trace, i)); i++)
		otf2_write_marker(archive, action->time, PLAN_NONE,
		                  trace_action_text(archive->trace, action));
}

/* The markers of all locations, of which these are the last. */
static void write_reductions(struct archive *archive)
{
	const struct trace_reduction *reduction;
	char text[OTF2_TEXT_SIZE];

	for (uint32_t i = 0; (reduction = trace_reduction(archive->trace, i)); i++) {
		reduction_text(archive->trace, reduction, text, sizeof(text));
		otf2_write_marker(archive, reduction->time, PLAN_NONE, text);
	}
	write_actions(archive);
	if (archive->markers)
		otf2_check(archive,
		           OTF2_Archive_CloseMarkerWriter(archive->otf2, archive->markers));
}

/* --- properties ------------------------------------------------------------------------------- */

/*
 * The library writes and reads the anchor file, which has the properties, as one piece of 256 KiB,
 * and does not complain of more.
 */
#define PROPERTIES_ROOM ((size_t)240 << 10)
#define PROPERTY_ROOM   ((size_t)64 << 10)

/* Ends a text that is too long behind a whole character. */
static void cut_text(char *text, size_t room)
{
	if (strlen(text) <= room)
		return;
	while (room && ((unsigned char)text[room] & 0xc0) == 0x80)
		room--;
	text[room] = '\0';
}

static void set_property(struct archive *archive, const char *key, const char *value)
{
	size_t size = strlen(key) + strlen(value) + 2;

	if (size > PROPERTIES_ROOM - archive->properties_size) {
		archive->properties_left++;
		return;
	}
	archive->properties_size += size;
	otf2_check(archive, OTF2_Archive_SetProperty(archive->otf2, key, value, true));
}

/* Sets one of the few for which PROPERTIES_ROOM leaves room. */
static void set_last_property(struct archive *archive, const char *key, const char *value)
{
	if (!archive->err)
		otf2_check(archive, OTF2_Archive_SetProperty(archive->otf2, key, value, true));
}

static int add_property(void *arg, const char *name, const char *value)
{
	struct archive *archive = arg;
	char *copy, key[OTF2_TEXT_SIZE];

	if (!*value) /* would remove the property */
		return 0;
	copy = escape_copy(value);
	snprintf(key, sizeof(key), "ADAPTRACE::%s", name);
	if (!otf2_failed(archive, copy)) {
		cut_text(copy, PROPERTY_ROOM);
		set_property(archive, key, copy);
	}
	free(copy);
	return archive->err;
}

static void write_properties(struct archive *archive)
{
	char left[16];

	if (archive->err || run_properties(archive->trace, add_property, archive) ||
	    !archive->properties_left)
		return;
	snprintf(left, sizeof(left), "%u", archive->properties_left);
	set_last_property(archive, "ADAPTRACE::LEFT_OUT", left);
}

/*
 * Readers pair the ends of messages by their order. Where one end is missing, and it is not known
 * which, they pair wrong ones behind it.
 */
static bool has_unsure_pairs(const struct archive *archive)
{
	return archive->has_messages && !archive->iterations.nr &&
	       !trace_calls_complete(archive->trace);
}

/* Tells of messages and collectives whose other ends were dropped. */
static void write_pairs(struct archive *archive)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, archive->nr_unpaired);
	if (archive->nr_unpaired)
		set_last_property(archive, "ADAPTRACE::UNPAIRED", text);
	if (has_unsure_pairs(archive))
		set_last_property(archive, "ADAPTRACE::UNSURE_PAIRS", "calls were dropped");
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Readers complain about locations without a file of definitions, even if it would say nothing. */
static void write_local_definitions(struct archive *archive)
{
	otf2_check(archive, OTF2_Archive_OpenDefFiles(archive->otf2));
	for (uint32_t i = 0; i < archive->plan.nr_locations && !archive->err; i++) {
		OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive->otf2, i);

		if (!otf2_failed(archive, writer))
			otf2_check(archive, OTF2_Archive_CloseDefWriter(archive->otf2, writer));
		otf2_tick(archive);
	}
	otf2_check(archive, OTF2_Archive_CloseDefFiles(archive->otf2));
}

static void write_archive(struct archive *archive)
{
	static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = count_flush};

	otf2_check(archive, OTF2_Archive_SetSerialCollectiveCallbacks(archive->otf2));
	otf2_check(archive, OTF2_Archive_SetFlushCallbacks(archive->otf2, &flush, archive));
	otf2_check(archive, OTF2_Archive_SetCreator(archive->otf2, "adaptrace " ADAPTRACE_VERSION));
	write_properties(archive);
	otf2_write_events(archive);
	write_pairs(archive);
	write_local_definitions(archive);
	otf2_write_definitions(archive);
	write_reductions(archive);
}

static int archive_init(struct archive *archive)
{
	uint32_t nr_comms = trace_nr(archive->trace, TRACE_COMMS), deepest;
	int err;

	archive->spool = spool_new(archive->conversion, PATHS_BY_LINE, TRACE_ALL_EVENTS);
	if (!archive->spool)
		return -errno;
	archive->paths = &archive->spool->paths;
	archive->nr_regions = trace_nr(archive->trace, TRACE_REGIONS);
	if (!archive->conversion->enter_leave)
		archive->nr_counters = archive->spool->nr_counters;
	archive->depths = paths_depths(archive->paths, &deepest);
	archive->mpi = mpi_paths_functions(archive->paths);
	archive->source_of_name =
		calloc((size_t)archive->paths->names.nr + 1, sizeof(*archive->source_of_name));
	archive->nr_events = calloc(archive->spool->nr_threads, sizeof(*archive->nr_events));
	archive->nr_calls = calloc(archive->spool->nr_threads, sizeof(*archive->nr_calls));
	if (!archive->depths || !archive->mpi || !archive->source_of_name || !archive->nr_events ||
	    !archive->nr_calls || otf2_numbers_init(&archive->metrics, archive->nr_regions) ||
	    otf2_numbers_init(&archive->mpi_windows, nr_comms) ||
	    otf2_numbers_init(&archive->handles, nr_comms) ||
	    otf2_teams_init(&archive->teams, archive->trace, archive->spool->nr_threads))
		return -ENOMEM;
	err = iteration_index_init(&archive->iterations, archive->trace);
	archive->source = (struct message_source){archive->spool->calls, &archive->iterations};
	if (!err)
		err = message_pairs_new(&archive->pairs, &archive->source, 1);
	if (err)
		return err;
	return otf2_plan_init(&archive->plan, archive->spool);
}

static void archive_fini(struct archive *archive)
{
	spool_free(archive->spool);
	otf2_plan_fini(&archive->plan);
	message_pairs_free(archive->pairs);
	iteration_index_fini(&archive->iterations);
	map64_fini(&archive->strings);
	map64_fini(&archive->context_by_key);
	map64_fini(&archive->moved);
	free(archive->contexts);
	free(archive->depths);
	free(archive->mpi);
	free(archive->source_of_name);
	free(archive->nr_events);
	free(archive->nr_calls);
	otf2_numbers_fini(&archive->metrics);
	otf2_numbers_fini(&archive->mpi_windows);
	otf2_numbers_fini(&archive->handles);
	otf2_teams_fini(&archive->teams);
}

/* Readers take an archive in which nobody does anything for a broken one. */
static int check_locations(const struct archive *archive)
{
	return archive->plan.nr_locations ? 0 : -ENODATA;
}

/* The library says nothing of it where it could not write what names all other files. */
static int check_anchor(const char *folder)
{
	char *anchor;
	struct stat st;
	int err = 0;

	if (asprintf(&anchor, "%s/traces.otf2", folder) < 0)
		return -ENOMEM;
	if (stat(anchor, &st))
		err = -errno;
	else if (!st.st_size)
		err = -EIO;
	free(anchor);
	return err;
}

int otf2_write(struct conversion *conversion, const char *folder)
{
	struct archive archive = {.conversion = conversion, .trace = conversion->trace};
	OTF2_ErrorCallback old = OTF2_Error_RegisterCallback(say_nothing, NULL);

	convert_plan(conversion, SPOOL_WALKS + 1, TRACE_ALL_EVENTS);
	archive.err = archive_init(&archive);
	if (!archive.err)
		archive.err = check_locations(&archive);
	if (!archive.err) {
		archive.otf2 = OTF2_Archive_Open(
			folder, "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK,
			archive.plan.nr_ranks > MANY_RANKS ? MANY_DEFINITIONS : DEFINITION_CHUNK,
			OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
		if (!otf2_failed(&archive, archive.otf2))
			write_archive(&archive);
		otf2_check(&archive, OTF2_Archive_Close(archive.otf2));
		if (!archive.err)
			archive.err = check_anchor(folder);
	}
	conversion->unpaired = archive.nr_unpaired;
	conversion->has_unsure_pairs = has_unsure_pairs(&archive);
	archive_fini(&archive);
	OTF2_Error_RegisterCallback(old, NULL);
	return archive.err;
}
