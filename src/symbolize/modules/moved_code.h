/*
 * Moved code: programs put their own code into huge pages (node --use-largepages, libhugetlbfs)
 * by mapping memory in its place and copying it there. Records tell of memory without a file, or
 * with one that is no program; what runs there is what ran before.
 */
#ifndef SYMBOLIZE_MODULES_MOVED_CODE_H
#define SYMBOLIZE_MODULES_MOVED_CODE_H

#include "symbolize/modules/space.h"

/*
 * The part of the memory [start, end) that has what a file has there, of which something was or
 * still is mapped at or beside it. The memory is compared as it is now, in a dozen places. False:
 * there is none, or it cannot be read.
 */
bool moved_code_find(struct module_table *modules, const struct space *space, uint64_t start,
                     uint64_t end, struct mapping *part);

#endif
