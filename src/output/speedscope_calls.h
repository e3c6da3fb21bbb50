/* Instrumented calls in speedscope's own format. */
#ifndef OUTPUT_SPEEDSCOPE_CALLS_H
#define OUTPUT_SPEEDSCOPE_CALLS_H

#include "output/spool.h"

/* The trace's regions as frames, each with a comma in front, unless it is the first. */
void speedscope_print_regions(const struct trace *trace, FILE *file, bool first);

/*
 * Writes the profile in which a thread's calls are entered and left, if it has any; *nr counts
 * profiles. Regions are the frames behind the functions of the paths. 0 or -errno.
 */
int speedscope_print_calls(const struct spool *spool, FILE *file, uint32_t thread, unsigned *nr);

#endif
