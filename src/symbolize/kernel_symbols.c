#include "symbolize/kernel_symbols.h"
#include "base/array.h"
#include "base/hex_digit.h"
#include "symbolize/unwind/arch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No function is longer: where that is not known, and what follows may have gone. */
#define MAX_CORE   ((uint32_t)1 << 20)
#define MAX_LOADED ((uint32_t)64 << 10) /* of modules and programs, which come and go */
#define MAX_NAMES  ((size_t)64 << 20)   /* bytes */
#define READ_SIZE  ((size_t)32 << 10)

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

/* strtoull() takes much of the time that a kernel's 120,000 symbols need. */
static const char *parse_hex(const char *at, uint64_t *number)
{
	unsigned nr = 0;
	int digit;

	for (*number = 0; nr <= 16 && (digit = hex_digit(*at)) >= 0; at++, nr++)
		*number = *number << 4 | (unsigned)digit;
	return nr && nr <= 16 ? at : NULL;
}

/* Parses one line. Returns the address. *name is NULL unless the symbol is a function. */
static uint64_t line_parse(const char *line, const char **name, unsigned *rank)
{
	uint64_t addr;
	const char *at = parse_hex(line, &addr);

	*name = NULL;
	if (!at || at[0] != ' ' || !at[1] || at[2] != ' ' || !at[3])
		return 0;
	*rank = type_rank(at[1]);
	if (*rank)
		*name = at + 3;
	return addr;
}

/*
 * The kernel has no symbol for the vsyscall page. Without this one, its addresses would be
 * attributed to the symbol before it.
 */
static int add_vsyscall(struct symbol_table *table, uint32_t area)
{
	const struct table_symbol symbol = {
		.name = "[vsyscall]",
		.lo = (uint32_t)ARCH_VSYSCALL,
		.hi = (uint32_t)ARCH_VSYSCALL + 4096,
		.rank = SYMBOL_SIZED | SYMBOL_FUNCTION,
	};

	return ARCH_VSYSCALL && (uint64_t)ARCH_VSYSCALL >> 32 == area
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

/*
 * Tells whether an offset is so near that the symbol may hold it, or end the symbol that does. The
 * answer for the last gap between two offsets is kept, because most symbols come in order.
 */
static bool is_near(struct kernel_symbols *kernel, uint32_t lo)
{
	const uint32_t *offsets = kernel->offsets;
	size_t next;

	if (lo - kernel->far_from < kernel->far_size)
		return false;
	next = ARRAY_PARTITION(offsets, kernel->n, offset, *offset < lo);
	if ((next < kernel->n && offsets[next] - lo <= MAX_CORE) ||
	    (next && lo - offsets[next - 1] <= MAX_CORE))
		return true;
	kernel->far_from = next ? offsets[next - 1] + MAX_CORE + 1 : 0;
	kernel->far_size =
		(next < kernel->n ? offsets[next] - MAX_CORE : UINT32_MAX) - kernel->far_from;
	return false;
}

/* Copies the name, with a blank before the name of the module in place of a tab. */
static int copy_name(struct kernel_symbols *kernel, struct table_symbol *symbol)
{
	char *tab;

	if (!symbol->name)
		return 0;
	symbol->name = text_pool_put(&kernel->names, symbol->name);
	if (!symbol->name)
		return -ENOMEM;
	tab = strchr(symbol->name, '\t');
	if (tab)
		*tab = ' ';
	return 0;
}

static int add_line(struct kernel_symbols *kernel, const char *line)
{
	struct table_symbol symbol = {0};
	unsigned rank = 0;
	uint64_t addr = line_parse(line, &symbol.name, &rank);
	bool was_open = kernel->open;
	int err;

	kernel->functions |= symbol.name != NULL;
	kernel->addresses |= symbol.name && addr;
	if (addr >> 32 != kernel->area || !addr || !(symbol.name || was_open))
		return 0;
	if (symbol.name && is_end(symbol.name))
		symbol.name = NULL;
	kernel->open = symbol.name;
	symbol.lo = (uint32_t)addr;
	if (!is_near(kernel, symbol.lo))
		return 0;
	symbol.hi = symbol_end(&symbol);
	symbol.rank = symbol.name ? (uint8_t)rank : SYMBOL_SIZED;
	err = copy_name(kernel, &symbol);
	return err ? err : symbol_table_add(&kernel->table, &symbol);
}

/* Adds the lines of a text that are complete. Returns the rest. */
static int add_lines(struct kernel_symbols *kernel, char *text, char *end, char **rest)
{
	int err = 0;
	char *newline;

	for (*rest = text; !err; *rest = newline + 1) {
		newline = memchr(*rest, '\n', (size_t)(end - *rest));
		if (!newline)
			break;
		*newline = '\0';
		err = add_line(kernel, *rest);
	}
	return err;
}

int kernel_symbols_read(struct kernel_symbols *kernel, int fd)
{
	char text[READ_SIZE + 1], *rest;
	size_t used = 0;
	ssize_t got;
	int err = 0;

	kernel->names.left = MAX_NAMES;
	while (!err && (got = read(fd, text + used, READ_SIZE - used)) > 0) {
		used += (size_t)got;
		err = add_lines(kernel, text, text + used, &rest);
		used -= (size_t)(rest - text);
		if (used == READ_SIZE)
			used = 0; /* this is no line */
		memmove(text, rest, used);
	}
	text[used] = '\0';
	if (!err && used)
		err = add_line(kernel, text);
	kernel->hidden = kernel->functions && !kernel->addresses;
	return err || !kernel->addresses ? err : add_vsyscall(&kernel->table, kernel->area);
}

void kernel_symbols_fini(struct kernel_symbols *kernel)
{
	symbol_table_fini(&kernel->table);
	text_pool_fini(&kernel->names);
}
