/* The table of a comparison. A row has the keys of its function beside these cells. */
#ifndef OUTPUT_REPORT_DIFF_TABLE_H
#define OUTPUT_REPORT_DIFF_TABLE_H

#include "output/report/table.h"
#include "output/views/diff.h"

enum { DIFF_COLUMNS = 6 };
extern const struct column diff_columns[DIFF_COLUMNS + 1];
void put_diff_cells(struct table *table, const struct diff_row *row);

#endif
