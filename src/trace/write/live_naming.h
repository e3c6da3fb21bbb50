/*
 * Names for a live trace. All frames that were asked for are looked up together, since a file is
 * read anew each time; so the caller collects frames and looks them up now and then.
 */
#ifndef TRACE_WRITE_LIVE_NAMING_H
#define TRACE_WRITE_LIVE_NAMING_H

#include "trace/live/live_trace.h"
#include "trace/write/trace_symbols.h"

struct live_naming;

struct live_naming *live_naming_new(void);
void live_naming_free(struct live_naming *naming);

/* Adds a frame that has no name. Beyond a bound that no program reaches frames are left out. */
void live_naming_add(struct live_naming *naming, uint64_t frame);
/* Whether frames were added that have not been looked up yet. */
bool live_naming_is_due(struct live_naming *naming);

/*
 * Looks all frames up and gives their names to the trace, which must be closed before the naming is
 * freed. 0 or -errno; the trace keeps its names on failure.
 */
int live_naming_look_up(struct live_naming *naming, struct live_trace *live,
                        const struct name_provider *provider);

#endif
