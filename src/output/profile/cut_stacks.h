/* Stacks that do not reach their root: how many, why, and what to do about it. */
#ifndef OUTPUT_PROFILE_CUT_STACKS_H
#define OUTPUT_PROFILE_CUT_STACKS_H

#include "trace/format.h"
#include "output/profile/warnings.h"

/* For JSON: "copy", "frame", and so on. */
const char *cut_stack_name(enum stack_cut reason);
/* For people: "deeper than what was copied of them". */
const char *cut_stack_text(enum stack_cut reason);

/*
 * A line for each reason that cut a share `least` of the stacks, with what helps. taken: the
 * samples, where the run does not know how many stacks there were.
 */
void warnings_of_cut_stacks(const struct trace_run *run, uint64_t taken, double least,
                            warning_fn *fn, void *arg);

#endif
