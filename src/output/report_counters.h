/* The columns of counters in a report for people. */
#ifndef OUTPUT_REPORT_COUNTERS_H
#define OUTPUT_REPORT_COUNTERS_H

#include "output/counter_columns.h"
#include "output/json_text.h"

/* Columns of the terminal that they take in each line. */
unsigned report_counters_width(const struct counter_columns *columns);
void report_counters_titles(FILE *to, const struct counter_columns *columns);
/* counters NULL: blanks. */
void report_counters_values(FILE *to, const struct counter_columns *columns,
                            const uint64_t *counters);

/* {"cache-misses": 17, …}, and the ratios likewise; what is not known is null. */
struct json_object *report_counters_sums(const struct counter_columns *columns,
                                         const uint64_t *counters);
struct json_object *report_counters_ratios(const struct counter_columns *columns,
                                           const uint64_t *counters);

#endif
