/*
 * Tracepoints, by subsystem:name, through tracefs.
 */
#ifndef PERF_TRACEPOINT_H
#define PERF_TRACEPOINT_H

#include "perf/advice.h"
#include "perf/event.h"

/* Whether the text has the form of a tracepoint's name; nothing is looked up. */
bool tracepoint_looks_so(const char *text);

/*
 * The folder of all tracepoints, wherever tracefs is mounted. NULL, with -ENOENT (not mounted) or
 * -EACCES (not for this user) in err.
 */
const char *tracepoint_root(int *err);

/* What stands behind the error of tracepoint_root(). */
struct advice tracepoint_advise(int err);

/*
 * Fills type and config for a name that looks so. 0, -ENOENT or -EACCES with one line in
 * why. root is what tracepoint_root() gave, or NULL with its error.
 */
int tracepoint_encode(const char *root, int err, const char *name, struct event *event,
                      char why[WHY_SIZE]);

/*
 * Calls fn for all tracepoints in the order of their names. Stops with fn's result where that is
 * not 0.
 */
int tracepoint_walk(const char *root, int (*fn)(void *arg, const char *name), void *arg);

#endif
