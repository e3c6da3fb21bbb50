/* Functions that all commands that read a trace share. */
#ifndef CLI_OPEN_TRACE_H
#define CLI_OPEN_TRACE_H

#include "trace/trace.h"

#define DEFAULT_TRACE "adaptrace.atr"

/* Takes an argument as the only trace that a command reads. *path is NULL before that. */
void open_trace_take(const char **path, const char *arg);

/* Takes an argument as the only event that a command reads. *event is NULL before that. */
void open_trace_take_event(const char **event, const char *arg);

/*
 * Opens the only trace of a command and sets the command's bounds (bounds.h). Returns NULL after
 * reporting the error on standard error.
 */
struct trace *open_trace(const char *path);
/* Opens one of several traces; the bounds are set already. */
struct trace *open_trace_bounded(const char *path);

/*
 * Finds the event of that name. Returns 0, or -ENOENT after reporting the error on standard error.
 */
int open_trace_find_event(const struct trace *trace, const char *path, const char *name,
                          uint32_t *event);

/*
 * Returns the exit status of a command that wrote to standard output. Reports err or a write error.
 */
int open_trace_status(const char *path, int err);

#endif
