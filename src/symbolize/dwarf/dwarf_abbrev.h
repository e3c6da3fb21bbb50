/*
 * Abbreviations: each lists the attributes of a type of entry. A table of them serves one or more
 * units.
 */
#ifndef SYMBOLIZE_DWARF_DWARF_ABBREV_H
#define SYMBOLIZE_DWARF_DWARF_ABBREV_H

#include "symbolize/dwarf/dwarf_unit.h"

/* The size of a value of a form. */
enum form_size {
	FORM_ADDRESS = 32, /* smaller values are a number of bytes */
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

/* An attribute to read, and the number of bytes to skip before it. */
struct dwarf_spec {
	uint32_t skip;
	uint16_t form;
	uint8_t size;     /* enum form_size */
	uint8_t attr;     /* enum die_attr; NR_DIE_ATTRS: not one of them */
	int64_t implicit; /* of DW_FORM_implicit_const: the value */
};

/* The attributes of an entry that must be read one after the other. */
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
	struct dwarf_plan read; /* reads the attributes in enum die_attr */
	struct dwarf_plan pass; /* finds the end: only attributes of variable size */
};

/* Sizes that differ between units. */
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

/*
 * Returns the table of abbreviations at an offset, for units with these sizes. Release it with
 * dwarf_abbrevs_put(). Returns NULL with errno on failure.
 */
struct dwarf_abbrevs *dwarf_abbrevs_get(struct dwarf *dwarf, uint64_t offset,
                                        const struct dwarf_sizes *sizes);

/* Used by dwarf_abbrev_find() for tables whose codes have gaps. */
const struct dwarf_abbrev *dwarf_abbrev_search(const struct dwarf_abbrevs *abbrevs, uint64_t code);

/* Reads an attribute, at the cursor. Damage leaves the cursor bad. */
void dwarf_attr_read(const struct dwarf_unit *unit, struct cursor *cursor,
                     const struct dwarf_spec *spec, struct dwarf_attr *attr);

/* Returns NULL if there is no abbreviation with this code. */
static inline const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *abbrevs,
                                                           uint64_t code)
{
	if (abbrevs->dense)
		return code - 1 < abbrevs->nr ? &abbrevs->abbrevs[code - 1] : NULL;
	return dwarf_abbrev_search(abbrevs, code);
}

#endif
