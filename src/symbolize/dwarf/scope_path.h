/*
 * Scope paths: the namespaces, classes and functions around an entry of debug information. Entries
 * do not refer to their parents, which are written before them, so the unit is read from its
 * beginning. A search for a later entry continues where the last one ended.
 */
#ifndef SYMBOLIZE_DWARF_SCOPE_PATH_H
#define SYMBOLIZE_DWARF_SCOPE_PATH_H

#include "symbolize/dwarf/dwarf_unit.h"

#define SCOPE_PATH_MAX 32 /* deeper scopes are ignored */

struct scope_path {
	struct dwarf_unit unit;
	bool open;
	struct cursor cursor; /* behind the entry that was read last */
	uint64_t last;        /* its offset */
	unsigned depth;       /* of the entry at the cursor */
	struct dwarf_die around[SCOPE_PATH_MAX];
	unsigned nth[SCOPE_PATH_MAX]; /* of classes without a name: which in its function, from 1 */
	unsigned seen[SCOPE_PATH_MAX + 1]; /* of these so far, in each entry around */
	unsigned nr;                       /* of them around what was found */
	uint64_t left; /* steps that may still be taken, for all: the caller's to set */
};

/*
 * Finds the scopes around the entry at an offset of this unit and stores them in the first path->nr
 * elements of path->around, beginning with the unit itself. Returns false if there is no such
 * entry, or if too much would have to be read.
 */
bool scope_path_find(struct scope_path *path, struct dwarf *dwarf, uint64_t unit, uint64_t offset);
void scope_path_close(struct scope_path *path);

#endif
