/*
 * Kernel symbols, as /proc/kallsyms lists them: "ffffffff81000000 T _text" and, of a module,
 * "ffffffffc0321000 t nft_do_chain [nf_tables]" with a tab before the bracket.
 */
#ifndef SYMBOLIZE_KERNEL_SYMBOLS_H
#define SYMBOLIZE_KERNEL_SYMBOLS_H

#include "base/text_pool.h"
#include "symbolize/elf/symbol_table.h"

#include <stdbool.h>

/* The caller sets the first three fields. */
struct kernel_symbols {
	uint32_t area;           /* the high half of the addresses */
	const uint32_t *offsets; /* their low halves that are asked for, ascending */
	size_t n;
	bool hidden; /* all functions are at address 0: the reader may not know the addresses */
	struct symbol_table table;
	/* private */
	struct text_pool names;
	bool functions, addresses;
	bool open;                   /* the symbol before is a function, which this one may end */
	uint32_t far_from, far_size; /* a range without offsets near by */
};

/*
 * Adds the functions near the offsets to the table. The names, with their module's if there is one,
 * live as long as `kernel`. The file is read piece by piece, because all of it has 10 MB and new
 * memory costs more time than the reading. Returns 0 or -ENOMEM.
 */
int kernel_symbols_read(struct kernel_symbols *kernel, int fd);
void kernel_symbols_fini(struct kernel_symbols *kernel);

#endif
