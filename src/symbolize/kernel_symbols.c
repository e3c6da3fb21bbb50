#include "symbolize/kernel_symbols.h"
#include "symbolize/arch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of the letters that nm has: T and t are code, W and w are weak and in the kernel mostly code. */
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

/* Takes one line apart; the address, with the name of a function, else NULL. */
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

/* What the kernel has no symbol for, and would be taken for the end of the one before. */
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

int kernel_symbols_add(struct symbol_table *table, char *text, uint32_t window, bool *hidden)
{
	struct table_symbol symbol = {.hi = UINT32_MAX};
	bool functions = false, addresses = false;
	char *line, *end;
	unsigned rank = 0;
	uint64_t addr;
	int err = 0;

	for (line = text; line && *line && !err; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		addr = line_parse(line, &symbol.name, &rank);
		if (!symbol.name)
			continue;
		functions = true;
		addresses |= addr != 0;
		if (addr >> 32 != window || !addr)
			continue;
		symbol.lo = (uint32_t)addr;
		symbol.rank = (uint8_t)rank;
		err = symbol_table_add(table, &symbol);
	}
	*hidden = functions && !addresses;
	return err || !addresses ? err : add_vsyscall(table, window);
}
