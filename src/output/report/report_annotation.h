/* A function's code with what was spent in each line and instruction. */
#ifndef OUTPUT_REPORT_REPORT_ANNOTATION_H
#define OUTPUT_REPORT_REPORT_ANNOTATION_H

#include "output/text/json_writer.h"
#include "output/report/report.h"

#include <stdio.h>

/* Prints text. Returns 0, -ENOMEM or -EBADMSG. */
int report_annotation_text(FILE *to, const struct profile *profile,
                           const struct report_options *options);
/* Writes the members "function", "lines" and "code" of a JSON object. Returns the same. */
int report_annotation_json(struct json_writer *json, const struct profile *profile,
                           const struct view_query *query);

#endif
