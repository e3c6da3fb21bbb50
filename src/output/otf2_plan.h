/*
 * What OTF2 groups and a trace does not: threads by process, samples by period.
 */
#ifndef OUTPUT_OTF2_PLAN_H
#define OUTPUT_OTF2_PLAN_H

#include "output/spool.h"

/* Samples of one event with one weight. */
struct otf2_generator {
	uint32_t event;
	uint64_t period;
};

/* A process, or all later tasks of a command. */
struct otf2_group {
	uint32_t comm; /* string of the trace */
	int32_t pid;   /* 0: later tasks */
};

struct otf2_plan {
	uint32_t *generator_of_source, *group_of_thread; /* source: of the spool */
	struct otf2_generator *generators;
	struct otf2_group *groups;
	uint32_t nr_generators, nr_groups;
	uint32_t nr_threads; /* the spool's last one only if it has samples */
};

/* 0 or -ENOMEM; to be given to otf2_plan_fini() in either case. */
int otf2_plan_init(struct otf2_plan *plan, const struct trace *trace, const struct spool *spool);
void otf2_plan_fini(struct otf2_plan *plan);

#endif
