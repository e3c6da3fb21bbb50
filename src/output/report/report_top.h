/* Functions of a short interval beside those of the whole run: what adaptrace top --once shows. */
#ifndef OUTPUT_REPORT_REPORT_TOP_H
#define OUTPUT_REPORT_REPORT_TOP_H

#include "output/report/report.h"
#include "output/views/function_shares.h"

/*
 * Prints the table of the interval, which options->query is about: of one event. run: of the whole
 * run. 0, -ENOMEM or -EBADMSG.
 */
int report_top_text(FILE *to, const struct trace *trace, const struct function_shares *run,
                    const struct report_options *options);

#endif
