#include "symbolize/dwarf/dwarf_unit.h"

#include <dwarf.h>

/* A list on its way to be told. */
struct ranges {
	const struct dwarf_unit *unit;
	struct cursor cursor;
	uint64_t base; /* what offsets are added to */
	bool empty;    /* tells those, too */
	dwarf_range_fn *fn;
	void *arg;
};

static bool range_tell(const struct ranges *ranges, uint64_t lo, uint64_t hi)
{
	if (lo >= hi && !ranges->empty)
		return true;
	return dwarf_step(ranges->unit->dwarf, 1) && ranges->fn(ranges->arg, lo, hi);
}

/* Up to version 4: pairs of addresses. The highest address says that the next one is the base. */
static void pairs_tell(struct ranges *ranges)
{
	const size_t size = ranges->unit->address_size;
	const uint64_t highest = size == 8 ? UINT64_MAX : UINT32_MAX;
	uint64_t lo, hi;

	for (;;) {
		lo = cursor_uint(&ranges->cursor, size);
		hi = cursor_uint(&ranges->cursor, size);
		if (ranges->cursor.bad || (!lo && !hi) || !dwarf_step(ranges->unit->dwarf, 1))
			return;
		if (lo == highest)
			ranges->base = hi;
		else if (!range_tell(ranges, ranges->base + lo, ranges->base + hi))
			return;
	}
}

static uint64_t addr_indexed(struct ranges *ranges)
{
	const struct dwarf_attr attr = {DW_FORM_addrx, cursor_uleb(&ranges->cursor)};
	uint64_t addr;

	if (dwarf_address(ranges->unit, attr, &addr))
		return addr;
	cursor_fail(&ranges->cursor);
	return 0;
}

/* An entry of a list of version 5 that is no range. */
static bool base_take(struct ranges *ranges, uint64_t type)
{
	if (type == DW_RLE_base_addressx)
		ranges->base = addr_indexed(ranges);
	else if (type == DW_RLE_base_address)
		ranges->base = cursor_uint(&ranges->cursor, ranges->unit->address_size);
	else
		return false;
	return true;
}

/* One that is. False: it is the end. */
static bool range_take(struct ranges *ranges, uint64_t type)
{
	const size_t size = ranges->unit->address_size;
	struct cursor *cursor = &ranges->cursor;
	uint64_t lo, hi;

	switch (type) {
	case DW_RLE_startx_endx:
		lo = addr_indexed(ranges);
		hi = addr_indexed(ranges);
		break;
	case DW_RLE_startx_length:
		lo = addr_indexed(ranges);
		hi = lo + cursor_uleb(cursor);
		break;
	case DW_RLE_offset_pair:
		lo = ranges->base + cursor_uleb(cursor);
		hi = ranges->base + cursor_uleb(cursor);
		break;
	case DW_RLE_start_end:
		lo = cursor_uint(cursor, size);
		hi = cursor_uint(cursor, size);
		break;
	case DW_RLE_start_length:
		lo = cursor_uint(cursor, size);
		hi = lo + cursor_uleb(cursor);
		break;
	default: /* the end of the list, too */
		return false;
	}
	return !cursor->bad && range_tell(ranges, lo, hi);
}

/* False: the end. */
static bool entry_tell(struct ranges *ranges)
{
	const uint64_t type = cursor_uint(&ranges->cursor, 1);

	return dwarf_step(ranges->unit->dwarf, 1) &&
	       (base_take(ranges, type) ? !ranges->cursor.bad : range_take(ranges, type));
}

/* The number of a list stands for an offset that a table has, from the table's beginning. */
static bool list_find(struct ranges *ranges, const struct dwarf_attr *attr)
{
	const struct dwarf_unit *unit = ranges->unit;
	uint64_t at;

	if (attr->form != DW_FORM_rnglistx) {
		ranges->cursor = dwarf_cursor(unit->dwarf, DWARF_RNGLISTS, attr->value);
		return !ranges->cursor.bad;
	}
	if (__builtin_mul_overflow(attr->value, unit->offset_size, &at) ||
	    __builtin_add_overflow(at, unit->ranges_base, &at))
		return false;
	ranges->cursor = dwarf_cursor(unit->dwarf, DWARF_RNGLISTS, at);
	at = cursor_uint(&ranges->cursor, unit->offset_size);
	if (ranges->cursor.bad || __builtin_add_overflow(at, unit->ranges_base, &at))
		return false;
	ranges->cursor = dwarf_cursor(unit->dwarf, DWARF_RNGLISTS, at);
	return !ranges->cursor.bad;
}

static void list_tell(struct ranges *ranges, const struct dwarf_attr *attr)
{
	const struct dwarf_unit *unit = ranges->unit;
	uint64_t at;

	if (unit->version < 5) {
		if (__builtin_add_overflow(attr->value, unit->ranges_base, &at))
			return;
		ranges->cursor = dwarf_cursor(unit->dwarf, DWARF_RANGES, at);
		pairs_tell(ranges);
	} else if (list_find(ranges, attr)) {
		while (entry_tell(ranges))
			continue;
	}
}

static void ranges_tell(struct ranges *ranges, const struct dwarf_die *die)
{
	const struct dwarf_attr *high = &die->attrs[DIE_HIGH_PC];
	uint64_t lo, hi;

	if (die->attrs[DIE_RANGES].form) {
		list_tell(ranges, &die->attrs[DIE_RANGES]);
		return;
	}
	if (!high->form || !dwarf_address(ranges->unit, die->attrs[DIE_LOW_PC], &lo))
		return;
	if (!dwarf_address(ranges->unit, *high, &hi))
		hi = lo + high->value;
	range_tell(ranges, lo, hi);
}

void dwarf_die_ranges(const struct dwarf_unit *unit, const struct dwarf_die *die,
                      dwarf_range_fn *fn, void *arg)
{
	struct ranges ranges = {.unit = unit, .base = unit->low_pc, .fn = fn, .arg = arg};

	ranges_tell(&ranges, die);
}

struct begin {
	uint64_t addr;
	bool found;
};

static bool begin_note(void *arg, uint64_t lo, uint64_t hi)
{
	(void)hi;
	*(struct begin *)arg = (struct begin){lo, true};
	return false;
}

bool dwarf_die_begin(const struct dwarf_unit *unit, const struct dwarf_die *die, uint64_t *addr)
{
	struct begin begin = {0};
	struct ranges ranges = {
		.unit = unit, .base = unit->low_pc, .empty = true, .fn = begin_note, .arg = &begin};

	ranges_tell(&ranges, die);
	*addr = begin.addr;
	return begin.found;
}
