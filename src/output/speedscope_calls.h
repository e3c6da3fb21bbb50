/* Instrumented calls in speedscope's own format. */
#ifndef OUTPUT_SPEEDSCOPE_CALLS_H
#define OUTPUT_SPEEDSCOPE_CALLS_H

#include "output/convert.h"
#include "output/trace_calls.h"

/* The trace's regions as frames, each with a comma in front, unless it is the first. */
void speedscope_print_regions(const struct trace *trace, FILE *file, bool first);

/* Profiles in which a thread's calls are entered and left; frames have the numbers from here on. */
struct speedscope_calls {
	struct conversion *conversion;
	struct call_index *index;
	uint32_t first_frame;
};

/* Writes the one of a thread, if it has any; *nr counts profiles. 0 or -errno. */
int speedscope_print_calls(const struct speedscope_calls *calls, FILE *file, uint32_t thread,
                           unsigned *nr);

#endif
