/*
 * Units and entries of .debug_info: a unit is what came of one source file; its entries (DIEs)
 * describe it in a tree, written in the order of a walk that visits parents first.
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

/* A number as it is in the file; of a string written in place its offset in .debug_info. */
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
 * A length as it begins units and tables, in 4 bytes or 12, which ends the cursor where it says;
 * offset_size (may be NULL): of what follows. False: it does not fit.
 */
bool dwarf_length(struct cursor *cursor, uint8_t *offset_size);

/* 0; -EBADMSG: it makes no sense or is of an unknown kind; -ENOMEM. */
int dwarf_unit_open(struct dwarf_unit *unit, struct dwarf *dwarf, uint64_t offset);
void dwarf_unit_close(struct dwarf_unit *unit);

/* At an offset in .debug_info, up to the end of the unit; bad where that is no place in it. */
struct cursor dwarf_unit_cursor(const struct dwarf_unit *unit, uint64_t offset);

/* Reads the entry at the cursor, and leaves the cursor behind it. False: the end, or damage. */
bool dwarf_die_read(const struct dwarf_unit *unit, struct cursor *cursor, struct dwarf_die *die);

/* NULL: not there, or not a string. */
const char *dwarf_die_string(const struct dwarf_unit *unit, const struct dwarf_die *die,
                             enum die_attr attr);

/* The entry where the rest is said, DIE_ORIGIN: its file and offset. False: nowhere. */
bool dwarf_die_origin(const struct dwarf_unit *unit, const struct dwarf_die *die,
                      struct dwarf **dwarf, uint64_t *offset);

/*
 * Steps over a string and the NUL behind it. Long ones take steps: they may be in each other, and
 * would be read again for each.
 */
void dwarf_string_pass(struct dwarf *dwarf, struct cursor *cursor);

/* Of an attribute in another table than .debug_info. False: its form is not known there. */
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
/* Where the first one begins, which may be empty. False: it has none. */
bool dwarf_die_begin(const struct dwarf_unit *unit, const struct dwarf_die *die, uint64_t *addr);

/*
 * Whether the linker left out the code that begins there. Its debug information stays, with 0 or
 * one of the highest addresses in place of its own, and what is inside of it may be told by offsets
 * from there, which can lead to other code: only where it begins tells. In programs and libraries
 * no code begins at 0, as the header of the file is there; files without one cannot be run.
 */
static inline bool dwarf_is_left_out(uint64_t begin)
{
	const uint64_t header = 64;

	return begin < header || begin >= -header;
}

/* Gives back what dwarf_abbrevs_get() gave; NULL: nothing. */
void dwarf_abbrevs_put(struct dwarf_abbrevs *abbrevs);

#endif
