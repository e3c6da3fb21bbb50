/* The processor's own stack of calls (-g lbr) as addresses. */
#ifndef RECORD_BRANCH_STACK_H
#define RECORD_BRANCH_STACK_H

#include "perf/sampler/record.h"

/*
 * Writes at most max addresses, leaf first, each of an instruction that runs or calls: the call
 * chain down to the interrupted user address, then the places that called from there on. Returns
 * how many; cut: there may be more, for the processor remembers no more than that, or max was
 * reached.
 */
unsigned branch_stack(const struct record *record, unsigned remembered, uint64_t *addresses,
                      unsigned max, bool *cut);

#endif
