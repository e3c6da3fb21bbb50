/* Text that the table and the picture of a folded iteration share. */
#ifndef OUTPUT_REPORT_REPORT_FOLD_H
#define OUTPUT_REPORT_REPORT_FOLD_H

#include "output/profile/counter_columns.h"
#include "output/views/fold.h"

/* Counters of a fold: the columns of their sums, without that of the event itself. */
struct fold_columns {
	struct counter_columns of;
	unsigned nr; /* of counters with a column */
};

void fold_columns_init(struct fold_columns *columns, const struct fold *fold);

/*
 * Writes the rates of the n-th counter, scaled where it had the hardware for part of the time, and
 * returns its name. *known: they are determined.
 */
const char *fold_rates(struct fold *fold, const struct fold_columns *columns, unsigned n,
                       struct fold_band *rates, bool *known);

#endif
