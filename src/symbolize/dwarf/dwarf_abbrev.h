/* Abbreviations: the shapes that entries come in. A table of them serves one or more units. */
#ifndef SYMBOLIZE_DWARF_DWARF_ABBREV_H
#define SYMBOLIZE_DWARF_DWARF_ABBREV_H

#include "symbolize/dwarf/dwarf_unit.h"

/* How long values of a form are. */
enum form_size {
	FORM_ADDRESS = 32, /* below: as many bytes */
	FORM_OFFSET,
	FORM_LEB,
	FORM_STRING,
	FORM_BLOCK, /* its length in a LEB128 */
	FORM_BLOCK1,
	FORM_BLOCK2,
	FORM_BLOCK4,
	FORM_REF_ADDR, /* an offset; in version 2 an address */
	FORM_INDIRECT,
	FORM_UNKNOWN,
};

enum form_size dwarf_form_size(uint64_t form);

/* An attribute, and the bytes before it that are stepped over. */
struct dwarf_spec {
	uint32_t skip;
	uint16_t form;
	uint8_t size;     /* enum form_size */
	uint8_t attr;     /* enum die_attr; NR_DIE_ATTRS: not one of them */
	int64_t implicit; /* of DW_FORM_implicit_const: the value */
};

/* What to do with the attributes of an entry, one after the other. */
struct dwarf_plan {
	uint32_t first, nr;
	uint32_t skip; /* bytes after the last one */
};

struct dwarf_abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children;
	bool has_code;    /* its addresses are among the attributes */
	bool is_function; /* or an inlined call, and not only declared */
	bool is_leaf;     /* no function is inside; the last 4 bytes say where the next entry is */
	struct dwarf_plan read; /* to what is in enum die_attr */
	struct dwarf_plan pass; /* to the end: over those of no fixed size */
};

/* Sizes that units have one by one. */
struct dwarf_sizes {
	uint8_t address, offset, ref_addr;
};

struct dwarf_abbrevs {
	unsigned refs;
	uint64_t offset; /* in .debug_abbrev */
	struct dwarf_sizes sizes;
	bool dense;                   /* codes are 1, 2, 3 ... */
	struct dwarf_abbrev *abbrevs; /* by ascending code */
	struct dwarf_spec *specs;
	size_t nr, nr_specs;
};

/* As units with these sizes read them; for dwarf_abbrevs_put(). NULL with errno. */
struct dwarf_abbrevs *dwarf_abbrevs_get(struct dwarf *dwarf, uint64_t offset,
                                        const struct dwarf_sizes *sizes);

/* For dwarf_abbrev_find(): where codes have gaps. */
const struct dwarf_abbrev *dwarf_abbrev_search(const struct dwarf_abbrevs *abbrevs, uint64_t code);

/* Reads an attribute, at the cursor. Damage leaves the cursor bad. */
void dwarf_attr_read(const struct dwarf_unit *unit, struct cursor *cursor,
                     const struct dwarf_spec *spec, struct dwarf_attr *attr);

/* NULL: there is none of this code. */
static inline const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *abbrevs,
                                                           uint64_t code)
{
	if (abbrevs->dense)
		return code - 1 < abbrevs->nr ? &abbrevs->abbrevs[code - 1] : NULL;
	return dwarf_abbrev_search(abbrevs, code);
}

#endif
