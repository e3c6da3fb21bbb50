/* Functions that the parts of a report for people share. */
#ifndef OUTPUT_REPORT_REPORT_TEXT_H
#define OUTPUT_REPORT_REPORT_TEXT_H

#include "output/profile/profile_view.h"
#include "output/report/report.h"

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

static inline double percent(double part, uint64_t whole)
{
	return whole ? 100 * part / (double)whole : 0;
}

/* With few samples the formula may give an error above 100 %, which no share can have. */
static inline double percent_error(double error, uint64_t whole)
{
	return percent(error < (double)whole ? error : (double)whole, whole);
}

/* Columns for a name behind `used` others on a terminal; 0: it is none, and nothing is cut. */
static inline unsigned room_behind(const struct report_options *options, unsigned used)
{
	if (!options->style.width)
		return 0;
	return options->style.width > used + MIN_COLUMN ? options->style.width - used : MIN_COLUMN;
}

/* Prints a warning: a warning_fn, whose arg is this. */
struct warning_text {
	FILE *to;
	const struct report_options *options;
	const char *of; /* what is warned of, of several; else NULL */
};
void report_warning_text(void *arg, const char *text);

/* Trees instead of tables. 0 or -ENOMEM. */
int report_text_tree(FILE *to, const struct profile *profile, const struct report_options *options,
                     const struct profile_view *view);

#endif
