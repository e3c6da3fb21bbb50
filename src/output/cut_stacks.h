/* Stacks that do not reach their root, among those of the stored samples, and why. */
#ifndef OUTPUT_CUT_STACKS_H
#define OUTPUT_CUT_STACKS_H

#include "output/trace.h"

struct cut_stacks {
	uint64_t samples;  /* all that are stored, of which */
	uint64_t cut;      /* do not reach their root, of which */
	uint64_t deep;     /* are as deep as stacks are recorded */
	uint64_t bare;     /* have a leaf alone: nothing leads to its caller */
	uint64_t switched; /* end where Go goes to another stack */
};

/* Goes through all samples. 0, -ENOMEM, -EBADMSG. */
int cut_stacks_count(struct cut_stacks *cuts, const struct trace *trace);

#endif
