/*
 * The stack of a sample: from what the kernel took of it, a call chain, registers and a piece of
 * memory or branches, to frames.
 */
#ifndef RECORD_SAMPLE_STACK_H
#define RECORD_SAMPLE_STACK_H

#include "record/config.h"
#include "record/stack_copy.h"

struct sample_stack {
	const struct options *options;
	struct module_table *modules;
	struct unwinder *unwinder; /* NULL: nothing is unwound */
	struct stack_copy copy;
	uint64_t built;                         /* stacks of all samples, of which */
	uint64_t truncated;                     /* lack callers */
	uint64_t cut[NR_STACK_CUTS];            /* of these, by reason */
	uint64_t stitched;                      /* stacks that were cut, and completed */
	uint64_t frames[SESSION_MAX_STACK + 2]; /* leaf first, with marks, of the last sample */
	unsigned nr;                            /* of these; at least 1 */
};

/* Call chains of so many frames have been cut, as was wanted or as the kernel does. */
unsigned stack_longest_chain(const struct options *options, const struct sampler *sampler);

/* Makes the frames of a sample, where the class of its memory access is one if that was wanted. */
void sample_stack_build(struct sample_stack *stack, const struct sampler *sampler,
                        const struct space *space, const struct record *record);

#endif
