#include "symbolize/dwarf/dwarf_abbrev.h"

#include "base/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	case DW_AT_language:
		return DIE_LANGUAGE;
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
	if (abbrevs->nr_specs == MAX_SPECS)
		return -EBADMSG;
	return ARRAY_ADD(abbrevs->specs, abbrevs->nr_specs, *spec);
}

static int abbrev_add(struct dwarf_abbrevs *abbrevs, const struct dwarf_abbrev *abbrev)
{
	if (abbrevs->nr == MAX_SPECS)
		return -EBADMSG;
	return ARRAY_ADD(abbrevs->abbrevs, abbrevs->nr, *abbrev);
}

/* The sizes of a table's units are known: what depends on them is as fixed as the rest. */
static uint8_t spec_size(const struct dwarf_sizes *sizes, uint64_t form)
{
	enum form_size size = dwarf_form_size(form);

	switch (size) {
	case FORM_ADDRESS:
		return sizes->address;
	case FORM_OFFSET:
		return sizes->offset;
	case FORM_REF_ADDR:
		return sizes->ref_addr;
	default:
		return (uint8_t)size;
	}
}

/*
 * Whether what is inside cannot have code: what is only declared has none, and calls that were not
 * inlined have only arguments.
 */
static bool tag_is_leaf(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
	case DW_TAG_array_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_GNU_template_parameter_pack:
	case DW_TAG_GNU_formal_parameter_pack:
		return true;
	default:
		return false;
	}
}

/* Properties of an entry that follow from its list of attributes. */
struct abbrev_facts {
	bool is_declared, has_sibling; /* the latter is the last one */
};

static void abbrev_judge(struct dwarf_abbrev *abbrev, const struct abbrev_facts *facts)
{
	bool is_declared = facts->is_declared && !abbrev->has_code;

	abbrev->is_function = abbrev->tag == DW_TAG_inlined_subroutine ||
	                      (abbrev->tag == DW_TAG_subprogram && !is_declared);
	abbrev->is_leaf = facts->has_sibling && !abbrev->is_function && tag_is_leaf(abbrev->tag);
}

/* Pairs of attribute and form, up to a pair of zeroes. 0, -EBADMSG, -ENOMEM. */
static int specs_read(struct dwarf *dwarf, struct dwarf_abbrevs *abbrevs, struct cursor *cursor,
                      struct dwarf_abbrev *abbrev)
{
	struct abbrev_facts facts = {0};
	struct dwarf_spec spec;
	uint64_t name, form;
	int err = 0;

	while (!err) {
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
			.size = spec_size(&abbrevs->sizes, form),
		};
		if (form == DW_FORM_implicit_const)
			spec.implicit = (int64_t)cursor_sleb(cursor);
		abbrev->has_code |= spec.attr == DIE_LOW_PC || spec.attr == DIE_RANGES;
		facts.is_declared |= name == DW_AT_declaration && form == DW_FORM_flag_present;
		facts.has_sibling = name == DW_AT_sibling && form == DW_FORM_ref4;
		err = spec_add(abbrevs, &spec);
	}
	abbrev_judge(abbrev, &facts);
	return err;
}

/*
 * Makes a plan from the attributes in [first, end). Attributes of fixed size that are not wanted
 * become bytes to skip.
 */
static int plan_make(struct dwarf_abbrevs *abbrevs, struct dwarf_plan *plan, size_t first,
                     size_t end, bool read)
{
	struct dwarf_spec spec;
	uint32_t skip = 0;
	int err = 0;

	plan->first = (uint32_t)abbrevs->nr_specs;
	for (; first < end && !err; first++) {
		spec = abbrevs->specs[first];
		if (spec.size < FORM_ADDRESS && !(read && spec.attr < NR_DIE_ATTRS)) {
			skip += spec.size;
			continue;
		}
		spec.skip = skip;
		skip = 0;
		err = spec_add(abbrevs, &spec);
	}
	plan->nr = (uint32_t)abbrevs->nr_specs - plan->first;
	plan->skip = skip;
	return err;
}

/*
 * Reads the attributes of an abbreviation and makes both plans. The list of all attributes is then
 * removed: only the plans stay in memory.
 */
static int attrs_read(struct dwarf *dwarf, struct dwarf_abbrevs *abbrevs, struct cursor *cursor,
                      struct dwarf_abbrev *abbrev)
{
	const size_t first = abbrevs->nr_specs;
	int err = specs_read(dwarf, abbrevs, cursor, abbrev);
	const size_t end = abbrevs->nr_specs, nr = end - first;

	if (!err)
		err = plan_make(abbrevs, &abbrev->read, first, end, true);
	if (!err)
		err = plan_make(abbrevs, &abbrev->pass, first, end, false);
	if (err || !nr)
		return err;
	abbrevs->nr_specs -= nr;
	abbrev->read.first -= (uint32_t)nr;
	abbrev->pass.first -= (uint32_t)nr;
	memmove(abbrevs->specs + first, abbrevs->specs + end,
	        (abbrevs->nr_specs - first) * sizeof(*abbrevs->specs));
	return 0;
}

static int code_compare(const void *x, const void *y)
{
	const struct dwarf_abbrev *a = x, *b = y;

	return ORDER(a->code, b->code);
}

static int abbrevs_read(struct dwarf *dwarf, struct dwarf_abbrevs *abbrevs)
{
	struct cursor cursor = dwarf_cursor(dwarf, DWARF_ABBREV, abbrevs->offset);
	struct dwarf_abbrev abbrev;
	bool ordered = true;
	uint64_t tag, last = 0;
	int err;

	for (;;) {
		abbrev = (struct dwarf_abbrev){.code = cursor_uleb(&cursor)};
		if (!abbrev.code)
			break;
		ordered &= abbrev.code > last;
		last = abbrev.code;
		tag = cursor_uleb(&cursor);
		abbrev.tag = tag <= UINT16_MAX ? (uint16_t)tag : UINT16_MAX;
		abbrev.has_children = cursor_uint(&cursor, 1) != 0;
		err = attrs_read(dwarf, abbrevs, &cursor, &abbrev);
		if (!err)
			err = abbrev_add(abbrevs, &abbrev);
		if (err)
			return err;
	}
	abbrevs->dense = ordered && last == abbrevs->nr;
	if (!ordered)
		ARRAY_SORT(abbrevs->abbrevs, abbrevs->nr, code_compare);
	return cursor.bad ? -EBADMSG : 0;
}

static bool abbrevs_fit(const struct dwarf_abbrevs *abbrevs, uint64_t offset,
                        const struct dwarf_sizes *sizes)
{
	return abbrevs && abbrevs->offset == offset &&
	       !memcmp(&abbrevs->sizes, sizes, sizeof(*sizes));
}

struct dwarf_abbrevs *dwarf_abbrevs_get(struct dwarf *dwarf, uint64_t offset,
                                        const struct dwarf_sizes *sizes)
{
	struct dwarf_abbrevs *abbrevs = dwarf->recent;
	int err;

	if (abbrevs_fit(abbrevs, offset, sizes)) {
		abbrevs->refs++;
		return abbrevs;
	}
	abbrevs = calloc(1, sizeof(*abbrevs));
	if (!abbrevs)
		return NULL;
	abbrevs->offset = offset;
	abbrevs->sizes = *sizes;
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

const struct dwarf_abbrev *dwarf_abbrev_search(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	const struct dwarf_abbrev key = {.code = code};

	return ARRAY_FIND(abbrevs->abbrevs, abbrevs->nr, &key, code_compare);
}
