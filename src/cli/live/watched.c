#include "cli/live/watched.h"

#include "base/clock.h"
#include "base/frame.h"
#include "cli/bounds.h"
#include "cli/ctl/whom.h"
#include "cli/image_trace.h"
#include "cli/open_trace.h"
#include "cli/say.h"
#include "output/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Names are looked up for one part in so many of the time: of functions that matter, within a pause
 * of so many ns, and of a few that together are less than 1 / NAMING_MATTERS of what is shown.
 * Files and the kernel's symbols are read anew each time, which takes far longer than anything else
 * here.
 */
#define NAMING_SHARE     4
#define NAMING_PAUSE     ((uint64_t)5000000000)
#define NAMING_FEW_SHARE 1000
#define NAMING_MATTERS   20

static bool open_live(struct watched *watched, const char *whom)
{
	struct whom recorder;

	if (whom_find(&recorder, whom)) {
		whom_free(&recorder);
		return false;
	}
	watched->path = strdup(recorder.trace_path);
	watched->image_file = strdup(recorder.image_file);
	watched->live = live_trace_open_image(recorder.image_file);
	watched->naming = live_naming_new();
	if (!watched->live || !watched->path || !watched->image_file || !watched->naming)
		say("cannot read what the recorder of '%s' holds: %s", recorder.trace_path,
		    strerror(errno));
	whom_free(&recorder);
	return watched->live && watched->path && watched->image_file && watched->naming;
}

static bool open_file(struct watched *watched, const char *path)
{
	watched->path = strdup(path);
	watched->file = open_trace(path);
	return watched->path && watched->file;
}

bool watched_open(struct watched *watched, const char *whom)
{
	bool found;

	*watched = (struct watched){0};
	if (whom && !access(whom, R_OK) && !shm_image_held(whom, SHM_IMAGE_RECORDER))
		found = open_file(watched, whom);
	else
		found = open_live(watched, whom);
	if (found && watched->live)
		bounds_memory(live_trace_budget(watched->live), 0);
	if (!found)
		watched_close(watched);
	return found;
}

void watched_close(struct watched *watched)
{
	live_trace_close(watched->live);
	live_naming_free(watched->naming);
	trace_close(watched->file);
	free(watched->path);
	free(watched->image_file);
	*watched = (struct watched){0};
}

int watched_update(struct watched *watched)
{
	return watched->live ? live_trace_update(watched->live) : 0;
}

void watched_choose(struct watched *watched, uint64_t from, uint64_t max)
{
	if (watched->live)
		live_trace_choose(watched->live, from, max);
}

int watched_choose_window(struct watched *watched, uint32_t number)
{
	return watched->live ? live_trace_choose_window(watched->live, number) : 0;
}

enum live_state watched_state(const struct watched *watched)
{
	return watched->live ? live_trace_state(watched->live) : LIVE_ENDED;
}

struct recording_state watched_recorder(const struct watched *watched)
{
	if (watched->live)
		return live_trace_recorder(watched->live);
	return (struct recording_state){.lost = trace_losses(watched->file, TRACE_ALL_EVENTS).lost};
}

const struct trace *watched_trace(const struct watched *watched)
{
	return watched->live ? live_trace_of(watched->live) : watched->file;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Returns whether looking names up took long not long ago. */
static bool should_wait(const struct watched *watched, bool matters, uint64_t now)
{
	uint64_t pause = NAMING_FEW_SHARE * watched->naming_took;

	if (matters)
		pause = NAMING_SHARE * watched->naming_took;
	if (matters && pause > NAMING_PAUSE)
		pause = NAMING_PAUSE;
	return now < watched->named_at + pause;
}

/* Code whose bounds are known has no name that could be found. */
static bool is_nameless(const struct frame_names *names, uint32_t number)
{
	const struct frame_name *name = &names->names[number];

	return !name->symbol && frame_module(name->frame) &&
	       trace_find_symbol(names->trace, name->frame) == UINT32_MAX;
}

/* Returns whether much of what a profile shows has no name yet. */
static bool matters(const struct profile *profile)
{
	uint64_t nameless = 0;

	for (uint32_t i = 0; i < profile->nr_rows; i++)
		if (profile->rows[i].name < profile->names.nr &&
		    is_nameless(&profile->names, profile->rows[i].name))
			nameless += profile->rows[i].self;
	return nameless > profile->total / NAMING_MATTERS;
}

static void add_nameless(struct live_naming *naming, const struct frame_names *names)
{
	for (uint32_t i = 0; i < names->nr; i++)
		if (is_nameless(names, i))
			live_naming_add(naming, names->names[i].frame);
}

void watched_add_names(struct watched *watched, const struct profile *profile)
{
	if (watched->live)
		add_nameless(watched->naming, &profile->names);
}

void watched_add_nameless(struct watched *watched, uint64_t frame)
{
	if (watched->live)
		live_naming_add(watched->naming, frame);
}

static bool look_up(struct watched *watched)
{
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	int err = image_trace_name(watched->live, watched->naming);

	watched->named_at = clock_ns(CLOCK_MONOTONIC);
	watched->naming_took = watched->named_at - began;
	return !err;
}

static bool is_due(const struct watched *watched, bool much)
{
	return watched->live && live_naming_is_due(watched->naming) &&
	       !should_wait(watched, much, clock_ns(CLOCK_MONOTONIC));
}

bool watched_name(struct watched *watched, const struct profile *profile, bool patient)
{
	watched_add_names(watched, profile);
	return patient ? is_due(watched, matters(profile)) && look_up(watched)
	               : watched_look_up(watched, NAMING_NOW);
}

bool watched_look_up(struct watched *watched, enum naming_time when)
{
	if (when == NAMING_SELDOM)
		return is_due(watched, false) && look_up(watched);
	return watched->live && live_naming_is_due(watched->naming) && look_up(watched);
}
