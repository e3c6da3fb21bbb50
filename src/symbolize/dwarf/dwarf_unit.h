/*
 * Units and entries of .debug_info. A unit describes the code that was compiled from one source
 * file. Its entries (DIEs) form a tree, which is written in preorder.
 */
#ifndef SYMBOLIZE_DWARF_DWARF_UNIT_H
#define SYMBOLIZE_DWARF_DWARF_UNIT_H

#include "symbolize/dwarf/dwarf.h"

/* The attributes that are read; all others are stepped over. */
enum die_attr {
	DIE_NAME,
	DIE_LINKAGE_NAME,
	DIE_ORIGIN, /* abstract_origin or specification: where the rest is said */
	DIE_LOW_PC,
	DIE_HIGH_PC,
	DIE_RANGES,
	DIE_CALL_FILE,
	DIE_CALL_LINE,
	DIE_STMT_LIST,
	DIE_COMP_DIR,
	DIE_STR_BASE,
	DIE_ADDR_BASE,
	DIE_RANGES_BASE, /* in version 4: of the ranges in the split unit, not of its own */
	DIE_DWO_NAME,    /* of a skeleton: the file that has the rest of it */
	DIE_LANGUAGE,    /* of a unit */
	DIE_DWO_ID,      /* what both have in common, in version 4 */
	NR_DIE_ATTRS
};

/*
 * The value of an attribute as it is in the file. For a string that is written in place it is the
 * offset of the string in .debug_info.
 */
struct dwarf_attr {
	uint16_t form; /* 0: not there */
	uint64_t value;
};

struct dwarf_die {
	uint64_t offset; /* in .debug_info */
	uint16_t tag;    /* 0: the end of a list of children */
	bool has_children;
	struct dwarf_attr attrs[NR_DIE_ATTRS];
};

struct dwarf_unit {
	struct dwarf *dwarf;
	struct dwarf_abbrevs *abbrevs;
	uint64_t offset, first, end; /* in .debug_info: header, first entry, next unit */
	uint8_t version, address_size, offset_size;
	uint64_t dwo_id; /* of a skeleton and its split unit the same; 0: neither, or not known */
	uint64_t str_base, addr_base, ranges_base; /* where its parts of tables begin */
	uint64_t low_pc;                           /* ranges are relative to it */
	struct dwarf_die root;
};

/*
 * Reads the length at the beginning of a unit or table, in 4 bytes or 12, and ends the cursor where
 * the unit or table ends. offset_size (may be NULL) is the size of offsets in it. Returns false if
 * the length does not fit.
 */
bool dwarf_length(struct cursor *cursor, uint8_t *offset_size);

/* 0; -EBADMSG: it makes no sense or is of an unknown type; -ENOMEM. */
int dwarf_unit_open(struct dwarf_unit *unit, struct dwarf *dwarf, uint64_t offset);
void dwarf_unit_close(struct dwarf_unit *unit);

/*
 * Returns a cursor from an offset in .debug_info to the end of the unit. It is bad if the offset is
 * not in the unit.
 */
struct cursor dwarf_unit_cursor(const struct dwarf_unit *unit, uint64_t offset);

/* Reads the entry at the cursor, and leaves the cursor behind it. False: the end, or damage. */
bool dwarf_die_read(const struct dwarf_unit *unit, struct cursor *cursor, struct dwarf_die *die);

/* NULL: not there, or not a string. */
const char *dwarf_die_string(const struct dwarf_unit *unit, const struct dwarf_die *die,
                             enum die_attr attr);

/*
 * Finds the entry that DIE_ORIGIN refers to, which has the rest of the description: its file and
 * offset. Returns false if there is none.
 */
bool dwarf_die_origin(const struct dwarf_unit *unit, const struct dwarf_die *die,
                      struct dwarf **dwarf, uint64_t *offset);

/*
 * Steps over a string and the NUL behind it. Long strings take steps: strings may overlap, and
 * would be read again for each.
 */
void dwarf_string_pass(struct dwarf *dwarf, struct cursor *cursor);

/*
 * Reads an attribute in another table than .debug_info. Returns false if its form is not known
 * there.
 */
bool dwarf_form_read(const struct dwarf_unit *unit, struct cursor *cursor, uint16_t form,
                     uint64_t *value);
/* NULL: it is no string. in_place: what to return for a string written in place. */
const char *dwarf_form_string(const struct dwarf_unit *unit, struct dwarf_attr attr,
                              const char *in_place);

/* An address, or the number of one in a table. */
bool dwarf_address(const struct dwarf_unit *unit, struct dwarf_attr attr, uint64_t *addr);

/* Called with each range of addresses [lo, hi), lo < hi. False ends it. */
typedef bool dwarf_range_fn(void *arg, uint64_t lo, uint64_t hi);
void dwarf_die_ranges(const struct dwarf_unit *unit, const struct dwarf_die *die,
                      dwarf_range_fn *fn, void *arg);
/* Finds the start of the first range, which may be empty. Returns false if there is no range. */
bool dwarf_die_begin(const struct dwarf_unit *unit, const struct dwarf_die *die, uint64_t *addr);

/*
 * Tells whether the linker dropped the code that begins there. Its debug information stays, with 0
 * or one of the highest addresses in place of the code's own. Addresses inside of the function may
 * be written as offsets from there, which can point into other code, so only the start is tested.
 * In programs and libraries no code begins at 0, where the header of the file is; files without a
 * header cannot be run.
 */
static inline bool dwarf_is_left_out(uint64_t begin)
{
	const uint64_t header = 64;

	return begin < header || begin >= -header;
}

/* Releases a table from dwarf_abbrevs_get(). NULL is allowed. */
void dwarf_abbrevs_put(struct dwarf_abbrevs *abbrevs);

#endif
