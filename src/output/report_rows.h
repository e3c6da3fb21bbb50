/* The rows of a report in their order, cell by cell. */
#ifndef OUTPUT_REPORT_ROWS_H
#define OUTPUT_REPORT_ROWS_H

#include "output/report.h"

/* The rows that anything was spent in, by thread if wanted, and then by self or total. */
struct report_rows {
	const struct profile *profile;
	uint32_t *rows;
	uint32_t nr;
};

/* 0 or -ENOMEM; to be given to report_rows_fini() in either case. */
int report_rows_init(struct report_rows *rows, const struct profile *profile,
                     const struct report_options *options);
void report_rows_fini(struct report_rows *rows);

/* The end of the rows of the same class as the one at `first`. */
uint32_t report_rows_class_end(const struct report_rows *rows, uint32_t first);

/* All that was spent in the class of the row at `first`. */
uint64_t report_rows_class_total(const struct report_rows *rows, uint32_t first);

/* What a row says in the column of a key: in the file, or in text where it has to be made. */
#define CELL_SIZE FRAME_TEXT_SIZE
const char *report_cell(const struct profile *profile, const struct profile_row *row,
                        enum profile_keys key, char text[CELL_SIZE]);

/* A class in the words of one such key. */
void report_class_text(const struct profile *profile, const struct profile_class *class,
                       enum profile_keys key, char text[CELL_SIZE]);

/* What such a key of memory accesses is called. */
const char *report_memory_key(enum profile_keys key);

/* The command that a row of what was not sampled is for; NULL: a row of samples. */
const struct profile_unsampled *report_unsampled(const struct profile *profile,
                                                 const struct profile_row *row);

#endif
