/*
 * Cursors that walks over a live trace leave at its end, so that the next walk, of later samples,
 * need not decode bins from their beginning: one for each list of samples. A bin only grows, and is
 * copied to the same place again, until it is taken anew, which its sequence tells.
 */
#ifndef TRACE_WALK_MEMORY_H
#define TRACE_WALK_MEMORY_H

#include "hmb/code.h"

struct walk_memory;

/* NULL: no memory. */
struct walk_memory *walk_memory_new(void);
void walk_memory_free(struct walk_memory *memory);

/*
 * Takes the cursor that was left in this bin behind samples that are all older than `from`, and
 * lets it go on with what the bin has now; *latest is the latest time of these samples. The caller
 * frees it or leaves it again. NULL: there is none.
 */
struct code_cursor *walk_memory_take(struct walk_memory *memory, const struct bin *bin,
                                     uint64_t from, uint64_t *latest);
/* Leaves a cursor at the end of this bin. */
void walk_memory_leave(struct walk_memory *memory, const struct bin *bin,
                       struct code_cursor *cursor, uint64_t latest);

#endif
