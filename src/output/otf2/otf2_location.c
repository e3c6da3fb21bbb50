#include "output/otf2/otf2_location.h"

#include <errno.h>

bool otf2_is_active(const struct location *location, const struct call_part *part)
{
	return map64_get(&location->requests, part->request) != UINT32_MAX;
}

bool otf2_activate(struct location *location, const struct call_part *part, uint32_t handle)
{
	if (!call_stream_completes(location->calls, part->request) ||
	    otf2_is_active(location, part))
		return false;
	if (map64_add(&location->requests, part->request, handle) && !location->archive->err)
		location->archive->err = -ENOMEM;
	return true;
}
