/*
 * Files of MPI: a handle for each time that one was opened, by all members of a communicator
 * together, and a file for each name.
 */
#include "output/otf2/otf2_location.h"

#include <errno.h>
#include <string.h>

/* MPI's modes of access, the same in all libraries. */
enum mode {
	MODE_CREATE = 1,
	MODE_WRITE_ONLY = 4,
	MODE_READ_WRITE = 8,
	MODE_DELETE_ON_CLOSE = 16,
	MODE_UNIQUE = 32,
	MODE_EXCLUSIVE = 64,
	MODE_APPEND = 128,
};

/* --- definitions ------------------------------------------------------------------------------ */

static void write_paradigm(struct archive *archive)
{
	otf2_check(archive,
	           OTF2_GlobalDefWriter_WriteIoParadigm(
			   archive->definitions, 0, otf2_add_string(archive, "MPI-IO"),
			   otf2_add_string(archive, "MPI I/O"), OTF2_IO_PARADIGM_CLASS_PARALLEL,
			   OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL));
}

/* The file of a name; names are written before what refers to them. */
static uint32_t find_file(struct archive *archive, struct map64 *files, uint32_t name)
{
	uint32_t nr = files->nr, number = map64_number(files, name);
	uint32_t string = otf2_find_string(archive, name);

	if (number == UINT32_MAX && !archive->err)
		archive->err = -ENOMEM;
	if (number == nr)
		otf2_check(archive, OTF2_GlobalDefWriter_WriteIoRegularFile(archive->definitions,
		                                                            number, string, 0));
	return number;
}

static uint32_t comm_of_file(const struct archive *archive, const struct trace_comm *file)
{
	uint32_t number = file->parent ? archive->plan.comms[file->parent - 1].number : PLAN_NONE;

	return number == PLAN_NONE ? OTF2_UNDEFINED_COMM : number;
}

static void write_handle(struct archive *archive, uint32_t handle, const struct trace_comm *file,
                         uint32_t number)
{
	otf2_check(archive,
	           OTF2_GlobalDefWriter_WriteIoHandle(
			   archive->definitions, handle, otf2_find_string(archive, file->name),
			   number, 0, OTF2_IO_HANDLE_FLAG_NONE, comm_of_file(archive, file),
			   OTF2_UNDEFINED_IO_HANDLE));
}

void otf2_write_files(struct archive *archive)
{
	struct map64 files = {0};

	if (archive->handles.nr)
		write_paradigm(archive);
	for (uint32_t n = 0; n < archive->handles.nr && !archive->err; n++) {
		const struct trace_comm *file =
			trace_comm(archive->trace, archive->handles.in_order[n]);

		write_handle(archive, n, file, find_file(archive, &files, file->name));
	}
	map64_fini(&files);
}

/* --- events ----------------------------------------------------------------------------------- */

static bool handle_of(struct archive *archive, const struct call_part *part, uint32_t *handle)
{
	const struct trace_comm *file = trace_comm(archive->trace, part->comm);

	if (!file || !(file->flags & TRACE_COMM_FILE))
		return false;
	*handle = otf2_number(&archive->handles, part->comm);
	return true;
}

static OTF2_IoOperationFlag flags_of(const char *name)
{
	bool together = strstr(name, "_all") || strstr(name, "_ordered");
	bool later = strstr(name, "_iread") || strstr(name, "_iwrite") || strstr(name, "_begin");

	return (together ? OTF2_IO_OPERATION_FLAG_COLLECTIVE : 0U) |
	       (later ? OTF2_IO_OPERATION_FLAG_NON_BLOCKING : 0U);
}

static OTF2_IoAccessMode access_of(int32_t mode)
{
	if (mode & MODE_READ_WRITE)
		return OTF2_IO_ACCESS_MODE_READ_WRITE;
	return mode & MODE_WRITE_ONLY ? OTF2_IO_ACCESS_MODE_WRITE_ONLY
	                              : OTF2_IO_ACCESS_MODE_READ_ONLY;
}

