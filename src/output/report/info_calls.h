/* The output of adaptrace info on instrumented calls and on the processes that made them. */
#ifndef OUTPUT_REPORT_INFO_CALLS_H
#define OUTPUT_REPORT_INFO_CALLS_H

#include "output/text/json_writer.h"
#include "trace/trace.h"

#include <stdio.h>

/* Lines below "how"; nothing where no calls were recorded. 0 or -ENOMEM. */
int info_calls_text(FILE *to, const struct trace *trace);
/* Lines below "who": the processes, where there are some. The same. */
int info_processes_text(FILE *to, const struct trace *trace);

/* Write the members "calls", "iterations" and "processes", without a limit. 0, -ENOMEM, -EBADMSG.
 */
int info_calls_json(struct json_writer *json, const struct trace *trace);
int info_iterations_json(struct json_writer *json, const struct trace *trace);
int info_processes_json(struct json_writer *json, const struct trace *trace);

#endif
