/*
 * DWARF: the debug information of one file, versions 2 to 5.
 *
 * This reader is used in place of libdw because files are untrusted. libdw opens and maps other
 * files that the information names, holds every row of a line table at 100 bytes, and walks the
 * children of an entry again for each level of nesting where the compiler (clang, rustc) does not
 * store where they end. This reader reads every unit once, from front to back; it checks every
 * offset and size; and it counts the steps taken, so that tables which refer to each other in
 * circles or share their parts come to an end.
 */
#ifndef SYMBOLIZE_DWARF_DWARF_H
#define SYMBOLIZE_DWARF_DWARF_H

#include "base/cursor.h"

#include <libelf.h>

enum dwarf_section {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_LINE,
	DWARF_STR,
	DWARF_LINE_STR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_ADDR,
	DWARF_STR_OFFSETS,
	NR_DWARF_SECTIONS
};

struct dwarf_bytes {
	const uint8_t *data;
	size_t size;
};

struct dwarf {
	struct dwarf_bytes sections[NR_DWARF_SECTIONS]; /* strings end with NUL */
	struct dwarf *alt; /* the file that dwz moved common parts to, or NULL; the caller's */
	uint64_t work;     /* steps left: attributes, rows, ranges */
	struct dwarf_abbrevs *recent; /* units of one object file share them */
	uint64_t *units;              /* offsets of all units, ascending */
	size_t nr_units;
};

/*
 * Reads the sections; they live as long as the ELF file. max: bytes that may be read and unpacked.
 * 0, -ENODATA: there is no debug information, -EFBIG, -EOPNOTSUPP: libelf cannot unpack it,
 * -ENOMEM.
 */
int dwarf_open(struct dwarf *dwarf, Elf *elf, size_t max);
/* Does the same with the sections that the compiler keeps out of programs: see split_unit.h. */
int dwarf_open_split(struct dwarf *dwarf, Elf *elf, size_t max);
/* Finds the units again after sections were narrowed. Returns 0 or -ENOMEM. */
int dwarf_units_find(struct dwarf *dwarf);
void dwarf_close(struct dwarf *dwarf);

/* Subtracts steps from those that are left. Returns false if fewer are left. */
static inline bool dwarf_step(struct dwarf *dwarf, uint64_t steps)
{
	if (dwarf->work < steps)
		return false;
	dwarf->work -= steps;
	return true;
}

/* Returns a cursor from an offset of a section to its end. It is bad if the offset lies outside. */
struct cursor dwarf_cursor(const struct dwarf *dwarf, enum dwarf_section section, uint64_t offset);

/* Returns NULL if the offset lies outside of the section. */
const char *dwarf_string(const struct dwarf *dwarf, enum dwarf_section section, uint64_t offset);

#endif
