/*
 * Properties of a trace's run, as names and texts, for formats that have a place for notes. The
 * samples themselves have none of these properties.
 */
#ifndef OUTPUT_VIEWS_RUN_PROPERTIES_H
#define OUTPUT_VIEWS_RUN_PROPERTIES_H

#include "trace/trace.h"

/*
 * Calls fn with each property. If fn returns not 0, the walk stops and returns that. Names consist
 * of [A-Z0-9_:]; values may hold any bytes.
 */
typedef int run_property_fn(void *arg, const char *name, const char *value);
int run_properties(const struct trace *trace, run_property_fn *fn, void *arg);

/* Returns the arguments with blanks between them. The caller frees the text; NULL: no memory. */
char *run_command(const struct trace *trace);

/* "memory", "overhead" or "share" */
const char *reduction_cause(uint32_t cause);
/* "cpu-clock: period 1553296, memory" */
void reduction_text(const struct trace *trace, const struct trace_reduction *reduction, char *text,
                    size_t size);

#endif
