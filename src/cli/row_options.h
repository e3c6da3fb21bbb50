/* What the command lines of those who print rows have in common. */
#ifndef CLI_ROW_OPTIONS_H
#define CLI_ROW_OPTIONS_H

#include "output/views/query.h"
#include "trace/trace.h"

enum row_option {
	OPT_ALL = 256,
	OPT_LIMIT,
	OPT_NO_HEADER,
	OPT_NO_INLINE,
	OPT_WIDTH,
	OPT_NO_PAGER,
	OPT_OTHERS, /* a command's own are from here on */
};

/* Rows of both options tables. */
#define WIDTH_OPTION "width", OPT_WIDTH, "N", 0, "fit the output into this many columns"
#define NO_PAGER_OPTION \
	"no-pager", OPT_NO_PAGER, NULL, 0, "print directly, even what is longer than the terminal"

struct row_options {
	const char *event; /* as written: what it means depends on the trace */
	bool json;
	bool sorted; /* keys were given */
	bool no_pager;
	struct report_options report;
};

/* Functions and their modules, of all of a run. */
void row_options_init(struct row_options *rows);
/*
 * Takes an option that they have in common: 'e', 'j', 's', 'q' and those above; else
 * ARGP_ERR_UNKNOWN. Nonsense is told, and ends the program.
 */
int row_options_parse(struct row_options *rows, int key, char *arg);
/* A number of rows or levels, likewise. */
uint32_t row_options_limit(const char *what, const char *text);
/*
 * Behind the last option: that --all and --limit exclude each other, but where --all is about more
 * than rows.
 */
void row_options_check(const struct row_options *rows, bool all_is_more);
/* Then: how many rows, and for what kind of terminal. */
void row_options_complete(struct row_options *rows);
/* Whether a trace has what its rows are to be told apart by; false: told on standard error. */
bool row_options_fit(const struct row_options *rows, const struct trace *trace, const char *path);

#endif
