/* What stands for the processes of a trace where they have one name. */
#ifndef OUTPUT_PROCESSES_H
#define OUTPUT_PROCESSES_H

#include "output/trace.h"

/*
 * For each thread the entry of its process's main thread as it was last, by when it began to be
 * that, or else of its first thread; itself where its process is not known. To be freed; NULL: no
 * memory.
 */
uint32_t *processes_find(const struct trace *trace);

#endif
