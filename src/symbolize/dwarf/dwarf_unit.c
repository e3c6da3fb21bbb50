#include "symbolize/dwarf/dwarf_abbrev.h"

#include <dwarf.h>
#include <errno.h>

/* -- forms ------------------------------------------------------------------------------------- */

/* Steps over a block whose length takes size bytes; 0: it is a LEB128. */
static void block_skip(struct cursor *cursor, size_t size)
{
	cursor_take(cursor, size ? cursor_uint(cursor, size) : cursor_uleb(cursor));
}

#define LETTERS 64 /* that are passed in the time of a step */

void dwarf_string_pass(struct dwarf *dwarf, struct cursor *cursor)
{
	const size_t left = cursor_left(cursor);
	const size_t most = dwarf->work < left / LETTERS ? dwarf->work * LETTERS : left;
	const size_t size = strnlen((const char *)cursor->at, most);

	dwarf_step(dwarf, size / LETTERS);
	if (size < most)
		cursor->at += size + 1;
	else
		cursor_fail(cursor);
}

/* Blocks and strings are stepped over; their value is not returned. */
bool dwarf_form_read(const struct dwarf_unit *unit, struct cursor *cursor, uint16_t form,
                     uint64_t *value)
{
	enum form_size size = dwarf_form_size(form);

	*value = 0;
	switch (size) {
	case FORM_ADDRESS:
		*value = cursor_uint(cursor, unit->address_size);
		break;
	case FORM_OFFSET:
		*value = cursor_uint(cursor, unit->offset_size);
		break;
	case FORM_REF_ADDR:
		*value = cursor_uint(cursor,
		                     unit->version == 2 ? unit->address_size : unit->offset_size);
		break;
	case FORM_LEB:
		*value = cursor_leb(cursor, form == DW_FORM_sdata);
		break;
	case FORM_STRING:
		dwarf_string_pass(unit->dwarf, cursor);
		break;
	case FORM_BLOCK:
		block_skip(cursor, 0);
		break;
	case FORM_BLOCK1:
		block_skip(cursor, 1);
		break;
	case FORM_BLOCK2:
		block_skip(cursor, 2);
		break;
	case FORM_BLOCK4:
		block_skip(cursor, 4);
		break;
	case FORM_INDIRECT:
	case FORM_UNKNOWN:
		cursor_fail(cursor);
		break;
	default:
		if (size <= 8)
			*value = cursor_uint(cursor, size);
		else
			cursor_take(cursor, size);
	}
	return !cursor->bad;
}

/* -- entries ----------------------------------------------------------------------------------- */

struct cursor dwarf_unit_cursor(const struct dwarf_unit *unit, uint64_t offset)
{
	struct cursor cursor = dwarf_cursor(unit->dwarf, DWARF_INFO, offset);

	if (!cursor.bad && unit->end >= offset)
		cursor.end = unit->dwarf->sections[DWARF_INFO].data + unit->end;
	else
		cursor_fail(&cursor);
	return cursor;
}

static uint64_t cursor_offset(const struct dwarf_unit *unit, const struct cursor *cursor)
{
	return (uint64_t)(cursor->at - unit->dwarf->sections[DWARF_INFO].data);
}

/* A number of at most 8 bytes, of a size that is not known before. */
static uint64_t number_read(struct cursor *cursor, unsigned size)
{
	uint64_t value;

	if (!size || cursor_left(cursor) < sizeof(value))
		return cursor_uint(cursor, size);
	memcpy(&value, cursor->at, sizeof(value));
	cursor->at += size;
	return value & UINT64_MAX >> (64 - 8 * size);
}

static uint16_t form_read(struct cursor *cursor)
{
	uint64_t form = cursor_uleb(cursor);

	if (form != DW_FORM_implicit_const && form <= UINT16_MAX)
		return (uint16_t)form;
	cursor_fail(cursor);
	return 0;
}

void dwarf_attr_read(const struct dwarf_unit *unit, struct cursor *cursor,
                     const struct dwarf_spec *spec, struct dwarf_attr *attr)
{
	unsigned size = spec->size;

	attr->form = spec->form;
	if (size <= 8) {
		attr->value = number_read(cursor, size) + (uint64_t)spec->implicit;
		return;
	}
	if (size == FORM_INDIRECT) {
		attr->form = form_read(cursor);
		size = dwarf_form_size(attr->form);
	}
	if (size == FORM_STRING) {
		attr->value = cursor_offset(unit, cursor);
		dwarf_string_pass(unit->dwarf, cursor);
	} else {
		dwarf_form_read(unit, cursor, attr->form, &attr->value);
	}
}

