/* Options that all commands that print rows share. */
#ifndef CLI_ROW_OPTIONS_H
#define CLI_ROW_OPTIONS_H

#include "output/report/report.h"
#include "trace/trace.h"

enum row_option {
	OPT_ALL = 256,
	OPT_LIMIT,
	OPT_NO_HEADER,
	OPT_NO_INLINE,
	OPT_WIDTH,
	OPT_NO_PAGER,
	OPT_OTHERS, /* the options of single commands begin here */
};

/* Entries that two option tables share. */
#define WIDTH_OPTION "width", OPT_WIDTH, "N", 0, "fit the output into this many columns"
#define NO_PAGER_OPTION \
	"no-pager", OPT_NO_PAGER, NULL, 0, "print directly, even what is longer than the terminal"

struct row_options {
	const char *event; /* as given: its meaning depends on the trace */
	bool json;
	bool sorted; /* sort keys were given */
	bool no_pager;
	struct report_options report;
};

/* Sets the default: rows of functions and their modules, for the whole run. */
void row_options_init(struct row_options *rows);
/*
 * Takes an option that these commands share: 'e', 'j', 's', 'q' and those above. Returns
 * ARGP_ERR_UNKNOWN for other options. An invalid argument is reported and ends the program.
 */
int row_options_parse(struct row_options *rows, int key, char *arg);
/* Parses a number of rows or levels. An invalid number is reported and ends the program. */
uint32_t row_options_limit(const char *what, const char *text);
/*
 * Checks after the last option that --all and --limit are not given together. all_is_more: --all
 * affects more than rows, and both are permitted.
 */
void row_options_check(const struct row_options *rows, bool all_is_more);
/* Completes the options after the check: the number of rows and the type of terminal. */
void row_options_complete(struct row_options *rows);
/*
 * Tells whether a trace has the data that the sort keys need. Returns false after reporting the
 * error on standard error.
 */
bool row_options_fit(const struct row_options *rows, const struct trace *trace, const char *path);

#endif
