/* From a record of a mapping to the module that is mapped, and its place in an address space. */
#ifndef RECORD_TASKS_MAPPING_H
#define RECORD_TASKS_MAPPING_H

#include "perf/sampler/record.h"
#include "symbolize/modules/space.h"

/* Enters a RECORD_MMAP. What makes no sense is left out. 0, -ENOSPC: the space is full; -ENOMEM. */
int mapping_enter(struct module_table *modules, struct space *space, const struct record *record);

#endif
