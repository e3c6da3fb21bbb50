/*
 * The table of a section's functions, sorted by address: either built here, or the linker's, which
 * is in the file. For the linker's table the first address of each piece of 64 entries is cached
 * when it is read, so that only the last few of some 17 steps of a search access the file, and only
 * at one place.
 */
#ifndef SYMBOLIZE_UNWIND_CFI_TABLE_H
#define SYMBOLIZE_UNWIND_CFI_TABLE_H

#include "symbolize/unwind/cfi_entry.h"

/*
 * Finds the last function that starts at or before an address. Sets the offset of its entry in the
 * section, and `next` to the start of the function after it.
 */
bool cfi_table_search(const struct cfi_input *input, uint64_t vaddr, uint64_t *offset,
                      uint64_t *next);

#endif
