/*
 * The table of a section's functions, sorted by address: one made here, or the linker's, which is
 * in the file. Of that, the first address of each piece of 64 entries is kept where it was read
 * once, so that of some 17 steps of a search only the last few need the file, and one place of it.
 */
#ifndef SYMBOLIZE_UNWIND_CFI_TABLE_H
#define SYMBOLIZE_UNWIND_CFI_TABLE_H

#include "symbolize/unwind/cfi_entry.h"

/*
 * What describes the last function that starts at or before an address: its offset in the section.
 * next: where the next one starts.
 */
bool cfi_table_search(const struct cfi_source *source, uint64_t vaddr, uint64_t *offset,
                      uint64_t *next);

#endif
