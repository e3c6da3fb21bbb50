/* The keys of a row as members of the JSON object that was begun last. */
#ifndef OUTPUT_REPORT_REPORT_ROW_JSON_H
#define OUTPUT_REPORT_REPORT_ROW_JSON_H

#include "output/text/json_writer.h"
#include "output/views/query.h"

/*
 * Writes the members of those keys of the query that are among `keys`: "symbol", or "pid", "tid"
 * and "comm", or "file" and "line", and so on.
 */
void report_keys_json(struct json_writer *json, const struct profile *profile,
                      const struct profile_row *row, const struct view_query *query, unsigned keys);

/*
 * Writes all keys of the query, and "unsampled" or "unobserved" if the row is unsampled weight.
 * symbol: the common name that the function has in a comparison; else NULL.
 */
void report_row_json(struct json_writer *json, const struct profile *profile,
                     const struct profile_row *row, const struct view_query *query,
                     const char *symbol);

/* Writes "unsampled", or another word, of weight that no sample stands for. */
void report_mark_json(struct json_writer *json, const struct profile_unsampled *unsampled);

#endif
