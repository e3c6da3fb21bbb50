/*
 * Representatives of processes and threads: the one entry of the trace's table of threads that
 * gives each its name.
 */
#ifndef OUTPUT_PROFILE_PROCESSES_H
#define OUTPUT_PROFILE_PROCESSES_H

#include "trace/trace.h"

/*
 * Returns for each thread an entry of its process: the latest one of the main thread, by start
 * time, or else one of another thread. A thread whose process is unknown is its own entry. The
 * caller frees the array; NULL: no memory.
 */
uint32_t *processes_find(const struct trace *trace);

/*
 * Returns for each thread the first entry with the same process, TID and command. A thread has
 * several such entries if it executed another program and later came back. The caller frees the
 * array; NULL: no memory.
 */
uint32_t *threads_find(const struct trace *trace);

#endif
