#include "output/otf2/otf2_archive.h"

#include "output/text/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void otf2_check(struct archive *archive, OTF2_ErrorCode code)
{
	if (archive->err || code == OTF2_SUCCESS)
		return;
	archive->err = code == OTF2_ERROR_ENOSPC                                          ? -ENOSPC
	               : code == OTF2_ERROR_EDQUOT                                        ? -EDQUOT
	               : code == OTF2_ERROR_EACCES                                        ? -EACCES
	               : code == OTF2_ERROR_EMFILE                                        ? -EMFILE
	               : code == OTF2_ERROR_ENOMEM || code == OTF2_ERROR_MEM_ALLOC_FAILED ? -ENOMEM
	                                                                                  : -EIO;
	if (archive->err == -EIO && errno == ENOSPC) /* not all of its calls have a code for it */
		archive->err = -ENOSPC;
}

void otf2_took(struct archive *archive, uint64_t bytes)
{
	const uint64_t room = archive->conversion->room;

	archive->taken += bytes;
	if (room && archive->taken > room && !archive->err)
		archive->err = -E2BIG;
}

void otf2_tick(struct archive *archive)
{
	if (!archive->err)
		archive->err = convert_tick(archive->conversion);
}

bool otf2_failed(struct archive *archive, const void *pointer)
{
	if (!pointer && !archive->err)
		archive->err = -ENOMEM;
	return archive->err;
}

uint32_t otf2_add_string(struct archive *archive, const char *text)
{
	char *copy;

	if (!*text && archive->nr_strings)
		return 0;
	copy = escape_copy(text);
	if (otf2_failed(archive, copy)) {
		free(copy);
		return 0;
	}
	otf2_took(archive, strlen(copy));
	otf2_check(archive, OTF2_GlobalDefWriter_WriteString(archive->definitions,
	                                                     archive->nr_strings, copy));
	free(copy);
	return archive->nr_strings++;
}

uint32_t otf2_find_string(struct archive *archive, uint32_t offset)
{
	uint32_t string = map64_get(&archive->strings, offset);

	if (string != UINT32_MAX)
		return string;
	string = otf2_add_string(archive, trace_string(archive->trace, offset));
	if (map64_add(&archive->strings, offset, string) && !archive->err)
		archive->err = -ENOMEM;
	return string;
}

static bool open_markers(struct archive *archive)
{
	if (archive->markers || archive->err)
		return !archive->err;
	archive->markers = OTF2_Archive_GetMarkerWriter(archive->otf2);
	if (otf2_failed(archive, archive->markers))
		return false;
	otf2_check(archive, OTF2_MarkerWriter_WriteDefMarker(archive->markers, 0, "adaptrace",
	                                                     "reduction", OTF2_SEVERITY_NONE));
	otf2_check(archive, OTF2_MarkerWriter_WriteDefMarker(archive->markers, 1, "adaptrace",
	                                                     "program", OTF2_SEVERITY_NONE));
	return true;
}

void otf2_write_marker(struct archive *archive, uint64_t time, uint32_t location, const char *text)
{
	bool all = location == PLAN_NONE;

	otf2_took(archive, strlen(text));
	if (open_markers(archive))
		otf2_check(archive,
		           OTF2_MarkerWriter_WriteMarker(archive->markers, time, 0, all ? 0 : 1,
		                                         all ? OTF2_MARKER_SCOPE_GLOBAL
		                                             : OTF2_MARKER_SCOPE_LOCATION,
		                                         all ? 0 : location, text));
}
