/*
 * Instrumented calls in the Trace Event Format. They are drawn as slices of their own, below those
 * of samples.
 */
#ifndef OUTPUT_CONVERT_CHROME_CALLS_H
#define OUTPUT_CONVERT_CHROME_CALLS_H

#include "output/text/json_writer.h"
#include "trace/call_stream.h"
#include "trace/trace_iterations.h"

/* Track that the calls of one thread are printed to. */
struct chrome_track {
	struct json_writer *json;
	const struct trace *trace;
	uint32_t number; /* the thread's */
	int32_t pid, tid;
	uint64_t start; /* ns: time 0 */
};

/* Puts nanoseconds as microseconds, exactly. */
void chrome_put_us(struct json_writer *json, const char *key, uint64_t ns);

/* Puts a moment of a call: a spool_moment_fn whose arg is a chrome_track. */
void chrome_put_call(void *arg, const struct call_moment *moment);

/* Puts the iterations that the thread found in its calls; those without calls in a row are one. */
void chrome_put_iterations(const struct chrome_track *track, const struct iteration_index *index);

#endif
