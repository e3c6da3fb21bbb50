/*
 * Report on the changes from one run to another, or from some to others, for people and for
 * programs.
 */
#ifndef OUTPUT_REPORT_REPORT_DIFF_H
#define OUTPUT_REPORT_REPORT_DIFF_H

#include "output/report/report.h"
#include "output/report/table.h"
#include "output/views/diff.h"

#include <stdbool.h>
#include <stdio.h>

/* The runs of a side. */
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

/* Whether there is anything to compare: an event of that name and unit in all runs. */
bool report_diff_any(const struct diff_report *report);

/*
 * Prints every event that all have, or the options' own, which is one of the first trace. 0,
 * -ENOMEM, -EBADMSG; write errors are for the caller to find.
 */
int report_diff_text(FILE *to, const struct diff_report *report);
/* One JSON object in one line. */
int report_diff_json(FILE *to, const struct diff_report *report);

/* Text and JSON share these. A row has the keys of its function beside its cells. */
enum { DIFF_COLUMNS = 6 };
extern const struct column diff_columns[DIFF_COLUMNS + 1];
void put_diff_cells(struct table *table, const struct diff_row *row);

/* Calls put with each event that all have, or the options' own. */
int report_diff_walk(const struct diff_report *report,
                     void (*put)(void *arg, const struct diff *diff), void *arg);

#endif
