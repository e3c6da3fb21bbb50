/*
 * Selections: the time, threads and CPUs of a trace that a report covers. NULL stands for the whole
 * trace.
 */
#ifndef TRACE_SELECTION_H
#define TRACE_SELECTION_H

#include "hmb/call.h"
#include "trace/trace.h"

/*
 * Selected threads and CPUs, by their numbers in the trace; NULL: all. Threads and CPUs without a
 * number are not selected.
 */
struct thread_filter {
	bool *threads, *cpus;
	uint32_t nr_threads, nr_cpus;
	const char *const *words; /* the user's words for them; borrowed */
	unsigned nr_words;
};

enum filter_key { FILTER_COMM, FILTER_PROCESS, FILTER_THREAD, FILTER_CPU, FILTER_RANK };

/*
 * Selects threads and CPUs by words such as "comm=lmp", "process=17", "thread=18", "cpu=0" or
 * "rank=3". A thread or CPU is selected if it matches one word of each key that occurs. Returns 0,
 * -ENOMEM, -EINVAL for an invalid word, or -ENOENT if nothing is selected; the wrong word is stored
 * in *wrong. thread_filter_fini() must be called in any case.
 */
int thread_filter_init(struct thread_filter *filter, const struct trace *trace,
                       const char *const *words, unsigned nr, const char **wrong);
void thread_filter_fini(struct thread_filter *filter);

static inline bool thread_filter_has(const struct thread_filter *filter, uint32_t thread)
{
	return !filter || !filter->threads ||
	       (thread < filter->nr_threads && filter->threads[thread]);
}

static inline bool thread_filter_has_cpu(const struct thread_filter *filter, uint32_t thread,
                                         uint32_t cpu)
{
	return thread_filter_has(filter, thread) &&
	       (!filter || !filter->cpus || (cpu < filter->nr_cpus && filter->cpus[cpu]));
}

struct selection {
	uint64_t from, to;                  /* ns of the trace's clock: samples in [from, to) */
	const struct thread_filter *filter; /* NULL: all of them */
};

static inline bool selection_has(const struct selection *selection,
                                 const struct trace_sample *sample)
{
	return !selection ||
	       (sample->time >= selection->from && sample->time < selection->to &&
	        thread_filter_has_cpu(selection->filter, sample->thread, sample->cpu));
}

/* A call counts at the time when it was entered. Its CPU is unknown. */
static inline bool selection_has_call(const struct selection *selection, const struct call *call)
{
	return !selection || (call->enter >= selection->from && call->enter < selection->to &&
	                      thread_filter_has(selection->filter, call->thread));
}

static inline bool selection_chooses_cpus(const struct selection *selection)
{
	return selection && selection->filter && selection->filter->cpus;
}

static inline bool selection_is_all(const struct selection *selection)
{
	return !selection ||
	       (!selection->from && selection->to == UINT64_MAX && !selection->filter);
}

/* The start and end of the selection within the run, in ns of the trace's clock. */
static inline uint64_t selection_start(const struct trace_run *run,
                                       const struct selection *selection)
{
	return selection && selection->from > run->start ? selection->from : run->start;
}
static inline uint64_t selection_end(const struct trace_run *run, const struct selection *selection)
{
	return selection && selection->to < run->end ? selection->to : run->end;
}

/*
 * Returns "comm=lmp, from 2.000 s to 5.000 s of the run", or "" for the whole trace. The caller
 * frees it. Returns NULL if there is no memory.
 */
char *selection_text(const struct trace *trace, const struct selection *selection);

#endif
