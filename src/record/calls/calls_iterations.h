/* Takes the iterations that targets found in their calls into the trace. */
#ifndef RECORD_CALLS_CALLS_ITERATIONS_H
#define RECORD_CALLS_CALLS_ITERATIONS_H

#include "record/calls/calls_process.h"

/* The latest iteration of a thread. */
struct iterations_end {
	uint32_t entry; /* of the trace */
	uint32_t ordinal;
	uint64_t ticks;
	uint64_t time; /* ns: begin and durations of the entry, added up */
	bool stored;
};

struct calls_iterations {
	struct map64 threads; /* numbers of ends, by thread */
	struct iterations_end *ends;
	uint32_t nr;
	uint64_t dropped; /* calls */
	bool few;         /* of them are stored, so that their entries may be large */
};

void calls_iterations_fini(struct calls_iterations *iterations);
/* Forgets all iterations: those in the trace were cleared. */
void calls_iterations_restart(struct calls_iterations *iterations);
/* stored_level: of the buffer, at which its calls are stored if they are. */
void calls_iterations_add(struct calls_iterations *iterations, struct tables *tables,
                          uint32_t thread, const struct calls_iteration *iteration,
                          unsigned stored_level);

#endif
