/*
 * Builds the frames of a sample from its kernel data: a call chain, registers and a copy of the
 * stack, or branches.
 */
#ifndef RECORD_SAMPLE_STACK_H
#define RECORD_SAMPLE_STACK_H

#include "record/config.h"
#include "record/own_code.h"
#include "record/stack_copy.h"

struct sample_stack {
	const struct record_config *config;
	struct module_table *modules;
	struct unwinder *unwinder; /* NULL: nothing is unwound */
	struct stack_copy copy;
	struct own_code own;         /* left out of stacks */
	uint64_t built;              /* stacks of all samples */
	uint64_t truncated;          /* stacks that lack callers */
	uint64_t cut[NR_STACK_CUTS]; /* stacks that lack callers, by reason */
	uint64_t stitched;           /* stacks that were cut and completed from others */
	/* frames of the last sample, leaf first, with marks */
	uint64_t frames[SESSION_MAX_STACK + 2];
	/* number of frames of the last sample; at least 1 */
	unsigned nr;
};

/*
 * Writes at most max addresses, leaf first: the call chain down to the interrupted user address,
 * then the addresses of the calls that the processor remembers. Returns their number. cut: callers
 * may be missing, because the processor remembers no more branches or max was reached.
 */
unsigned branch_stack(const struct record *record, unsigned remembered, uint64_t *addresses,
                      unsigned max, bool *cut);

/* Returns the length from which on a call chain has been cut, by the configuration or by the
 * kernel. */
unsigned stack_longest_chain(const struct record_config *config, const struct sampler *sampler);

/* Makes the frames of a sample, where the class of its memory access is one if that was wanted. */
void sample_stack_build(struct sample_stack *stack, const struct sampler *sampler,
                        const struct space *space, const struct record *record);

#endif
