/* Instrumented calls in the Trace Event Format: slices of their own below those of samples. */
#ifndef OUTPUT_CONVERT_CHROME_CALLS_H
#define OUTPUT_CONVERT_CHROME_CALLS_H

#include "trace/call_stream.h"

#include <stdio.h>

/* Where the calls of a thread go. */
struct chrome_track {
	FILE *file;
	const struct trace *trace;
	uint32_t number; /* the thread's */
	int32_t pid, tid;
	uint64_t start; /* ns: time 0 */
	const char **separator;
};

/* Prints what happened in a call, with a separator before it: a spool_moment_fn; arg: a track. */
void chrome_print_call(void *arg, const struct call_moment *moment);

#endif
