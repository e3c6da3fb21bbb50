/* Abbreviations: the shapes that entries come in. A table of them serves one or more units. */
#ifndef SYMBOLIZE_DWARF_ABBREV_H
#define SYMBOLIZE_DWARF_ABBREV_H

#include "symbolize/dwarf_unit.h"

struct dwarf_spec {
	uint16_t form;
	uint8_t attr;     /* enum die_attr; NR_DIE_ATTRS: not one of them */
	uint8_t size;     /* enum form_size */
	int64_t implicit; /* of DW_FORM_implicit_const: the value */
};

struct dwarf_abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children;
	bool has_code; /* its addresses are among the attributes */
	/* Where no attribute varies in size: all take bytes + addresses + offsets. */
	bool fixed;
	uint32_t bytes, addresses, offsets;
	uint32_t first, nr; /* attributes */
};

struct dwarf_abbrevs {
	unsigned refs;
	uint64_t offset;              /* in .debug_abbrev */
	struct dwarf_abbrev *abbrevs; /* by ascending code */
	struct dwarf_spec *specs;
	size_t nr, room, nr_specs, specs_room;
};

/* NULL with errno. */
struct dwarf_abbrevs *dwarf_abbrevs_get(struct dwarf *dwarf, uint64_t offset);

const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *abbrevs, uint64_t code);

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

#endif
