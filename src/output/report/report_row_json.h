/* Adds the keys of a row to a JSON object. */
#ifndef OUTPUT_REPORT_REPORT_ROW_JSON_H
#define OUTPUT_REPORT_REPORT_ROW_JSON_H

#include "output/text/json_text.h"
#include "output/views/query.h"

/*
 * Adds the members of one key: "symbol", or "pid", "tid" and "comm", or "file" and "line", and so
 * on.
 */
void report_key_json(const struct profile *profile, const struct profile_row *row,
                     enum profile_keys key, struct json_object *object);

/* All keys of the options, and of what was not sampled that it is "unsampled" or "unobserved". */
void report_row_json(const struct profile *profile, const struct profile_row *row,
                     const struct report_options *options, struct json_object *object);

#endif
