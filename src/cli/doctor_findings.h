/*
 * What a look at this machine finds: for everything that sampling needs or can use, whether it is
 * there, and what would change it.
 */
#ifndef CLI_DOCTOR_FINDINGS_H
#define CLI_DOCTOR_FINDINGS_H

#include "perf/events/event.h"

#include <stddef.h>

enum finding_state {
	FINDING_WORKS,
	FINDING_LIMITED, /* it works, but there is more to have */
	FINDING_MISSING,
};

struct finding {
	const char *name;
	enum finding_state state;
	char says[WHY_SIZE];    /* what works, or what stands in the way */
	char way_out[WHY_SIZE]; /* "": nothing to change, or nothing that would */
};

#define FINDINGS_MAX 32

struct findings {
	struct finding list[FINDINGS_MAX];
	size_t nr;
	bool can_sample; /* at least the user side of own processes */
};

/* Looks at everything; takes a tenth of a second. */
void findings_make(struct findings *findings);

#endif
