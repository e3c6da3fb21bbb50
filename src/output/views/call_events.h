/*
 * Calls of a thread as events that repeat: small numbers, equal for calls that a program makes at
 * the same place of its loop. A call is known by its region, the place in the code that made it,
 * and by communicator, peer and tag of its messages. Sizes are left out, which differ from one
 * iteration to the next.
 */
#ifndef OUTPUT_VIEWS_CALL_EVENTS_H
#define OUTPUT_VIEWS_CALL_EVENTS_H

#include "base/map64.h"
#include "trace/trace.h"
#include "hmb/call.h"

/* Properties of regions, the same for all threads. */
struct call_regions {
	const struct trace *trace;
	uint8_t *traits; /* by region */
	uint32_t nr, most_members;
};

/* Returns 0 or -ENOMEM; call_regions_fini() must be called in either case. */
int call_regions_init(struct call_regions *regions, const struct trace *trace);
void call_regions_fini(struct call_regions *regions);

/*
 * Returns the event of a call in the numbering of one thread, at most 4095. 0: it is none, for it
 * asked for something that was not there, and how often that happens is chance. -ENOMEM.
 */
int call_event(const struct call_regions *regions, struct map64 *numbers, const struct call *call);

/* Whether all processes take part in the call. */
bool call_is_wide(const struct call_regions *regions, const struct call *call);

#endif
