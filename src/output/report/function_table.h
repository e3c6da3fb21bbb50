/*
 * The tables of functions, and of the branches of trees: the cells of their rows that are numbers.
 * A row has its counters and its keys beside these.
 */
#ifndef OUTPUT_REPORT_FUNCTION_TABLE_H
#define OUTPUT_REPORT_FUNCTION_TABLE_H

#include "output/profile/profile_view.h"
#include "output/report/table.h"
#include "output/views/report_rows.h"

extern const struct column function_columns[];
/* whole: weight that is 100 %. */
void put_function_cells(struct table *table, const struct profile *profile,
                        const struct subset_row *of, uint64_t whole);

const struct column *tree_columns(enum profile_direction direction);
/* others: small branches that the row is the sum of, or 0. self: NULL: the row has none. */
void put_branch_cells(struct table *table, const struct profile *profile,
                      const struct profile_view *view, uint32_t others, uint64_t total,
                      const uint64_t *self);

#endif
