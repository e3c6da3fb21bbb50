/* Iterations that the program itself found, as regions around calls and samples. */
#include "output/otf2/otf2_location.h"

#include "trace/call_sources.h"

#include <inttypes.h>
#include <stdio.h>

/* --- regions -----------------------------------------------------------------------------------
 */

static bool is_on_top(const struct location *location)
{
	return location->depth && location->stack[location->depth - 1].iteration;
}

static void note_phase(struct location *location, uint64_t time)
{
	const struct trace_iteration *iteration = &location->follower.iteration;
	char text[OTF2_TEXT_SIZE];

	if (location->phase == iteration->phase && location->level == iteration->level)
		return;
	location->phase = iteration->phase;
	location->level = iteration->level;
	snprintf(text, sizeof(text),
	         "phase %" PRIu32 " of level %u: iterations of %" PRIu32 " calls", iteration->phase,
	         iteration->level, iteration->calls);
	otf2_write_marker(location->archive, time,
	                  location->archive->plan.location_of_thread[location->thread], text);
}

static void enter(struct location *location, uint64_t time)
{
	bool stored = location->follower.iteration.stored;

	note_phase(location, time);
	otf2_enter_region(location, time, otf2_iteration(location->archive, stored));
}

/*
 * Goes beyond the begin or end of an iteration, at the call that begins then, if there is one.
 * Returns false where that must wait for the end of a region which is inside.
 */
static bool pass_boundary(struct location *location, const struct call *call, uint64_t most)
{
	uint64_t at = location->follower.boundary;
	bool open = location->follower.open;

	if (at > most)
		at = most;
	if (at < location->last)
		at = location->last;
	if (open ? !is_on_top(location) : otf2_in_mpi(location))
		return false;
	if (open)
		otf2_leave_region(location, at);
	else
		enter(location, at);
	iteration_pass(&location->follower, call);
	location->last = at;
	return true;
}

void otf2_iterations_before_call(struct location *location, const struct call *call)
{
	while (!location->archive->err && iteration_is_due(&location->follower, call))
		if (!pass_boundary(location, call, call->enter))
			break;
}

void otf2_iterations_before(struct location *location, uint64_t time)
{
	while (!location->archive->err && location->follower.boundary < time)
		if (!pass_boundary(location, NULL, UINT64_MAX))
			break;
}

void otf2_cut_iteration(struct location *location, uint64_t time)
{
	if (!is_on_top(location))
		return;
	otf2_leave_region(location, time);
	iteration_pass(&location->follower, NULL);
}
