/* Reports: what a view shows, as text for people and as JSON for programs. */
#ifndef OUTPUT_REPORT_REPORT_H
#define OUTPUT_REPORT_REPORT_H

#include "output/text/json_writer.h"
#include "output/views/query.h"

#include <stdio.h>

struct text_style {
	unsigned width; /* columns of the terminal; 0: it is none, nothing is cut */
	bool color;
	bool no_header; /* columns' names alone */
	bool alone;     /* no other table stands above it */
	bool quiet;     /* rows alone */
};

/* Options of a report as text. JSON takes the query alone. */
struct report_options {
	struct view_query query;
	struct text_style style;
};

/*
 * These functions print to `to` and return 0, -ENOMEM or -EBADMSG. The caller checks `to` for write
 * errors. JSON is one object in one line.
 */
int report_text(FILE *to, const struct trace *trace, const char *name,
                const struct report_options *options);
int report_json(FILE *to, const struct trace *trace, const struct view_query *query);
/* Writes its keys, without those of calls, into an object that was begun. */
int report_json_keys(struct json_writer *json, const struct trace *trace,
                     const struct view_query *query);

/* Print minimum, mean and maximum of functions over ranks. -ENODATA: the trace has no ranks. */
int report_ranks_text(FILE *to, const struct trace *trace, const char *name,
                      const struct report_options *options);
int report_ranks_json(FILE *to, const struct trace *trace, const struct view_query *query);

/*
 * Print time in MPI by rank, call and context, and the messages between ranks. -ENODATA: the trace
 * has nothing about MPI.
 */
int report_mpi_text(FILE *to, const struct trace *trace, const char *name,
                    const struct report_options *options);
int report_mpi_json(FILE *to, const struct trace *trace, const struct view_query *query);

/*
 * Print the calls by the place in the code that made them. -ENODATA: the trace has no such places.
 */
int report_sites_text(FILE *to, const struct trace *trace, const char *name,
                      const struct report_options *options);
int report_sites_json(FILE *to, const struct trace *trace, const struct view_query *query);

/* Print iterations of loops, found in calls; -ENODATA: there are no calls. */
int report_iterations_text(FILE *to, const struct trace *trace, const char *name,
                           const struct report_options *options);
int report_iterations_json(FILE *to, const struct trace *trace, const struct view_query *query);
int report_openmp_text(FILE *to, const struct trace *trace, const char *name,
                       const struct report_options *options);
int report_openmp_json(FILE *to, const struct trace *trace, const struct view_query *query);

/*
 * Print the inside of a loop's iterations; -ENODATA: there is no such loop; -ENOMSG: no
 * sample in those that are folded. The picture is an SVG document.
 */
int report_fold_text(FILE *to, const struct trace *trace, const char *name,
                     const struct report_options *options);
int report_fold_json(FILE *to, const struct trace *trace, const struct view_query *query);
int report_fold_svg(FILE *to, const struct trace *trace, const struct view_query *query);

/* Print the calls below the table of an ordinary report, and in its JSON. */
int report_calls_text(FILE *to, const struct trace *trace, const struct report_options *options);
int report_calls_json(struct json_writer *json, const struct trace *trace,
                      const struct view_query *query);

#endif
