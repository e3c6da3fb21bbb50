/* The output of adaptrace info on instrumented calls and on the processes that made them. */
#ifndef OUTPUT_REPORT_INFO_CALLS_H
#define OUTPUT_REPORT_INFO_CALLS_H

#include "trace/trace.h"

#include <stdio.h>

/* Lines below "how"; nothing where no calls were recorded. 0 or -ENOMEM. */
int info_calls_text(FILE *to, const struct trace *trace);
/* Lines below "who": the processes, where there are some. The same. */
int info_processes_text(FILE *to, const struct trace *trace);

/* The same for programs, and without a limit. */
struct json_object *info_calls_object(const struct trace *trace);
struct json_object *info_processes_object(const struct trace *trace);

#endif
