/* What the command lines of those who print rows have in common. */
#ifndef CLI_ROW_OPTIONS_H
#define CLI_ROW_OPTIONS_H

#include "output/report.h"

#define DEFAULT_LIMIT 40

struct argp_state;

/* Takes the keys of --sort, a number of rows or levels; nonsense is told, and ends the program. */
void row_options_keys(struct argp_state *state, char *text, struct report_options *options);
uint32_t row_options_limit(struct argp_state *state, const char *what, const char *text);

/* Where standard output is a terminal: its width, and whether it wants colors. */
void row_options_terminal(struct report_options *options);

#endif
