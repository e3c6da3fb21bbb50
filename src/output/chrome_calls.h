/* Instrumented calls in the Trace Event Format: slices of their own below those of samples. */
#ifndef OUTPUT_CHROME_CALLS_H
#define OUTPUT_CHROME_CALLS_H

#include "output/convert.h"
#include "output/trace_calls.h"

/*
 * Prints those of a thread, each with a separator before it, as of process `pid`. time 0 is
 * `start`. 0 or -errno.
 */
int chrome_calls(struct conversion *conversion, FILE *file, const struct call_index *calls,
                 uint32_t thread, int32_t pid, uint64_t start, const char **separator);

#endif
