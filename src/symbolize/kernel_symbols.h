/*
 * Kernel symbols, as /proc/kallsyms lists them: "ffffffff81000000 T _text" and, of a module,
 * "ffffffffc0321000 t nft_do_chain [nf_tables]" with a tab before the bracket.
 */
#ifndef SYMBOLIZE_KERNEL_SYMBOLS_H
#define SYMBOLIZE_KERNEL_SYMBOLS_H

#include "symbolize/elf/symbol_table.h"

#include <stdbool.h>

/*
 * Adds the functions whose addresses have this high half. The text is changed: names, with their
 * module's if there is one, point into it. hidden: there are functions, but all at address 0, as
 * the kernel shows them to those who may not know. 0 or -ENOMEM.
 */
int kernel_symbols_add(struct symbol_table *table, char *text, uint32_t window, bool *hidden);

#endif
