/*
 * Examines this machine: tells for everything that sampling needs or can use whether it is
 * available and how to make it available.
 */
#ifndef CLI_DOCTOR_FINDINGS_H
#define CLI_DOCTOR_FINDINGS_H

#include "perf/events/event.h"

#include <stddef.h>

enum finding_state {
	FINDING_WORKS,
	FINDING_LIMITED, /* it works, but not in full */
	FINDING_MISSING,
};

struct finding {
	const char *name;
	enum finding_state state;
	char says[WHY_SIZE];    /* what works, or the obstacle */
	char way_out[WHY_SIZE]; /* "": no change is needed, or none would help */
};

#define FINDINGS_MAX 32

struct findings {
	struct finding list[FINDINGS_MAX];
	size_t nr;
	bool can_sample; /* at least user code of own processes can be sampled */
};

/* Makes all checks. This takes a tenth of a second. */
void findings_make(struct findings *findings);

#endif
