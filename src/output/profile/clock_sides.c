#include "output/profile/clock_sides.h"

#include <string.h>

/* "cpu-clock:u", "cpu-clock:uk:freq=100", "software/config=0/u" */
static unsigned sides_named(const char *name)
{
	unsigned sides = 0;

	while ((name = strpbrk(name, ":/"))) {
		size_t size = strcspn(++name, ":/");

		if (strspn(name, "ukhp") < size)
			continue;
		sides |= memchr(name, 'u', size) ? CLOCK_USER : 0;
		sides |= memchr(name, 'k', size) ? CLOCK_KERNEL : 0;
	}
	return sides;
}

/*
 * By its name alone, which the recorder completes where it may not sample the kernel. That it was
 * not permitted somewhere may be of another event, or of another run that was merged with this one.
 */
enum clock_sides clock_sides(const struct trace *trace, const struct trace_event *event)
{
	unsigned sides;

	if (!event || event->unit != TRACE_NS)
		return CLOCK_BOTH;
	sides = sides_named(trace_string(trace, event->name));
	return sides ? sides : CLOCK_BOTH;
}
