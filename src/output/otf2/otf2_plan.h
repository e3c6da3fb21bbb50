/*
 * Groups that OTF2 has and a trace has not: threads by process and host, samples by period, and the
 * communicators that OTF2 can express.
 *
 * Where the trace has ranks, the first groups belong to them: the number of a group is its rank. A
 * rank that is missing in the trace gets a group and a location without events, because members of
 * communicators must exist.
 */
#ifndef OUTPUT_OTF2_OTF2_PLAN_H
#define OUTPUT_OTF2_OTF2_PLAN_H

#include "output/convert/spool.h"

#define PLAN_NONE UINT32_MAX

/* Samples of one event with one period. */
struct otf2_generator {
	uint32_t event;
	uint64_t period;
};

/* A process, or all later tasks of a command. */
struct otf2_group {
	uint32_t comm; /* string of the trace; 0: a rank that is not in it */
	int32_t pid;   /* 0: later tasks, or not known */
	int32_t rank;  /* -1: none */
	uint32_t host; /* in hosts */
};

/* A communicator as OTF2 sees it. */
struct otf2_comm {
	uint32_t number; /* PLAN_NONE: OTF2 cannot express it */
	uint32_t group;  /* of MPI's groups; the remote one follows */
};

struct otf2_plan {
	uint32_t *generator_of_rate, *group_of_thread; /* rate: of the spool */
	struct otf2_generator *generators;
	struct otf2_group *groups;
	uint32_t *hosts; /* strings */
	uint32_t nr_generators, nr_groups, nr_hosts;
	uint32_t nr_threads; /* the spool's last one only if it has samples */

	/*
	 * The first locations are those of the ranks and have the ranks' numbers, because some
	 * readers look for a rank at the location of its number only. The other threads follow.
	 */
	uint32_t nr_ranks; /* of the world; 0: the trace has no ranks */
	uint32_t nr_locations;
	uint32_t *thread_of_location; /* PLAN_NONE: of a rank that is not in the trace */
	uint32_t *location_of_thread;
	struct otf2_comm *comms; /* by number in the trace */
	uint32_t nr_comms, nr_comm_groups;
	bool has_self;
};

/* Returns 0 or -ENOMEM; call otf2_plan_fini() in either case. */
int otf2_plan_init(struct otf2_plan *plan, const struct spool *spool);
void otf2_plan_fini(struct otf2_plan *plan);

#endif
