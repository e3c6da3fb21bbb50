/*
 * Warnings about stacks that do not reach their root: how many there are, why, and which option
 * helps.
 */
#ifndef OUTPUT_PROFILE_CUT_STACKS_H
#define OUTPUT_PROFILE_CUT_STACKS_H

#include "trace/format.h"
#include "output/profile/warnings.h"

/* Returns the name of a reason for JSON: "copy", "frame", and so on. */
const char *cut_stack_name(enum stack_cut reason);
/* Returns the name of a reason for people: "deeper than what was copied of them". */
const char *cut_stack_text(enum stack_cut reason);

/*
 * Calls fn with a line for each reason that cut at least the share `least` of the stacks. The line
 * says which option helps. taken: the number of samples, used where the run does not have the
 * number of stacks.
 */
void warnings_of_cut_stacks(const struct trace_run *run, uint64_t taken, double least,
                            warning_fn *fn, void *arg);

#endif
