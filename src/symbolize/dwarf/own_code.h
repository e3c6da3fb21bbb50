/*
 * Functions with code of their own, of which there may be inlined copies as well. Compilers emit a
 * linkage name only for functions that other files may call. The linkage name of any other function
 * is taken from the symbol at the start of its own code.
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

/* Codes are added in any order, then sealed, then looked up. Initialize it with zeroes. */
struct own_codes {
	struct own_code *codes;
	size_t nr;
};

/* 0 or -ENOMEM. */
int own_codes_add(struct own_codes *own, const struct own_code *code);
void own_codes_fini(struct own_codes *own);
void own_codes_seal(struct own_codes *own);

/*
 * Returns the mangled C++ name, in sealed symbols, of the function that this entry describes and
 * whose plain name is `plain`; NULL if there is none. The plain name is compared because different
 * functions may share the same code.
 */
const char *own_codes_symbol(const struct own_codes *own, const struct symbol_table *symbols,
                             const struct dwarf *dwarf, uint64_t origin, const char *plain);

#endif
