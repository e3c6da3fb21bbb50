/*
 * Functions with code of their own, of which there may be inlined copies as well. Compilers tell
 * the linker's name only of what other files may call; of other functions it is that of the symbol
 * where their own code begins.
 */
#ifndef SYMBOLIZE_DWARF_OWN_CODE_H
#define SYMBOLIZE_DWARF_OWN_CODE_H

#include "symbolize/dwarf/dwarf.h"
#include "symbolize/elf/symbol_table.h"

struct own_code {
	const struct dwarf *dwarf; /* the entry that all copies refer to */
	uint64_t origin;
	uint64_t lo; /* an offset in the module */
};

/* Filled in any order, then sealed, then asked. Begin with zeroes. */
struct own_codes {
	struct own_code *codes;
	size_t nr;
};

/* 0 or -ENOMEM. */
int own_codes_add(struct own_codes *own, const struct own_code *code);
void own_codes_fini(struct own_codes *own);
void own_codes_seal(struct own_codes *own);

/*
 * The mangled C++ name, in sealed symbols, of the function that this entry tells and whose name
 * proper is `plain`; NULL: none. What has the same code by chance has another name.
 */
const char *own_codes_symbol(const struct own_codes *own, const struct symbol_table *symbols,
                             const struct dwarf *dwarf, uint64_t origin, const char *plain);

#endif
