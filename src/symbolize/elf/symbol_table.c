#include "symbolize/elf/symbol_table.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

int symbol_table_add(struct symbol_table *table, const struct table_symbol *symbol)
{
	if (symbol->lo >= symbol->hi || table->nr == SYMBOL_TABLE_MAX)
		return 0;
	return ARRAY_ADD(table->symbols, table->nr, *symbol);
}

void symbol_table_fini(struct symbol_table *table)
{
	free(table->symbols);
	memset(table, 0, sizeof(*table));
}

#define COMPARED 256 /* letters: many names of a file may be in one long string */

static size_t count_underscores(const char *name)
{
	size_t n = 0;

	while (n < COMPARED && name[n] == '_')
		n++;
	return n;
}

/* The plainest name is mostly the one that people use: malloc, not __libc_malloc. */
static int name_compare(const char *a, const char *b)
{
	if (!a || !b)
		return !b - !a;
	return ORDER(count_underscores(b), count_underscores(a))
	               ?: ORDER(strnlen(b, COMPARED), strnlen(a, COMPARED))
	               ?: strncmp(b, a, COMPARED);
}

/* Orders by address. Of equal ones the best comes last, on top of the others. */
static int symbol_compare(const void *x, const void *y)
{
	const struct table_symbol *a = x, *b = y;

	return ORDER(a->lo, b->lo) ?: ORDER(a->rank, b->rank) ?: name_compare(a->name, b->name);
}

static void unsized_extend(struct symbol_table *table)
{
	uint32_t limit = UINT32_MAX;
	size_t i = table->nr;

	while (i-- > 0) {
		struct table_symbol *symbol = &table->symbols[i];

		if (i + 1 < table->nr && symbol[1].lo != symbol->lo)
			limit = symbol[1].lo;
		if (!(symbol->rank & SYMBOL_SIZED) && symbol->hi > limit)
			symbol->hi = limit;
	}
}

void symbol_table_seal(struct symbol_table *table)
{
	ARRAY_SORT(table->symbols, table->nr, symbol_compare);
	unsized_extend(table);
}

/*
 * The sweep keeps a stack of the symbols that were entered and may still hold an offset, linked by
 * their outer fields (index + 1). Its top is what ends first or began last: each symbol is pushed
 * and popped once.
 */
static void sweep_pop(struct symbol_sweep *sweep, uint32_t offset)
{
	while (sweep->top && sweep->table->symbols[sweep->top - 1].hi <= offset)
		sweep->top = sweep->table->symbols[sweep->top - 1].outer;
}

static void sweep_push(struct symbol_sweep *sweep)
{
	struct table_symbol *symbol = &sweep->table->symbols[sweep->next++], *top;

	sweep_pop(sweep, symbol->lo);
	if (sweep->top) {
		top = &sweep->table->symbols[sweep->top - 1];
		if (top->rank & SYMBOL_SIZED && !(symbol->rank & SYMBOL_SIZED))
			return;
	}
	symbol->outer = sweep->top;
	sweep->top = (uint32_t)sweep->next;
}

const struct table_symbol *symbol_sweep_to(struct symbol_sweep *sweep, uint32_t offset)
{
	struct symbol_table *table = sweep->table;

	while (sweep->next < table->nr && table->symbols[sweep->next].lo <= offset)
		sweep_push(sweep);
	sweep_pop(sweep, offset);
	return sweep->top ? &table->symbols[sweep->top - 1] : NULL;
}
