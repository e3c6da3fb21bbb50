/* The command line of adaptrace report. */
#ifndef CLI_REPORT_OPTIONS_H
#define CLI_REPORT_OPTIONS_H

#include "output/function_choice.h"
#include "output/report.h"
#include "symbolize/module.h"

#include <stdbool.h>

struct report_command {
	const char *path, *event, *time, *function;
	struct function_choice choice;
	bool json, mpi, per_rank, symbols;
	bool sorted; /* by keys that were asked for */
	struct debug_places places;
	struct report_options options;
};

/*
 * Takes argv apart; 0, or the exit status after a complaint. The event, the time and the function
 * are still as they were written: what they mean depends on the trace.
 */
int report_options(struct report_command *command, int argc, char **argv);

#endif
