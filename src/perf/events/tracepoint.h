/*
 * Tracepoints, by subsystem:name, through tracefs.
 */
#ifndef PERF_EVENTS_TRACEPOINT_H
#define PERF_EVENTS_TRACEPOINT_H

#include "perf/machine/advice.h"
#include "perf/events/event.h"

/* Tells whether the text has the form of a tracepoint's name. Nothing is looked up. */
bool tracepoint_looks_so(const char *text);

struct tracefs {
	const char *root; /* the folder of all tracepoints; NULL: it cannot be had */
	char path[40];
	int fd; /* a mount of our own, or -1 */
};

/*
 * Finds tracefs. Where it is not mounted, and this user may do so, it is mounted at no place at
 * all: only this process sees it, until tracefs_close(). 0, -ENOENT (not mounted) or -EACCES (not
 * for this user).
 */
int tracefs_open(struct tracefs *tracefs);
void tracefs_close(struct tracefs *tracefs);

/* Returns the reason for an error of tracefs_open() and the way out. */
struct advice tracepoint_advise(int err);

/*
 * Fills type and config for a name that looks so. 0, -ENOENT or -EACCES with one line in
 * why. root is that of tracefs, or NULL with the error of tracefs_open().
 */
int tracepoint_encode(const char *root, int err, const char *name, struct event *event,
                      char why[WHY_SIZE]);

/*
 * Calls fn for all tracepoints in the order of their names. Stops with fn's result where that is
 * not 0.
 */
int tracepoint_walk(const char *root, int (*fn)(void *arg, const char *name), void *arg);

#endif
