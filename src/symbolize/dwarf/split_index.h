/*
 * The index of a package (.dwp), which says where in its sections the parts of a split unit are. It
 * consists of a hash table by the unit's number, and a table with a row for each unit and a column
 * for each section.
 */
#ifndef SYMBOLIZE_DWARF_SPLIT_INDEX_H
#define SYMBOLIZE_DWARF_SPLIT_INDEX_H

#include "symbolize/dwarf/dwarf.h"

/*
 * Narrows those sections of a package that are divided by unit to the parts of one unit. Returns
 * false if the unit is not there or the index is damaged.
 */
bool split_index_narrow(const struct dwarf_bytes *index, uint64_t dwo_id,
                        struct dwarf_bytes sections[NR_DWARF_SECTIONS]);

#endif
