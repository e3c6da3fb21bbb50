/* Selections: the threads and CPUs of a trace that a report covers. NULL stands for all of them. */
#ifndef TRACE_SELECTION_H
#define TRACE_SELECTION_H

#include "trace/trace.h"

/*
 * Selected threads and CPUs, by their numbers in the trace; NULL: all. Threads and CPUs without a
 * number are not selected.
 */
struct who {
	bool *threads, *cpus;
	uint32_t nr_threads, nr_cpus;
	const char *const *words; /* the user's words for them; borrowed */
	unsigned nr_words;
};

enum who_key { WHO_COMM, WHO_PROCESS, WHO_THREAD, WHO_CPU, WHO_RANK };

/*
 * Selects threads and CPUs by words such as "comm=lmp", "process=17", "thread=18", "cpu=0" or
 * "rank=3". A thread or CPU is selected if it matches one word of each key that occurs. Returns 0,
 * -ENOMEM, -EINVAL for an invalid word, or -ENOENT if nothing is selected; the wrong word is stored
 * in *wrong. who_fini() must be called in any case.
 */
int who_init(struct who *who, const struct trace *trace, const char *const *words, unsigned nr,
             const char **wrong);
void who_fini(struct who *who);

static inline bool who_has_thread(const struct who *who, uint32_t thread)
{
	return !who || !who->threads || (thread < who->nr_threads && who->threads[thread]);
}

static inline bool who_has(const struct who *who, uint32_t thread, uint32_t cpu)
{
	return who_has_thread(who, thread) &&
	       (!who || !who->cpus || (cpu < who->nr_cpus && who->cpus[cpu]));
}

#endif
