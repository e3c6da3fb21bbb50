#include "symbolize/dwarf/dwarf_walk.h"
#include "symbolize/dwarf/dwarf_abbrev.h"

#include <dwarf.h>

void dwarf_walk_start(struct dwarf_walk *walk, const struct dwarf_unit *unit)
{
	*walk = (struct dwarf_walk){unit, dwarf_unit_cursor(unit, unit->first), 0};
}

/* Most codes take a byte, the others mostly two. */
static inline uint64_t code_read(struct cursor *cursor)
{
	const uint8_t *at = cursor->at;

	if (cursor->end - at < 2)
		return cursor_uleb(cursor);
	if (!(at[0] & 0x80)) {
		cursor->at += 1;
		return at[0];
	}
	if (at[1] & 0x80)
		return cursor_uleb(cursor);
	cursor->at += 2;
	return (at[0] & 0x7fu) | (uint64_t)at[1] << 7;
}

static void leb_pass(struct cursor *cursor)
{
	for (unsigned i = 1; i < CURSOR_MAX_LEB && cursor_left(cursor) && *cursor->at & 0x80; i++)
		cursor->at++;
	cursor_take(cursor, 1);
}

static inline void attrs_pass(const struct dwarf_unit *unit, struct cursor *cursor,
                              const struct dwarf_plan *plan)
{
	const struct dwarf_spec *spec = unit->abbrevs->specs + plan->first;
	const struct dwarf_spec *end = spec + plan->nr;
	struct dwarf_attr other;

	for (; spec < end; spec++) {
		cursor_take(cursor, spec->skip);
		if (spec->size == FORM_BLOCK)
			cursor_take(cursor, code_read(cursor));
		else if (spec->size == FORM_LEB)
			leb_pass(cursor);
		else
			dwarf_attr_read(unit, cursor, spec, &other);
	}
	cursor_take(cursor, plan->skip);
}

/*
 * Over all that is inside: the next entry is where the last attribute says. Backwards it cannot be.
 */
static bool sibling_take(const struct dwarf_unit *unit, struct cursor *cursor)
{
	const uint8_t *info = unit->dwarf->sections[DWARF_INFO].data;
	struct cursor value = {.at = cursor->at - 4, .end = cursor->at};
	uint64_t offset = unit->offset + cursor_uint(&value, 4);

	if (offset > unit->end || info + offset < cursor->at)
		return false;
	cursor->at = info + offset;
	return true;
}

static bool function_read(struct dwarf_walk *walk, const uint8_t *start,
                          const struct dwarf_abbrev *abbrev, struct dwarf_function *function)
{
	const uint8_t *info = walk->unit->dwarf->sections[DWARF_INFO].data;

	function->depth = walk->depth;
	function->has_attrs = abbrev->has_code || abbrev->tag == DW_TAG_inlined_subroutine;
	if (function->has_attrs) {
		walk->cursor.at = start;
		if (!dwarf_die_read(walk->unit, &walk->cursor, &function->die))
			return false;
	} else {
		function->die.offset = (uint64_t)(start - info);
		function->die.tag = abbrev->tag;
		attrs_pass(walk->unit, &walk->cursor, &abbrev->pass);
		if (!dwarf_step(walk->unit->dwarf, 1 + abbrev->pass.nr))
			return false;
	}
	walk->depth += abbrev->has_children;
	return !walk->cursor.bad;
}

/* Steps over an entry that is no function; also over its children if none can be one. */
static inline bool entry_pass(struct dwarf_walk *walk, const struct dwarf_abbrev *abbrev)
{
	attrs_pass(walk->unit, &walk->cursor, &abbrev->pass);
	if (walk->cursor.bad)
		return false;
	if (abbrev->has_children && !(abbrev->is_leaf && sibling_take(walk->unit, &walk->cursor)))
		walk->depth++;
	return dwarf_step(walk->unit->dwarf, 1 + abbrev->pass.nr);
}

bool dwarf_walk_next(struct dwarf_walk *walk, struct dwarf_function *function)
{
	const struct dwarf_abbrevs *abbrevs = walk->unit->abbrevs;
	const struct dwarf_abbrev *abbrev;
	const uint8_t *start;
	uint64_t code;

	function->around = walk->depth;
	for (;;) {
		start = walk->cursor.at;
		code = code_read(&walk->cursor);
		if (walk->cursor.bad)
			return false;
		if (!code) { /* the end of a list of children; the root encloses all */
			if (walk->depth <= 1 || !dwarf_step(walk->unit->dwarf, 1))
				return false;
			walk->depth--;
			if (function->around > walk->depth)
				function->around = walk->depth;
			continue;
		}
		abbrev = dwarf_abbrev_find(abbrevs, code);
		if (!abbrev)
			return false;
		if (abbrev->is_function)
			return function_read(walk, start, abbrev, function);
		if (!entry_pass(walk, abbrev))
			return false;
	}
}
