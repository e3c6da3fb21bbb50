/* The views of a report: one row of a table describes each. */
#ifndef OUTPUT_REPORT_REPORT_VIEWS_H
#define OUTPUT_REPORT_REPORT_VIEWS_H

#include "output/report/report.h"

/* Options that change a view. A view is refused together with those that it does not take. */
enum view_takes {
	VIEW_ONLY = 1,   /* --only: threads and ranks can be left out */
	VIEW_SORT = 2,   /* --sort: rows and columns can be chosen */
	VIEW_DEPTH = 4,  /* --max-depth: it is a tree */
	VIEW_LIMIT = 8,  /* --limit: its text is a table */
	VIEW_SHARE = 16, /* --percent-limit */
	VIEW_SVG = 32,   /* --svg: it has a picture */
	VIEW_SITE = 64,  /* --sort site */
};

struct view {
	const char *option;   /* its name; NULL: the view without any option */
	const char *argument; /* of the option: the name of a function, or NULL */
	const char *phase;    /* likewise: the number of a loop, which may be left out */
	const char *what;     /* its line of --help */
	bool alone;           /* cannot be combined with another view */
	unsigned takes;
	void (*choose)(struct view_query *query); /* NULL: nothing is to be set */
	int (*text)(FILE *to, const struct trace *trace, const char *name,
	            const struct report_options *options);
	int (*json)(FILE *to, const struct trace *trace, const struct view_query *query);
	int (*svg)(FILE *to, const struct trace *trace, const struct view_query *query);
	const char
		*nothing; /* what is wrong where these return -ENODATA, behind the trace's name */
	const char *no_samples;     /* likewise where they return -ENOMSG; NULL: they do not */
	const struct view *by_site; /* that --sort site makes of it; NULL: nothing */
};

#define MAX_VIEWS 16

/* Returns the view at an index, the one without option first; NULL: there are no more. */
const struct view *view_at(unsigned index);

#endif
