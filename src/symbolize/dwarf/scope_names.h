/*
 * Scopes: functions and inlined calls around addresses, and their names. Many calls are of the same
 * function, whose name is stored once, in an entry that all of them refer to.
 */
#ifndef SYMBOLIZE_DWARF_SCOPE_NAMES_H
#define SYMBOLIZE_DWARF_SCOPE_NAMES_H

#include "symbolize/dwarf/own_code.h"
#include "base/text_pool.h"

/* A function's own code (no caller), or an inlined call. */
struct scope {
	struct dwarf *dwarf; /* file of the entry that has its name; NULL: it is named already */
	uint64_t origin;
	const char *name; /* demangled for calls, the linkage name for functions */
	const char *call_file;
	const uint8_t *call_md5; /* of that file; NULL: not known */
	uint32_t call_line;
	uint32_t caller; /* index + 1 */
	bool is_c;       /* the function is of a unit in C or C++ */
};

struct scope_naming {
	struct text_pool *text;
	bool copy;                   /* the sections of the file are not kept */
	const struct own_codes *own; /* sealed, as these: */
	const struct symbol_table *symbols;
};

/*
 * Names those of n scopes that have no name yet. Names are in the pool, in the sections of their
 * files where these are kept, or in the symbols. Returns 0 or -ENOMEM.
 */
int scopes_name(struct scope *scopes, size_t n, const struct scope_naming *naming);

#endif
