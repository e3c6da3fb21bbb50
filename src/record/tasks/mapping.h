/* Turns a record of a mapping into a module and its place in an address space. */
#ifndef RECORD_TASKS_MAPPING_H
#define RECORD_TASKS_MAPPING_H

#include "perf/sampler/record.h"
#include "symbolize/modules/space.h"

/*
 * Enters a RECORD_MMAP. Invalid records are ignored. Returns 0, -ENOSPC if the space is full, or
 * -ENOMEM.
 */
int mapping_enter(struct module_table *modules, struct space *space, const struct record *record);

#endif
