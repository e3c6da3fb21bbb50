/* The table of functions: the cells of its rows that are numbers, for text and JSON. */
#ifndef OUTPUT_REPORT_FUNCTION_TABLE_H
#define OUTPUT_REPORT_FUNCTION_TABLE_H

#include "output/report/table.h"
#include "output/views/report_rows.h"

extern const struct column function_columns[];
/* whole: weight that is 100 %. A row has its counters and its keys beside these. */
void put_function_cells(struct table *table, const struct profile *profile,
                        const struct class_row *of, uint64_t whole);

#endif
