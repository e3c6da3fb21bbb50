/*
 * Walks over all entries of a unit and stops at functions and inlined calls. About one entry of 16
 * is one of these; the others are skipped without being parsed.
 */
#ifndef SYMBOLIZE_DWARF_DWARF_WALK_H
#define SYMBOLIZE_DWARF_DWARF_WALK_H

#include "symbolize/dwarf/dwarf_unit.h"

struct dwarf_walk {
	const struct dwarf_unit *unit;
	struct cursor cursor;
	size_t depth; /* of the entry at the cursor: how many are around it */
};

/* A function, or a call in it. */
struct dwarf_function {
	struct dwarf_die die;
	bool has_attrs; /* they were read: it has code, or is a call */
	size_t depth;
	size_t around; /* no earlier function with this depth or a greater one contains it */
};

/* The unit stays where it is. */
void dwarf_walk_start(struct dwarf_walk *walk, const struct dwarf_unit *unit);

/* False: there are no more, or damage. */
bool dwarf_walk_next(struct dwarf_walk *walk, struct dwarf_function *function);

#endif
