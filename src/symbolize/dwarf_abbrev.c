#include "symbolize/dwarf_abbrev.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define MAX_SPECS (1u << 20) /* of one table; big programs have some 1,000 */

enum form_size dwarf_form_size(uint64_t form)
{
	static const uint8_t sizes[] = {
		[0] = FORM_UNKNOWN,
		[DW_FORM_addr] = FORM_ADDRESS,
		[2] = FORM_UNKNOWN,
		[DW_FORM_block2] = FORM_BLOCK2,
		[DW_FORM_block4] = FORM_BLOCK4,
		[DW_FORM_data2] = 2,
		[DW_FORM_data4] = 4,
		[DW_FORM_data8] = 8,
		[DW_FORM_string] = FORM_STRING,
		[DW_FORM_block] = FORM_BLOCK,
		[DW_FORM_block1] = FORM_BLOCK1,
		[DW_FORM_data1] = 1,
		[DW_FORM_flag] = 1,
		[DW_FORM_sdata] = FORM_LEB,
		[DW_FORM_strp] = FORM_OFFSET,
		[DW_FORM_udata] = FORM_LEB,
		[DW_FORM_ref_addr] = FORM_REF_ADDR,
		[DW_FORM_ref1] = 1,
		[DW_FORM_ref2] = 2,
		[DW_FORM_ref4] = 4,
		[DW_FORM_ref8] = 8,
		[DW_FORM_ref_udata] = FORM_LEB,
		[DW_FORM_indirect] = FORM_INDIRECT,
		[DW_FORM_sec_offset] = FORM_OFFSET,
		[DW_FORM_exprloc] = FORM_BLOCK,
		[DW_FORM_flag_present] = 0,
		[DW_FORM_strx] = FORM_LEB,
		[DW_FORM_addrx] = FORM_LEB,
		[DW_FORM_ref_sup4] = 4,
		[DW_FORM_strp_sup] = FORM_OFFSET,
		[DW_FORM_data16] = 16,
		[DW_FORM_line_strp] = FORM_OFFSET,
		[DW_FORM_ref_sig8] = 8,
		[DW_FORM_implicit_const] = 0,
		[DW_FORM_loclistx] = FORM_LEB,
		[DW_FORM_rnglistx] = FORM_LEB,
		[DW_FORM_ref_sup8] = 8,
		[DW_FORM_strx1] = 1,
		[DW_FORM_strx2] = 2,
		[DW_FORM_strx3] = 3,
		[DW_FORM_strx4] = 4,
		[DW_FORM_addrx1] = 1,
		[DW_FORM_addrx2] = 2,
		[DW_FORM_addrx3] = 3,
		[DW_FORM_addrx4] = 4,
	};

	if (form < sizeof(sizes))
		return sizes[form];
	switch (form) {
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return FORM_LEB;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return FORM_OFFSET;
	default:
		return FORM_UNKNOWN;
	}
}

static uint8_t attr_find(uint64_t name)
{
	switch (name) {
	case DW_AT_name:
		return DIE_NAME;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		return DIE_LINKAGE_NAME;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		return DIE_ORIGIN;
	case DW_AT_low_pc:
		return DIE_LOW_PC;
	case DW_AT_high_pc:
		return DIE_HIGH_PC;
	case DW_AT_ranges:
		return DIE_RANGES;
	case DW_AT_call_file:
		return DIE_CALL_FILE;
	case DW_AT_call_line:
		return DIE_CALL_LINE;
	case DW_AT_stmt_list:
		return DIE_STMT_LIST;
	case DW_AT_comp_dir:
		return DIE_COMP_DIR;
	case DW_AT_str_offsets_base:
		return DIE_STR_BASE;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		return DIE_ADDR_BASE;
	case DW_AT_rnglists_base:
	case DW_AT_GNU_ranges_base:
		return DIE_RANGES_BASE;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		return DIE_DWO_NAME;
	case DW_AT_GNU_dwo_id:
		return DIE_DWO_ID;
	default:
		return NR_DIE_ATTRS;
	}
}

static int spec_add(struct dwarf_abbrevs *abbrevs, const struct dwarf_spec *spec)
{
	size_t room = abbrevs->specs_room ? 2 * abbrevs->specs_room : 512;
	struct dwarf_spec *specs;

	if (abbrevs->nr_specs == MAX_SPECS)
		return -EBADMSG;
	if (abbrevs->nr_specs == abbrevs->specs_room) {
		specs = reallocarray(abbrevs->specs, room, sizeof(*specs));
		if (!specs)
			return -ENOMEM;
		abbrevs->specs = specs;
		abbrevs->specs_room = room;
	}
	abbrevs->specs[abbrevs->nr_specs++] = *spec;
	return 0;
}

