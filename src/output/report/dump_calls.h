/* The lines of adaptrace dump that are instrumented calls. */
#ifndef OUTPUT_REPORT_DUMP_CALLS_H
#define OUTPUT_REPORT_DUMP_CALLS_H

#include "trace/trace_calls.h"

#include <stdio.h>

void dump_call_text(FILE *to, const struct trace *trace, const struct trace_call *entry);
void dump_call_json(FILE *to, const struct trace *trace, const struct trace_call *entry);

#endif
