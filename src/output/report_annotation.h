/* A function's code with what was spent in each line and instruction. */
#ifndef OUTPUT_REPORT_ANNOTATION_H
#define OUTPUT_REPORT_ANNOTATION_H

#include "output/report.h"

#include <stdio.h>

/* For people. 0, -ENOMEM, -EBADMSG. */
int report_annotation_text(FILE *to, const struct profile *profile,
                           const struct report_options *options);
/* Members of a JSON object: "function", "lines", "code". */
int report_annotation_json(FILE *to, const struct profile *profile,
                           const struct report_options *options);

#endif