static void attrs_read(const struct dwarf_unit *unit, struct cursor *cursor,
                       const struct dwarf_plan *plan, struct dwarf_die *die)
{
	const struct dwarf_spec *spec = unit->abbrevs->specs + plan->first;
	const struct dwarf_spec *end = spec + plan->nr;
	struct dwarf_attr other;

	memset(die->attrs, 0, sizeof(die->attrs));
	for (; spec < end; spec++) {
		cursor_take(cursor, spec->skip);
		dwarf_attr_read(unit, cursor, spec,
		                spec->attr < NR_DIE_ATTRS ? &die->attrs[spec->attr] : &other);
	}
	cursor_take(cursor, plan->skip);
}

bool dwarf_die_read(const struct dwarf_unit *unit, struct cursor *cursor, struct dwarf_die *die)
{
	const struct dwarf_abbrev *abbrev;
	uint64_t code;

	die->offset = cursor_offset(unit, cursor);
	die->tag = 0;
	die->has_children = false;
	code = cursor_uleb(cursor);
	if (!code)
		return !cursor->bad && dwarf_step(unit->dwarf, 1);
	abbrev = dwarf_abbrev_find(unit->abbrevs, code);
	if (!abbrev)
		return false;
	die->tag = abbrev->tag;
	die->has_children = abbrev->has_children;
	attrs_read(unit, cursor, &abbrev->read, die);
	return !cursor->bad && dwarf_step(unit->dwarf, 1 + abbrev->read.nr);
}

/* -- values ------------------------------------------------------------------------------------ */

/* An entry of a table of numbers of equal size. */
static bool table_read(const struct dwarf_unit *unit, enum dwarf_section section, uint64_t base,
                       uint64_t index, size_t size, uint64_t *value)
{
	struct cursor cursor;
	uint64_t at;

	if (__builtin_mul_overflow(index, size, &at) || __builtin_add_overflow(at, base, &at))
		return false;
	cursor = dwarf_cursor(unit->dwarf, section, at);
	*value = cursor_uint(&cursor, size);
	return !cursor.bad;
}

const char *dwarf_form_string(const struct dwarf_unit *unit, struct dwarf_attr attr,
                              const char *in_place)
{
	const struct dwarf *alt = unit->dwarf->alt;
	uint64_t offset;

	switch (attr.form) {
	case DW_FORM_string:
		return in_place;
	case DW_FORM_strp:
		return dwarf_string(unit->dwarf, DWARF_STR, attr.value);
	case DW_FORM_line_strp:
		return dwarf_string(unit->dwarf, DWARF_LINE_STR, attr.value);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return alt ? dwarf_string(alt, DWARF_STR, attr.value) : NULL;
	case DW_FORM_GNU_str_index:
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		if (!table_read(unit, DWARF_STR_OFFSETS, unit->str_base, attr.value,
		                unit->offset_size, &offset))
			return NULL;
		return dwarf_string(unit->dwarf, DWARF_STR, offset);
	default:
		return NULL;
	}
}

const char *dwarf_die_string(const struct dwarf_unit *unit, const struct dwarf_die *die,
                             enum die_attr attr)
{
	const uint8_t *info = unit->dwarf->sections[DWARF_INFO].data;

	return dwarf_form_string(unit, die->attrs[attr],
	                         (const char *)info + die->attrs[attr].value);
}

bool dwarf_die_origin(const struct dwarf_unit *unit, const struct dwarf_die *die,
                      struct dwarf **dwarf, uint64_t *offset)
{
	*dwarf = unit->dwarf;
	*offset = die->attrs[DIE_ORIGIN].value;
	switch (die->attrs[DIE_ORIGIN].form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		return !__builtin_add_overflow(*offset, unit->offset, offset);
	case DW_FORM_ref_addr:
		return true;
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		*dwarf = unit->dwarf->alt;
		return *dwarf != NULL;
	default:
		return false;
	}
}

bool dwarf_address(const struct dwarf_unit *unit, struct dwarf_attr attr, uint64_t *addr)
{
	*addr = attr.value;
	switch (attr.form) {
	case DW_FORM_addr:
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return table_read(unit, DWARF_ADDR, unit->addr_base, attr.value, unit->address_size,
		                  addr);
	default:
		return false;
	}
}

