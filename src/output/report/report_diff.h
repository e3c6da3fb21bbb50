/* Reports the changes from one run to another, or from some runs to others, as text and as JSON. */
#ifndef OUTPUT_REPORT_REPORT_DIFF_H
#define OUTPUT_REPORT_REPORT_DIFF_H

#include "output/report/report.h"
#include "output/views/diff.h"

#include <stdbool.h>
#include <stdio.h>

/* the runs of one side of the comparison */
struct diff_traces {
	struct trace *const *traces;
	char *const *names;
	unsigned nr; /* at least one */
};

struct diff_report {
	struct diff_traces sides[DIFF_SIDES];
	const struct report_options *options;
	bool shares; /* compare shares of each run, not amounts */
};

/* Whether all runs have an event of the same name and unit. */
bool report_diff_any(const struct diff_report *report);

/*
 * Prints every event that all runs have, or only the one that the query names by its number in the
 * first trace. Returns 0, -ENOMEM or -EBADMSG. The caller checks `to` for write errors.
 */
int report_diff_text(FILE *to, const struct diff_report *report);
/* One JSON object in one line. */
int report_diff_json(FILE *to, const struct diff_report *report);

/* Calls put for each event that report_diff_text() prints. */
int report_diff_walk(const struct diff_report *report,
                     void (*put)(void *arg, const struct diff *diff), void *arg);

#endif
