/* A function's code with what was spent in each line and instruction. */
#ifndef OUTPUT_REPORT_REPORT_ANNOTATION_H
#define OUTPUT_REPORT_REPORT_ANNOTATION_H

#include "output/text/json_writer.h"
#include "output/report/report.h"

#include <stdio.h>

/* For people. 0, -ENOMEM, -EBADMSG. */
int report_annotation_text(FILE *to, const struct profile *profile,
                           const struct report_options *options);
/* Members of a JSON object: "function", "lines", "code". The same. */
int report_annotation_json(struct json_writer *json, const struct profile *profile,
                           const struct view_query *query);

#endif
