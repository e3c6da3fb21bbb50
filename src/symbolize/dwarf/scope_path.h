/*
 * What an entry of debug information is in: namespaces, classes and functions. Entries are written
 * behind what they are in and do not refer to it, so their unit is read from its beginning; to the
 * next entry from the last one, if that comes before it.
 */
#ifndef SYMBOLIZE_DWARF_SCOPE_PATH_H
#define SYMBOLIZE_DWARF_SCOPE_PATH_H

#include "symbolize/dwarf/dwarf_unit.h"

#define SCOPE_PATH_MAX 32 /* deeper ones are not told of */

struct scope_path {
	struct dwarf_unit unit;
	bool open;
	struct cursor cursor; /* behind the entry that was read last */
	uint64_t last;        /* its offset */
	unsigned depth;       /* of what comes next */
	struct dwarf_die around[SCOPE_PATH_MAX];
	unsigned nth[SCOPE_PATH_MAX]; /* of classes without a name: which in its function, from 1 */
	unsigned seen[SCOPE_PATH_MAX + 1]; /* of these so far, in each entry around */
	unsigned nr;                       /* of them around what was found */
	uint64_t left; /* steps that may still be taken, for all: the caller's to set */
};

/*
 * Finds what the entry at the offset of this unit is in: the first path->nr of path->around,
 * the unit itself before all. False: there is no such entry, or too much would have to be read.
 */
bool scope_path_find(struct scope_path *path, struct dwarf *dwarf, uint64_t unit, uint64_t offset);
void scope_path_close(struct scope_path *path);

#endif
