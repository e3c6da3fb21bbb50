/*
 * ELF symbols: the functions that a module's symbol tables name, and those that its call frame
 * information bounds.
 */
#ifndef SYMBOLIZE_ELF_ELF_SYMBOLS_H
#define SYMBOLIZE_ELF_ELF_SYMBOLS_H

#include "symbolize/elf/elf_sections.h"
#include "symbolize/elf/symbol_table.h"

/*
 * Each adds to the table what has addresses in an area, see frame.h; names live as long as the ELF
 * file that they are from. What is damaged is left out. 0 or -ENOMEM.
 */

/* Adds the symbols of .symtab, or of .dynsym where there is none. */
int elf_symbols_add(struct symbol_table *table, Elf *elf, uint64_t area);

/* The stubs that call functions of other modules, on x86-64. */
int plt_symbols_add(struct symbol_table *table, Elf *elf, uint64_t area);

/* The functions that a Go program knows itself, though it was stripped. */
int go_symbols_add(struct symbol_table *symbols, Elf *elf, uint64_t area);

/* The ranges of .eh_frame, without names. */
int frame_bounds_add(struct symbol_table *table, Elf *elf, uint64_t area);

#endif
