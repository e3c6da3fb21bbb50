/* Prints what a trace contains about its recording: what was measured, how, and how well. */
#ifndef OUTPUT_REPORT_INFO_H
#define OUTPUT_REPORT_INFO_H

#include "trace/trace.h"

#include <stdio.h>

/* 0, -ENOMEM, -EBADMSG; write errors are for the caller to find. */
int info_text(FILE *to, const struct trace *trace, const char *name);
/* One JSON object in one line. */
int info_json(FILE *to, const struct trace *trace);

#endif
