#include "output/clock_sides.h"

#include <string.h>

/* "cpu-clock:u", "cpu-clock:uk:freq=100" */
static unsigned sides_named(const char *name)
{
	unsigned sides = 0;

	while ((name = strchr(name, ':'))) {
		size_t size = strcspn(++name, ":");

		if (strspn(name, "ukhp") < size)
			continue;
		sides |= memchr(name, 'u', size) ? CLOCK_USER : 0;
		sides |= memchr(name, 'k', size) ? CLOCK_KERNEL : 0;
	}
	return sides;
}

enum clock_sides clock_sides(const struct trace *trace, const struct trace_event *event)
{
	unsigned sides;

	if (!event || event->unit != TRACE_NS)
		return CLOCK_BOTH;
	if (trace_run(trace)->flags & TRACE_RUN_USER_ONLY)
		return CLOCK_USER;
	sides = sides_named(trace_string(trace, event->name));
	return sides ? sides : CLOCK_BOTH;
}
