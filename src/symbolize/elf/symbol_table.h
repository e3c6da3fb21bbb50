/*
 * Symbol tables: the named ranges of one module, and which of them holds an offset.
 *
 * Filled in any order, then sealed, then asked for ascending offsets. All of it takes n log n time
 * and 24 bytes a symbol, however the ranges overlap.
 */
#ifndef SYMBOLIZE_ELF_SYMBOL_TABLE_H
#define SYMBOLIZE_ELF_SYMBOL_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Ranks of symbols at the same address: the one with the greatest sum is used. */
enum {
	SYMBOL_SIZED = 1 << 4,
	SYMBOL_FUNCTION = 1 << 3, /* not just a label */
	SYMBOL_GLOBAL = 3,
	SYMBOL_WEAK = 2,
	SYMBOL_LOCAL = 1,
};

struct table_symbol {
	const char *name; /* the caller's; NULL: only the range is known */
	uint32_t lo, hi;  /* without SYMBOL_SIZED: hi is as far as it may extend */
	uint32_t outer;   /* the table's */
	uint8_t rank;
	uint8_t plt; /* a stub that jumps to the function of this name */
};

struct symbol_table {
	struct table_symbol *symbols;
	size_t nr;
	unsigned languages; /* that the names are in, as language_names.h has them */
};

#define SYMBOL_TABLE_MAX (16u << 20) /* what comes later is left out */

/* 0 or -ENOMEM. An empty range is not entered. */
int symbol_table_add(struct symbol_table *table, const struct table_symbol *symbol);
void symbol_table_fini(struct symbol_table *table);

/* Sorts; lets symbols without a size extend to the next one. Nothing can be added afterwards. */
void symbol_table_seal(struct symbol_table *table);

/* A sealed table is asked in one sweep; begin with zeroes and the table. */
struct symbol_sweep {
	struct symbol_table *table;
	size_t next;
	uint32_t top;
};

/*
 * The innermost symbol that holds the offset, which must not be below that of the call before;
 * NULL: none. A symbol without a size does not hide a sized one around it.
 */
const struct table_symbol *symbol_sweep_to(struct symbol_sweep *sweep, uint32_t offset);

#endif
