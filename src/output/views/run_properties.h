/*
 * What a trace says of its run, as names and texts: for formats with a place for notes. Nothing of
 * it is in the samples themselves.
 */
#ifndef OUTPUT_VIEWS_RUN_PROPERTIES_H
#define OUTPUT_VIEWS_RUN_PROPERTIES_H

#include "trace/trace.h"

/* Stops, and returns it, when fn returns not 0. Names are [A-Z0-9_:], values any bytes. */
typedef int run_property_fn(void *arg, const char *name, const char *value);
int run_properties(const struct trace *trace, run_property_fn *fn, void *arg);

/* The arguments with blanks between them, to be freed. NULL: no memory. */
char *run_command(const struct trace *trace);

/* "memory", "overhead" or "share" */
const char *reduction_cause(uint32_t cause);
/* "cpu-clock: period 1553296, memory" */
void reduction_text(const struct trace *trace, const struct trace_reduction *reduction, char *text,
                    size_t size);

#endif
