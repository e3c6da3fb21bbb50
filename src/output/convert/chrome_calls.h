/*
 * Instrumented calls in the Trace Event Format. They are drawn as slices of their own, below those
 * of samples.
 */
#ifndef OUTPUT_CONVERT_CHROME_CALLS_H
#define OUTPUT_CONVERT_CHROME_CALLS_H

#include "trace/call_stream.h"

#include <stdio.h>

/* Track that the calls of one thread are printed to. */
struct chrome_track {
	FILE *file;
	const struct trace *trace;
	uint32_t number; /* the thread's */
	int32_t pid, tid;
	uint64_t start; /* ns: time 0 */
	const char **separator;
};

/*
 * Prints a moment of a call, with a separator before it. It is a spool_moment_fn whose arg is a
 * chrome_track.
 */
void chrome_print_call(void *arg, const struct call_moment *moment);

#endif
