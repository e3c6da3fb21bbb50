/* The columns of a table of functions that depend on the query and the trace: keys and counters. */
#ifndef OUTPUT_REPORT_REPORT_COLUMNS_H
#define OUTPUT_REPORT_REPORT_COLUMNS_H

#include "output/profile/counter_columns.h"
#include "output/report/report.h"

struct report_columns {
	const struct report_options *options;
	unsigned widths[VIEW_MAX_KEYS];
};

/*
 * report_columns_init() makes the columns as wide as their titles. report_columns_note(), called
 * for every cell, widens a column to the cell's text, except for very long texts. Without a
 * terminal, functions with a column behind them leave out arguments that would push that column out
 * of sight.
 */
void report_columns_init(struct report_columns *columns, const struct report_options *options);
void report_columns_note(struct report_columns *columns, unsigned k, const char *text);
/*
 * On a terminal the module, then the widest ones, the symbol's first as a rule, give what is
 * missing there beside `used` columns of other things, until all are as narrow as a name may
 * become.
 */
void report_columns_fit(struct report_columns *columns, unsigned used);

/* These print a title or a cell behind two blanks. */
void report_columns_titles(FILE *to, const struct report_columns *columns);
void report_columns_put(FILE *to, const struct report_columns *columns, unsigned k,
                        const char *text);
/*
 * Prints a cell, cut to `width` columns if not 0. The parts of a name that distinguish it least are
 * cut first. Returns the columns used.
 */
unsigned report_cell_put(FILE *to, enum profile_keys key, const char *text, unsigned width);

/* --- the columns of counters -------------------------------------------------------------------
 */

/* Returns the columns of the terminal that counters take in each line. */
unsigned report_counters_width(const struct counter_columns *columns);
void report_counters_titles(FILE *to, const struct counter_columns *columns);
/* Prints the counters of a row; NULL: blanks. */
void report_counters_values(FILE *to, const struct counter_columns *columns,
                            const uint64_t *counters);

#endif
