/* Call stacks from the processor's branch records (-g lbr). */
#ifndef RECORD_BRANCH_STACK_H
#define RECORD_BRANCH_STACK_H

#include "perf/sampler/record.h"

/*
 * Writes at most max addresses, leaf first: the call chain down to the interrupted user address,
 * then the addresses of the calls that the processor remembers. Returns their number. cut: callers
 * may be missing, because the processor remembers no more branches or max was reached.
 */
unsigned branch_stack(const struct record *record, unsigned remembered, uint64_t *addresses,
                      unsigned max, bool *cut);

#endif
