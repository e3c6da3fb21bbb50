/* The command line of adaptrace report. */
#ifndef CLI_REPORT_OPTIONS_H
#define CLI_REPORT_OPTIONS_H

#include "cli/selection_options.h"
#include "cli/row_options.h"
#include "output/report/report_views.h"
#include "output/views/function_choice.h"
#include "symbolize/modules/module.h"

#include <stdbool.h>

struct report_command {
	const char *path, *function;
	struct selection_options selection;
	struct function_choice choice;
	const struct view *view; /* the one chosen last */
	unsigned views;          /* a bit for each that was chosen */
	bool by_site;            /* --sort site */
	bool svg;
	bool symbols;
	struct debug_search search;
	struct row_options rows;
};

/*
 * Takes argv apart; 0, or the exit status after a complaint. The event, the time and the function
 * are still as they were written: what they mean depends on the trace.
 */
int report_options(struct report_command *command, int argc, char **argv);

#endif
