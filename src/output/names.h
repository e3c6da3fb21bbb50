/* The symbol table of a trace: the functions and lines of all frames that its bins mention. */
#ifndef OUTPUT_NAMES_H
#define OUTPUT_NAMES_H

#include "output/frame_set.h"
#include "output/source_table.h"
#include "output/string_pool.h"
#include "output/trace_format.h"
#include "symbolize/symbols.h"

struct names {
	struct trace_symbol *symbols;
	size_t nr, room;
	struct source_table lines;
	struct string_pool strings; /* of the names; empty at first */
	uint32_t string_base;       /* added to their offsets */
	uint64_t refused;           /* names and lines that found no room */
	bool kernel_hidden;
};

/*
 * Looks all frames up, which are ascending and distinct, module by module. String offsets start
 * from string_base. symbolizer may be NULL: then there are no names. 0, -ENOMEM.
 */
int names_init(struct names *names, struct module_table *modules, struct symbolizer *symbolizer,
               const struct frame_set *frames, uint32_t string_base);
void names_fini(struct names *names);

#endif