/* -- units ------------------------------------------------------------------------------------- */

bool dwarf_length(struct cursor *cursor, uint8_t *offset_size)
{
	uint64_t length = cursor_uint(cursor, 4);
	bool is_64 = length == UINT32_MAX;

	if (is_64)
		length = cursor_uint(cursor, 8);
	else if (length >= 0xfffffff0)
		cursor_fail(cursor);
	if (offset_size)
		*offset_size = is_64 ? 8 : 4;
	if (cursor->bad || length > cursor_left(cursor))
		return false;
	cursor->end = cursor->at + length;
	return true;
}

/* Reads the header fields that depend on the type of the unit. */
static void header_rest(struct dwarf_unit *unit, struct cursor *cursor, uint8_t type)
{
	switch (type) {
	case DW_UT_compile:
	case DW_UT_partial:
		break;
	case DW_UT_skeleton:
	case DW_UT_split_compile:
		unit->dwo_id = cursor_uint(cursor, 8);
		break;
	case DW_UT_type:
	case DW_UT_split_type:
		cursor_take(cursor, 8 + unit->offset_size);
		break;
	default:
		cursor_fail(cursor);
	}
}

static bool header_read(struct dwarf_unit *unit, struct cursor *cursor, uint64_t *abbrevs)
{
	uint8_t type = DW_UT_compile;

	if (!dwarf_length(cursor, &unit->offset_size))
		return false;
	unit->end = (uint64_t)(cursor->end - unit->dwarf->sections[DWARF_INFO].data);
	unit->version = (uint8_t)cursor_uint(cursor, 2);
	if (unit->version < 2 || unit->version > 5)
		return false;
	if (unit->version == 5) {
		type = (uint8_t)cursor_uint(cursor, 1);
		unit->address_size = (uint8_t)cursor_uint(cursor, 1);
	}
	*abbrevs = cursor_uint(cursor, unit->offset_size);
	if (unit->version < 5)
		unit->address_size = (uint8_t)cursor_uint(cursor, 1);
	header_rest(unit, cursor, type);
	unit->first = cursor_offset(unit, cursor);
	return !cursor->bad && (unit->address_size == 4 || unit->address_size == 8);
}

/* Where a unit does not say it, its part comes first in the table, behind the header. */
static void root_read(struct dwarf_unit *unit)
{
	const struct dwarf_attr *attrs = unit->root.attrs;
	uint64_t header = unit->version < 5 ? 0 : unit->offset_size == 4 ? 8 : 16;

	unit->str_base = attrs[DIE_STR_BASE].form ? attrs[DIE_STR_BASE].value : header;
	unit->addr_base = attrs[DIE_ADDR_BASE].form ? attrs[DIE_ADDR_BASE].value : header;
	if (unit->version >= 5)
		unit->ranges_base =
			attrs[DIE_RANGES_BASE].form ? attrs[DIE_RANGES_BASE].value : header + 4;
	else
		unit->dwo_id = attrs[DIE_DWO_ID].value;
	if (!dwarf_address(unit, attrs[DIE_LOW_PC], &unit->low_pc))
		unit->low_pc = 0;
}

int dwarf_unit_open(struct dwarf_unit *unit, struct dwarf *dwarf, uint64_t offset)
{
	struct cursor cursor = dwarf_cursor(dwarf, DWARF_INFO, offset);
	struct dwarf_sizes sizes;
	uint64_t abbrevs;

	*unit = (struct dwarf_unit){.dwarf = dwarf, .offset = offset};
	if (!header_read(unit, &cursor, &abbrevs))
		return -EBADMSG;
	sizes = (struct dwarf_sizes){
		.address = unit->address_size,
		.offset = unit->offset_size,
		.ref_addr = unit->version == 2 ? unit->address_size : unit->offset_size,
	};
	unit->abbrevs = dwarf_abbrevs_get(dwarf, abbrevs, &sizes);
	if (!unit->abbrevs)
		return -errno;
	if (dwarf_die_read(unit, &cursor, &unit->root)) {
		root_read(unit);
		return 0;
	}
	dwarf_unit_close(unit);
	return -EBADMSG;
}

void dwarf_unit_close(struct dwarf_unit *unit)
{
	dwarf_abbrevs_put(unit->abbrevs);
	unit->abbrevs = NULL;
}
