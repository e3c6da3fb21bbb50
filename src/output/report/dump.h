/* Every stored sample and call, one a line, oldest first: a call when it was left. */
#ifndef OUTPUT_REPORT_DUMP_H
#define OUTPUT_REPORT_DUMP_H

#include "trace/trace.h"

#include <stdio.h>

/* 0, -ENOMEM, -EBADMSG; write errors are for the caller to find. */
int dump_text(FILE *to, const struct trace *trace);
/* One JSON object a line. */
int dump_json(FILE *to, const struct trace *trace);

#endif
