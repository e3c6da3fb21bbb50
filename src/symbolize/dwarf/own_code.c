#include "symbolize/dwarf/own_code.h"
#include "base/array.h"
#include "symbolize/elf/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CODES   (1u << 22)
#define MAX_ALIASES 8   /* looked at, of an address */
#define MAX_PLAIN   200 /* letters */

int own_codes_add(struct own_codes *own, const struct own_code *code)
{
	return own->nr < MAX_CODES ? ARRAY_ADD(own->codes, own->nr, *code) : 0;
}

void own_codes_fini(struct own_codes *own)
{
	free(own->codes);
}

static int code_compare(const void *a, const void *b)
{
	const struct own_code *x = a, *y = b;

	return ORDER((uintptr_t)x->dwarf, (uintptr_t)y->dwarf) ?: ORDER(x->origin, y->origin);
}

void own_codes_seal(struct own_codes *own)
{
	ARRAY_SORT(own->codes, own->nr, code_compare);
}

/*
 * Writes the part of a mangled name that the plain name stands for: its length, then the
 * identifier. The arguments of a template and the ~ of a destructor are mangled in another way and
 * are left out.
 */
static bool mangled_part(const char *plain, char *part, size_t room)
{
	const char *name = plain + (*plain == '~');
	const size_t size = strcspn(name, "<( ");

	if (!size || size > MAX_PLAIN)
		return false;
	snprintf(part, room, "%zu%.*s", size, (int)size, name);
	return true;
}

static bool is_name_with(const struct table_symbol *symbol, const char *part)
{
	const char *name = symbol->name;
	size_t size;

	if (!name || symbol->plt || !(symbol->rank & SYMBOL_FUNCTION) || strncmp(name, "_Z", 2))
		return false;
	size = strnlen(name, DEMANGLED_MAX);
	return size < DEMANGLED_MAX && memmem(name, size, part, strlen(part));
}

/* Several symbols may have the same address. The last one in the table is the best one. */
static const char *name_at(const struct symbol_table *symbols, uint64_t lo, const char *part)
{
	size_t n = ARRAY_PARTITION(symbols->symbols, symbols->nr, symbol, symbol->lo <= lo);

	for (unsigned i = 0; i < MAX_ALIASES && n-- && symbols->symbols[n].lo == lo; i++)
		if (is_name_with(&symbols->symbols[n], part))
			return symbols->symbols[n].name;
	return NULL;
}

const char *own_codes_symbol(const struct own_codes *own, const struct symbol_table *symbols,
                             const struct dwarf *dwarf, uint64_t origin, const char *plain)
{
	const struct own_code key = {.dwarf = dwarf, .origin = origin}, *found;
	char part[MAX_PLAIN + 24];

	found = ARRAY_FIND(own->codes, own->nr, &key, code_compare);
	return found && mangled_part(plain, part, sizeof(part)) ? name_at(symbols, found->lo, part)
	                                                        : NULL;
}
