#include "symbolize/dwarf/scope_path.h"

#include <dwarf.h>

void scope_path_close(struct scope_path *path)
{
	if (path->open)
		dwarf_unit_close(&path->unit);
	path->open = false;
}

/* C functions have no scope around them, so the unit need not be searched. */
static bool is_c(const struct dwarf_unit *unit)
{
	const uint64_t language = unit->root.attrs[DIE_LANGUAGE].value;

	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
	       language == DW_LANG_C11;
}

static bool unit_open(struct scope_path *path, struct dwarf *dwarf, uint64_t unit)
{
	if (path->open && path->unit.dwarf == dwarf && path->unit.offset == unit)
		return true;
	scope_path_close(path);
	path->open = !dwarf_unit_open(&path->unit, dwarf, unit);
	path->last = UINT64_MAX;
	return path->open;
}

/* The blocks of a function are one place. */
static void number_class(struct scope_path *path, const struct dwarf_die *die)
{
	unsigned place = path->depth;

	path->seen[place + 1] = 0;
	if (die->tag != DW_TAG_class_type && die->tag != DW_TAG_structure_type)
		return;
	while (place && path->around[place - 1].tag == DW_TAG_lexical_block)
		place--;
	path->nth[path->depth] = die->attrs[DIE_NAME].form ? 0 : ++path->seen[place];
}

/* Reads an entry; depth is that of those behind it then. False: the end. */
static bool step(struct scope_path *path, struct dwarf_die *die)
{
	if (!dwarf_die_read(&path->unit, &path->cursor, die))
		return false;
	path->last = die->offset;
	if (!die->tag)
		return path->depth && path->depth--;
	if (!die->has_children)
		return true;
	if (path->depth == SCOPE_PATH_MAX)
		return false;
	number_class(path, die);
	path->around[path->depth++] = *die;
	return true;
}

static bool find(struct scope_path *path, uint64_t offset)
{
	struct dwarf_die die;

	do
		if (!step(path, &die))
			return false;
	while (die.offset < offset);
	path->nr = path->depth - die.has_children; /* it is not in itself */
	return die.offset == offset && die.tag;
}

bool scope_path_find(struct scope_path *path, struct dwarf *dwarf, uint64_t unit, uint64_t offset)
{
	const uint64_t work = dwarf->work;
	bool found;

	if (!path->left || !unit_open(path, dwarf, unit) || is_c(&path->unit))
		return false;
	if (path->last >= offset) {
		path->cursor = dwarf_unit_cursor(&path->unit, path->unit.first);
		path->depth = 0;
		path->seen[0] = 0;
	}
	found = find(path, offset);
	if (!found)
		path->last = UINT64_MAX; /* from the beginning next time */
	/* Account for the steps in path->left, not in the limit of the whole file. */
	path->left -= work - dwarf->work < path->left ? work - dwarf->work : path->left;
	dwarf->work = work;
	return found;
}
