/* The rows of a report in their order, cell by cell. */
#ifndef OUTPUT_VIEWS_REPORT_ROWS_H
#define OUTPUT_VIEWS_REPORT_ROWS_H

#include "output/views/subset_rows.h"
#include "output/views/query.h"

/*
 * Returns the profile of an event as the query wants it. Where it asks for callers or callees,
 * its tree is replaced by that of profile_view_make(), and *view is filled. NULL with errno, see
 * profile_new() and profile_view_make().
 */
struct profile *report_profile(const struct trace *trace, uint32_t event,
                               const struct view_query *query, struct profile_view *view);

/* The rows of a report: the first ones with any weight, sorted by self or total. */
struct report_rows {
	const struct profile *profile;
	const struct view_query *query;
	struct subset_row *rows;
	uint32_t nr, room;
	uint64_t least;     /* of those that are shown */
	uint32_t nr_more;   /* are behind them, or folded, */
	uint64_t self_more; /* with so much */
	uint32_t nr_folded; /* of these: their total is within their error */
	bool fold;

	struct profile_trees trees;
	struct subset_rows of_subset;
};

/* Returns 0 or -ENOMEM; call report_rows_fini() in either case. */
int report_rows_init(struct report_rows *rows, const struct profile *profile,
                     const struct view_query *query);
void report_rows_fini(struct report_rows *rows);

/*
 * These make the rows of all subsets, or of one, as many as the query allows. They return 0 or
 * -ENOMEM.
 */
int report_rows_of_all(struct report_rows *rows);
int report_rows_of_subset(struct report_rows *rows, uint32_t subset);

/* Returns the sampled values of a row. They are 0 where its function only called others. */
struct profile_row report_row(const struct profile *profile, const struct subset_row *row);

/* Returns the numbers of the subsets, most weight first. The caller frees them; NULL: no memory. */
uint32_t *report_subsets(const struct profile *profile);

/* Returns the weight of a subset, sampled or not; 0: it has no rows. */
uint64_t report_subset_whole(const struct profile *profile, uint32_t subset);

/* Returns the text of a row in the column of a key: a string of the trace, or `text`. */
#define CELL_SIZE FRAME_TEXT_SIZE
const char *report_cell(const struct profile *profile, const struct profile_row *row,
                        enum profile_keys key, char text[CELL_SIZE]);

/* A subset in the words of one such key. */
void report_subset_text(const struct profile *profile, const struct profile_subset *subset,
                        enum profile_keys key, char text[CELL_SIZE]);

/*
 * Returns the unsampled weight of a command that this subset stands for; NULL: it is a subset of
 * samples.
 */
const struct profile_unsampled *report_unsampled(const struct profile *profile, uint32_t subset);

#endif
