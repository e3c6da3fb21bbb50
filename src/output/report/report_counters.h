/* The columns of counters in a report for people. */
#ifndef OUTPUT_REPORT_REPORT_COUNTERS_H
#define OUTPUT_REPORT_REPORT_COUNTERS_H

#include "output/profile/counter_columns.h"

#include <stdio.h>

/* Columns of the terminal that they take in each line. */
unsigned report_counters_width(const struct counter_columns *columns);
void report_counters_titles(FILE *to, const struct counter_columns *columns);
/* counters NULL: blanks. */
void report_counters_values(FILE *to, const struct counter_columns *columns,
                            const uint64_t *counters);

#endif
