/* What stands for the processes of a trace, and for its threads, where each has one name. */
#ifndef OUTPUT_PROFILE_PROCESSES_H
#define OUTPUT_PROFILE_PROCESSES_H

#include "trace/trace.h"

/*
 * For each thread the entry of its process's main thread as it was last, by when it began to be
 * that, or else of its first thread; itself where its process is not known. To be freed; NULL: no
 * memory.
 */
uint32_t *processes_find(const struct trace *trace);

/*
 * For each thread the first entry that reads the same: a thread that executes another program has a
 * new one, and may come back. Likewise.
 */
uint32_t *threads_find(const struct trace *trace);

#endif
