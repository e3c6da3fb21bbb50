/* Functions that reports as text share. */
#ifndef OUTPUT_REPORT_REPORT_TEXT_H
#define OUTPUT_REPORT_REPORT_TEXT_H

#include "output/profile/profile_view.h"
#include "output/report/report.h"
#include "output/text/text.h"

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define AMBER "\033[33m"
#define PLAIN "\033[0m"

#define MIN_COLUMN 12 /* no name is cut shorter */

static inline const char *paint(const struct report_options *options, const char *color)
{
	return options->style.color ? color : "";
}

/* Whether there are lines above a table. */
static inline bool has_head(const struct report_options *options)
{
	return !options->style.quiet && !options->style.no_header;
}

/*
 * Returns the columns that are left for a name behind `used` others; 0: the output is not a
 * terminal, and nothing is cut.
 */
static inline unsigned room_behind(const struct report_options *options, unsigned used)
{
	if (!options->style.width)
		return 0;
	return options->style.width > used + MIN_COLUMN ? options->style.width - used : MIN_COLUMN;
}

/* Says how many rows a table for people leaves out, if any; what: the name of one row. */
void report_text_more(FILE *to, const struct report_options *options, uint64_t nr,
                      const char *what);
/* The same of a table of nr rows that shows as many as the query's limit. */
void report_text_rest(FILE *to, const struct report_options *options, uint64_t nr,
                      const char *what);

/* Prints a warning. It is a warning_fn whose arg points to this. */
struct warning_text {
	FILE *to;
	const struct report_options *options;
	const char *of; /* the run that the warning is about, if there are several; else NULL */
};
void report_warning_text(void *arg, const char *text);

/* Prints trees instead of tables. Returns 0 or -ENOMEM. */
int report_text_tree(FILE *to, const struct profile *profile, const struct report_options *options,
                     const struct profile_view *view);

#endif
