#include "symbolize/kernel_symbols.h"
#include "symbolize/unwind/arch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No function is longer: where that is not known, and what follows may have gone. */
#define MAX_CORE   ((uint32_t)1 << 20)
#define MAX_LOADED ((uint32_t)64 << 10) /* of modules and programs, which come and go */

/* Labels where the kernel's own code ends, not functions. */
static bool is_end(const char *name)
{
	return !strcmp(name, "_etext") || !strcmp(name, "_einittext") || !strcmp(name, "_end");
}

/*
 * The types are the letters that nm prints. T and t are code; W and w are weak symbols, which are
 * mostly code in the kernel.
 */
static unsigned type_rank(char type)
{
	switch (type) {
	case 'T':
		return SYMBOL_FUNCTION | SYMBOL_GLOBAL;
	case 'W':
	case 'w':
		return SYMBOL_FUNCTION | SYMBOL_WEAK;
	case 't':
		return SYMBOL_FUNCTION | SYMBOL_LOCAL;
	default:
		return 0;
	}
}

/* Parses one line. Returns the address. *name is NULL unless the symbol is a function. */
static uint64_t line_parse(char *line, const char **name, unsigned *rank)
{
	uint64_t addr;
	char *at, *tab;

	*name = NULL;
	errno = 0;
	addr = strtoull(line, &at, 16);
	if (errno || at == line || at[0] != ' ' || !at[1] || at[2] != ' ' || !at[3])
		return 0;
	*rank = type_rank(at[1]);
	if (!*rank)
		return addr;
	tab = strchr(at + 3, '\t');
	if (tab)
		*tab = ' ';
	*name = at + 3;
	return addr;
}

/*
 * The kernel has no symbol for the vsyscall page. Without this one, its addresses would be
 * attributed to the symbol before it.
 */
static int add_vsyscall(struct symbol_table *table, uint32_t window)
{
	const struct table_symbol symbol = {
		.name = "[vsyscall]",
		.lo = (uint32_t)ARCH_VSYSCALL,
		.hi = (uint32_t)ARCH_VSYSCALL + 4096,
		.rank = SYMBOL_SIZED | SYMBOL_FUNCTION,
	};

	return ARCH_VSYSCALL && (uint64_t)ARCH_VSYSCALL >> 32 == window
	               ? symbol_table_add(table, &symbol)
	               : 0;
}

/*
 * Returns the highest address that the symbol may extend to. Data symbols have no name here; they
 * only end the function before them.
 */
static uint32_t symbol_end(const struct table_symbol *symbol)
{
	uint32_t most = strchr(symbol->name ?: "", '[') ? MAX_LOADED : MAX_CORE;

	if (!symbol->name)
		most = 1;
	return symbol->lo < UINT32_MAX - most ? symbol->lo + most : UINT32_MAX;
}

int kernel_symbols_add(struct symbol_table *table, char *text, uint32_t window, bool *hidden)
{
	struct table_symbol symbol = {0};
	bool functions = false, addresses = false, open = false;
	char *line, *end;
	unsigned rank = 0;
	uint64_t addr;
	int err = 0;

	for (line = text; line && *line && !err; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		addr = line_parse(line, &symbol.name, &rank);
		functions |= symbol.name != NULL;
		addresses |= symbol.name && addr;
		if (addr >> 32 != window || !addr || !(symbol.name || open))
			continue;
		if (symbol.name && is_end(symbol.name))
			symbol.name = NULL;
		open = symbol.name;
		symbol.lo = (uint32_t)addr;
		symbol.hi = symbol_end(&symbol);
		symbol.rank = open ? (uint8_t)rank : SYMBOL_SIZED;
		err = symbol_table_add(table, &symbol);
	}
	*hidden = functions && !addresses;
	return err || !addresses ? err : add_vsyscall(table, window);
}
