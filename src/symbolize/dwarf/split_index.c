#include "symbolize/dwarf/split_index.h"

#define NR_COLUMNS 8 /* identifiers of sections, from 1 on */

struct split_index {
	uint16_t version;
	uint32_t nr_columns, nr_units, nr_slots;
	struct cursor ids, rows;   /* of the slots */
	struct cursor section_ids; /* of the columns */
	struct cursor offsets, sizes;
};

static struct cursor part_take(struct cursor *cursor, uint64_t nr, uint64_t size)
{
	struct cursor part = *cursor;
	const uint8_t *at;

	if (__builtin_mul_overflow(nr, size, &size))
		size = UINT64_MAX;
	at = cursor_take(cursor, size);
	if (at)
		part.end = at + size;
	else
		cursor_fail(&part);
	return part;
}

/* Versions 2 (before DWARF 5) and 5. */
static bool index_open(struct split_index *index, const struct dwarf_bytes *bytes)
{
	struct cursor cursor = {.at = bytes->data, .end = bytes->data + bytes->size};
	uint64_t cells;

	index->version = (uint16_t)cursor_uint(&cursor, 2);
	cursor_uint(&cursor, 2);
	index->nr_columns = (uint32_t)cursor_uint(&cursor, 4);
	index->nr_units = (uint32_t)cursor_uint(&cursor, 4);
	index->nr_slots = (uint32_t)cursor_uint(&cursor, 4);
	if ((index->version != 2 && index->version != 5) || index->nr_columns > NR_COLUMNS ||
	    !index->nr_slots || (index->nr_slots & (index->nr_slots - 1)))
		return false;
	cells = (uint64_t)index->nr_columns * index->nr_units;
	index->ids = part_take(&cursor, index->nr_slots, 8);
	index->rows = part_take(&cursor, index->nr_slots, 4);
	index->section_ids = part_take(&cursor, index->nr_columns, 4);
	index->offsets = part_take(&cursor, cells, 4);
	index->sizes = part_take(&cursor, cells, 4);
	return !cursor.bad;
}

static uint64_t number_at(struct cursor part, uint64_t at, size_t size)
{
	cursor_take(&part, at * size);
	return cursor_uint(&part, size);
}

/* The number of a unit's row, from 1; 0: it has none. */
static uint32_t row_find(const struct split_index *index, uint64_t dwo_id)
{
	const uint64_t mask = index->nr_slots - 1, step = (dwo_id >> 32 & mask) | 1;
	uint64_t at = dwo_id & mask, tries;
	uint32_t row;

	for (tries = 0; tries < index->nr_slots; tries++, at = (at + step) & mask) {
		row = (uint32_t)number_at(index->rows, at, 4);
		if (!row || row > index->nr_units)
			return 0;
		if (number_at(index->ids, at, 8) == dwo_id)
			return row;
	}
	return 0;
}

/* Identifiers that both versions have mean the same section in both. */
static unsigned section_of_id(uint16_t version, uint64_t id)
{
	switch (id) {
	case 1:
		return DWARF_INFO;
	case 3:
		return DWARF_ABBREV;
	case 6:
		return DWARF_STR_OFFSETS;
	case 8:
		return version == 5 ? DWARF_RNGLISTS : NR_DWARF_SECTIONS;
	default:
		return NR_DWARF_SECTIONS;
	}
}

static bool part_narrow(struct dwarf_bytes *bytes, uint64_t offset, uint64_t size)
{
	if (offset > bytes->size || size > bytes->size - offset)
		return false;
	*bytes = (struct dwarf_bytes){bytes->data + offset, (size_t)size};
	return true;
}

bool split_index_narrow(const struct dwarf_bytes *bytes, uint64_t dwo_id,
                        struct dwarf_bytes sections[NR_DWARF_SECTIONS])
{
	struct split_index index;
	uint64_t cell;
	uint32_t row, column;
	unsigned section;

	if (!index_open(&index, bytes))
		return false;
	row = row_find(&index, dwo_id);
	if (!row)
		return false;
	for (column = 0; column < index.nr_columns; column++) {
		section = section_of_id(index.version, number_at(index.section_ids, column, 4));
		cell = (uint64_t)(row - 1) * index.nr_columns + column;
		if (section < NR_DWARF_SECTIONS &&
		    !part_narrow(&sections[section], number_at(index.offsets, cell, 4),
		                 number_at(index.sizes, cell, 4)))
			return false;
	}
	return true;
}
