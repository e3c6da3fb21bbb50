/*
 * The index of a package (.dwp): where in its sections the parts of a split unit are. A hash table
 * by the number of the unit, then a table with a row for each unit and a column for each section.
 */
#ifndef SYMBOLIZE_DWARF_SPLIT_INDEX_H
#define SYMBOLIZE_DWARF_SPLIT_INDEX_H

#include "symbolize/dwarf/dwarf.h"

/*
 * Narrows the sections of a package, of those that units have parts of, to the parts of one unit.
 * False: it is not there, or damaged.
 */
bool split_index_narrow(const struct dwarf_bytes *index, uint64_t dwo_id,
                        struct dwarf_bytes sections[NR_DWARF_SECTIONS]);

#endif
