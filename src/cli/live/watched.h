/* A recording that is looked at: of a recorder at work, or one that is in a file already. */
#ifndef CLI_LIVE_WATCHED_H
#define CLI_LIVE_WATCHED_H

#include "trace/live/live_trace.h"
#include "trace/write/live_naming.h"

struct profile;

/* When names are looked up: for a small part of what is shown, in a thousandth of the time. */
enum naming_time { NAMING_NOW, NAMING_SELDOM };

struct watched {
	char *path;
	char *image_file;        /* of the recorder; NULL: a file */
	struct live_trace *live; /* NULL: a file */
	struct trace *file;
	struct live_naming *naming;
	uint64_t named_at, naming_took; /* ns of the clock */
};

/*
 * Opens the recording that `whom` names, see whom_find(), or else the trace in that file. False
 * after reporting why not.
 */
bool watched_open(struct watched *watched, const char *whom);
void watched_close(struct watched *watched);

/* These do what functions of live_trace.h do, and nothing for a file. */
int watched_update(struct watched *watched);
void watched_choose(struct watched *watched, uint64_t from, uint64_t max);
int watched_choose_window(struct watched *watched, uint32_t number);
enum live_state watched_state(const struct watched *watched);
/* The state of the recorder; of a file what was lost alone. */
struct recording_state watched_recorder(const struct watched *watched);
const struct trace *watched_trace(const struct watched *watched);

/*
 * Looks functions of a profile up that have no names yet; patient: later, if looking them up took
 * long not long ago. Returns whether there are new names, so that the profile is out of date.
 */
bool watched_name(struct watched *watched, const struct profile *profile, bool patient);

/* Adds these to what the next of these functions looks up. */
void watched_add_names(struct watched *watched, const struct profile *profile);

/* The same for single functions: adds one, and looks up all that were added. */
void watched_add_nameless(struct watched *watched, uint64_t frame);
bool watched_look_up(struct watched *watched, enum naming_time when);

#endif
