/* What the commands that read a trace have in common. */
#ifndef CLI_OPEN_TRACE_H
#define CLI_OPEN_TRACE_H

#include "trace/trace.h"

#define DEFAULT_TRACE "adaptrace.atr"

/* Takes an argument as the one trace that a command reads; *path is NULL until there is one. */
void reading_take(const char **path, const char *arg);

/* The same of the event that it is about. */
void reading_take_event(const char **event, const char *arg);

/* The one trace of a command, within its bounds (bounds.h). NULL: told on standard error. */
struct trace *reading_open(const char *path);
/* One of several, whose bounds are set. */
struct trace *reading_open_bounded(const char *path);

/* The event of that name; -ENOENT: told on standard error. */
int reading_find_event(const struct trace *trace, const char *path, const char *name,
                       uint32_t *event);

/* The exit status of a command that wrote to standard output: err or a write error is told. */
int reading_done(const char *path, int err);

#endif
