/*
 * New samples of a recording as JSON lines, for programs that follow it. Functions, call paths and
 * threads are defined once, in the line that first refers to them; samples are numbers.
 */
#ifndef OUTPUT_REPORT_WATCH_JSON_H
#define OUTPUT_REPORT_WATCH_JSON_H

#include "output/report/report.h"
#include "trace/trace.h"

struct watch_json;

/* Nothing is defined yet. NULL: no memory. */
struct watch_json *watch_json_new(void);
void watch_json_free(struct watch_json *watch);

/* Writes the first line: what is recorded, and how; calls: lines of calls follow. */
void watch_json_begin(FILE *to, const struct trace *trace, const char *path, bool calls);

/*
 * Writes a line with the samples in [from, until), and how many lines before it were left out. 0,
 * -ENOMEM or -EBADMSG.
 */
int watch_json_samples(struct watch_json *watch, FILE *to, const struct trace *trace, uint64_t from,
                       uint64_t until, uint64_t left_out);

/* Writes a line with the rows of a report instead. */
int watch_json_table(FILE *to, const struct trace *trace, const struct view_query *query,
                     uint64_t left_out);

/*
 * Writes a line with the calls that were not written yet, and with the exact sums of all calls so
 * far. skip: it writes none of those that there are.
 */
int watch_json_calls(struct watch_json *watch, FILE *to, const struct trace *trace, bool skip,
                     uint64_t left_out);

/* Writes the last line: "ended" or "killed". */
void watch_json_end(FILE *to, const char *state);

#endif