static int abbrev_add(struct dwarf_abbrevs *abbrevs, const struct dwarf_abbrev *abbrev)
{
	size_t room = abbrevs->room ? 2 * abbrevs->room : 128;
	struct dwarf_abbrev *more;

	if (abbrevs->nr == MAX_SPECS)
		return -EBADMSG;
	if (abbrevs->nr == abbrevs->room) {
		more = reallocarray(abbrevs->abbrevs, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		abbrevs->abbrevs = more;
		abbrevs->room = room;
	}
	abbrevs->abbrevs[abbrevs->nr++] = *abbrev;
	return 0;
}

static void size_add(struct dwarf_abbrev *abbrev, enum form_size size)
{
	if (size < FORM_ADDRESS)
		abbrev->bytes += size;
	else if (size == FORM_ADDRESS)
		abbrev->addresses++;
	else if (size == FORM_OFFSET)
		abbrev->offsets++;
	else
		abbrev->fixed = false;
}

/* Pairs of attribute and form, up to a pair of zeroes. 0, -EBADMSG, -ENOMEM. */
static int specs_read(struct dwarf *dwarf, struct dwarf_abbrevs *abbrevs, struct cursor *cursor,
                      struct dwarf_abbrev *abbrev)
{
	struct dwarf_spec spec;
	uint64_t name, form;
	int err;

	abbrev->first = (uint32_t)abbrevs->nr_specs;
	for (;;) {
		name = cursor_uleb(cursor);
		form = cursor_uleb(cursor);
		if (cursor->bad || !dwarf_step(dwarf, 1))
			return -EBADMSG;
		if (!name && !form)
			break;
		if (dwarf_form_size(form) == FORM_UNKNOWN)
			return -EBADMSG;
		spec = (struct dwarf_spec){
			.form = (uint16_t)form,
			.attr = attr_find(name),
			.size = (uint8_t)dwarf_form_size(form),
		};
		abbrev->has_code |= spec.attr == DIE_LOW_PC || spec.attr == DIE_RANGES;
		if (form == DW_FORM_implicit_const)
			spec.implicit = (int64_t)cursor_sleb(cursor);
		size_add(abbrev, dwarf_form_size(form));
		err = spec_add(abbrevs, &spec);
		if (err)
			return err;
	}
	abbrev->nr = (uint32_t)abbrevs->nr_specs - abbrev->first;
	return 0;
}

static int code_compare(const void *x, const void *y)
{
	const struct dwarf_abbrev *a = x, *b = y;

	return a->code < b->code ? -1 : a->code > b->code;
}

static int abbrevs_read(struct dwarf *dwarf, struct dwarf_abbrevs *abbrevs)
{
	struct cursor cursor = dwarf_cursor(dwarf, DWARF_ABBREV, abbrevs->offset);
	struct dwarf_abbrev abbrev;
	bool ordered = true;
	uint64_t tag, last = 0;
	int err;

	for (;;) {
		abbrev = (struct dwarf_abbrev){.code = cursor_uleb(&cursor), .fixed = true};
		if (!abbrev.code)
			break;
		ordered &= abbrev.code > last;
		last = abbrev.code;
		tag = cursor_uleb(&cursor);
		abbrev.tag = tag <= UINT16_MAX ? (uint16_t)tag : UINT16_MAX;
		abbrev.has_children = cursor_uint(&cursor, 1) != 0;
		err = specs_read(dwarf, abbrevs, &cursor, &abbrev);
		if (!err)
			err = abbrev_add(abbrevs, &abbrev);
		if (err)
			return err;
	}
	if (!ordered)
		qsort(abbrevs->abbrevs, abbrevs->nr, sizeof(*abbrevs->abbrevs), code_compare);
	return cursor.bad ? -EBADMSG : 0;
}

struct dwarf_abbrevs *dwarf_abbrevs_get(struct dwarf *dwarf, uint64_t offset)
{
	struct dwarf_abbrevs *abbrevs = dwarf->recent;
	int err;

	if (abbrevs && abbrevs->offset == offset) {
		abbrevs->refs++;
		return abbrevs;
	}
	abbrevs = calloc(1, sizeof(*abbrevs));
	if (!abbrevs)
		return NULL;
	abbrevs->offset = offset;
	abbrevs->refs = 1;
	err = abbrevs_read(dwarf, abbrevs);
	if (err) {
		dwarf_abbrevs_put(abbrevs);
		errno = -err;
		return NULL;
	}
	dwarf_abbrevs_put(dwarf->recent);
	dwarf->recent = abbrevs;
	abbrevs->refs++;
	return abbrevs;
}

void dwarf_abbrevs_put(struct dwarf_abbrevs *abbrevs)
{
	if (!abbrevs || --abbrevs->refs)
		return;
	free(abbrevs->abbrevs);
	free(abbrevs->specs);
	free(abbrevs);
}

const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	const struct dwarf_abbrev key = {.code = code};

	if (code - 1 < abbrevs->nr && abbrevs->abbrevs[code - 1].code == code)
		return &abbrevs->abbrevs[code - 1];
	if (!abbrevs->nr)
		return NULL;
	return bsearch(&key, abbrevs->abbrevs, abbrevs->nr, sizeof(key), code_compare);
}
