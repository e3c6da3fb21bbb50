/* A part of a trace: of its time, of its threads and CPUs. NULL stands for the whole of it. */
#ifndef TRACE_PART_H
#define TRACE_PART_H

#include "hmb/call_code.h"
#include "trace/selection.h"

struct part {
	uint64_t from, to;     /* ns of the trace's clock: samples in [from, to) */
	const struct who *who; /* NULL: all of them */
};

static inline bool part_has(const struct part *part, const struct trace_sample *sample)
{
	return !part || (sample->time >= part->from && sample->time < part->to &&
	                 who_has(part->who, sample->thread, sample->cpu));
}

/* A call is where it was entered; of what CPU it ran on nothing is known. */
static inline bool part_has_call(const struct part *part, const struct call *call)
{
	return !part || (call->enter >= part->from && call->enter < part->to &&
	                 who_has_thread(part->who, call->thread));
}

static inline bool part_chooses_cpus(const struct part *part)
{
	return part && part->who && part->who->cpus;
}

static inline bool part_is_all(const struct part *part)
{
	return !part || (!part->from && part->to == UINT64_MAX && !part->who);
}

/* The start and end of the part within the run, in ns of the trace's clock. */
static inline uint64_t part_start(const struct trace_run *run, const struct part *part)
{
	return part && part->from > run->start ? part->from : run->start;
}
static inline uint64_t part_end(const struct trace_run *run, const struct part *part)
{
	return part && part->to < run->end ? part->to : run->end;
}

/* "comm=lmp, from 2.000 s to 5.000 s of the run", to be freed; empty: all of it. NULL: no memory.
 */
char *part_text(const struct trace *trace, const struct part *part);

#endif
