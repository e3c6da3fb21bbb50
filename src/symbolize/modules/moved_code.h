/*
 * Moved code: programs move their own code into huge pages (node --use-largepages, libhugetlbfs) by
 * mapping memory in its place and copying the code there. The kernel records memory without a file,
 * or with a file that is no program, although the same code runs there as before.
 */
#ifndef SYMBOLIZE_MODULES_MOVED_CODE_H
#define SYMBOLIZE_MODULES_MOVED_CODE_H

#include "symbolize/modules/space.h"

/*
 * Finds the part of the memory [start, end) that equals the contents of a file that was or still is
 * mapped at that place or beside it. The present memory is compared, in a dozen places. Returns
 * false if there is none or the memory cannot be read.
 */
bool moved_code_find(struct module_table *modules, const struct space *space, uint64_t start,
                     uint64_t end, struct mapping *part);

#endif