static OTF2_IoCreationFlag creation_of(int32_t mode)
{
	return (mode & MODE_CREATE ? OTF2_IO_CREATION_FLAG_CREATE : 0U) |
	       (mode & MODE_UNIQUE ? OTF2_IO_CREATION_FLAG_UNIQUE : 0U) |
	       (mode & MODE_EXCLUSIVE ? OTF2_IO_CREATION_FLAG_EXCLUSIVE : 0U);
}

static OTF2_IoStatusFlag status_of(int32_t mode)
{
	return (mode & MODE_APPEND ? OTF2_IO_STATUS_FLAG_APPEND : 0U) |
	       (mode & MODE_DELETE_ON_CLOSE ? OTF2_IO_STATUS_FLAG_DELETE_ON_CLOSE : 0U);
}

static void write_opened(struct location *location, uint64_t time, uint32_t handle, int32_t mode)
{
	otf2_check(location->archive, OTF2_EvtWriter_IoCreateHandle(
					      location->writer, NULL, time, handle, access_of(mode),
					      creation_of(mode), status_of(mode)));
}

/* No two operations of a location have the same: those of requests are odd. */
static uint64_t matching_id(const struct location *location, const struct call_part *part)
{
	return call_part_fields(part->type) & PART_REQUEST ? part->request << 1 | 1
	                                                   : location->transfers << 1;
}

static bool is_read(const struct call_part *part)
{
	return part->type == CALL_FILE_READ || part->type == CALL_READ_POSTED;
}

void otf2_file_begun(struct location *location, uint64_t time, const struct call *call,
                     const struct call_part *part)
{
	const char *name = trace_region_name(location->archive->trace, call->region);
	uint32_t handle;

	if (!handle_of(location->archive, part, &handle))
		return;
	otf2_check(location->archive,
	           OTF2_EvtWriter_IoOperationBegin(location->writer, NULL, time, handle,
	                                           is_read(part) ? OTF2_IO_OPERATION_MODE_READ
	                                                         : OTF2_IO_OPERATION_MODE_WRITE,
	                                           flags_of(name), part->bytes_in,
	                                           matching_id(location, part)));
	if (call_part_fields(part->type) & PART_REQUEST)
		otf2_activate(location, part, handle + 1);
}

/*
 * A transfer that only began is written as issued. Where the trace has no end of it, the end is
 * unknown.
 */
static void write_moved(struct location *location, uint64_t time, const struct call *call,
                        const struct call_part *part, uint32_t handle)
{
	const char *name = trace_region_name(location->archive->trace, call->region);
	uint64_t id = matching_id(location, part);
	OTF2_EvtWriter *to = location->writer;

	if (flags_of(name) & OTF2_IO_OPERATION_FLAG_NON_BLOCKING)
		otf2_check(location->archive,
		           OTF2_EvtWriter_IoOperationIssued(to, NULL, time, handle, id));
	else
		otf2_check(location->archive, OTF2_EvtWriter_IoOperationComplete(
						      to, NULL, time, handle, part->bytes, id));
	location->transfers++;
}

void otf2_file_request(struct location *location, uint64_t time, uint32_t handle,
                       const struct call_part *part)
{
	uint64_t id = matching_id(location, part);
	OTF2_EvtWriter *to = location->writer;

	if (part->type == CALL_TEST_FAILED)
		otf2_check(location->archive,
		           OTF2_EvtWriter_IoOperationTest(to, NULL, time, handle, id));
	else if (part->type == CALL_CANCELLED)
		otf2_check(location->archive,
		           OTF2_EvtWriter_IoOperationCancelled(to, NULL, time, handle, id));
	else
		otf2_check(location->archive, OTF2_EvtWriter_IoOperationComplete(
						      to, NULL, time, handle, part->bytes, id));
}

void otf2_file_done(struct location *location, uint64_t time, const struct call *call,
                    const struct call_part *part)
{
	uint32_t handle;

	if (!handle_of(location->archive, part, &handle))
		return;
	if (part->type == CALL_FILE_OPENED)
		write_opened(location, time, handle, part->tag);
	else if (part->type == CALL_FILE_CLOSED)
		otf2_check(location->archive,
		           OTF2_EvtWriter_IoDestroyHandle(location->writer, NULL, time, handle));
	else
		write_moved(location, time, call, part, handle);
}
