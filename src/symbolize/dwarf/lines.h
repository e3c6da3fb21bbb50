/*
 * Lines: map addresses to lines of source code and to the functions that were inlined there.
 *
 * All addresses of one module are looked up at once. Each unit of debug information that has code
 * at one of them is read once. Only the line of each address and the inlined calls around it are
 * kept.
 */
#ifndef SYMBOLIZE_DWARF_LINES_H
#define SYMBOLIZE_DWARF_LINES_H

#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/symbol.h"
#include "symbolize/elf/symbol_table.h"

struct lines;

/*
 * Finds the lines of n ascending, distinct offsets of an image with these symbols, which are
 * sealed. Offsets and names must stay where they are. NULL with errno; ENODATA: there is no debug
 * information, EFBIG: more than is read, EOPNOTSUPP: libelf cannot unpack it.
 */
struct lines *lines_new(struct elf_image *image, const struct symbol_table *symbols,
                        const uint32_t *offsets, size_t n);
void lines_free(struct lines *lines);

/* Units of which only the lines are known: their .dwo files were not found. */
uint64_t lines_split_missing(const struct lines *lines);

#define LINES_MAX_CHAIN 128 /* callers beyond are left out, except the last */

/*
 * Returns the source of the offset with this index, and of the calls that were inlined there,
 * innermost first, with demangled function names. The last one is in the symbol's function and has
 * its linkage name. Returns their number; 0 if nothing is known.
 */
size_t lines_chain(const struct lines *lines, size_t index, struct source chain[LINES_MAX_CHAIN]);

#endif
