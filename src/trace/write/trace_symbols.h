/* The symbol table of a trace: the functions and lines of all frames that its bins mention. */
#ifndef TRACE_WRITE_TRACE_SYMBOLS_H
#define TRACE_WRITE_TRACE_SYMBOLS_H

#include "trace/write/frame_set.h"
#include "trace/write/source_files.h"
#include "trace/write/source_table.h"
#include "base/string_pool.h"
#include "trace/format.h"
#include "symbolize/symbols.h"

typedef void source_file_fn(void *arg, const char *path, const struct source_identity *identity);

/* Provides names. */
struct name_provider {
	/*
	 * Does what symbolizer_module() does, for a module by its number. A module that is not
	 * known has no names.
	 */
	int (*module)(void *arg, uint16_t module, const uint32_t *offsets, size_t n, symbol_fn *fn,
	              void *fn_arg);
	void *arg;
	/*
	 * These report source files once names are known. Each may be NULL. The first does what
	 * symbolizer_source_files() does, the second reports any files.
	 */
	int (*identify)(void *arg, const char *const *paths, size_t n, source_identity_fn *fn,
	                void *fn_arg);
	void (*files)(void *arg, source_file_fn *fn, void *fn_arg);
};

struct trace_names {
	struct trace_symbol *symbols;
	size_t nr;
	struct source_table lines;
	struct source_files files;
	struct string_pool strings; /* of the names; empty at first */
	uint32_t string_base;       /* added to their offsets */
	uint64_t refused;           /* names and lines that found no room */
};

/*
 * Looks all frames up, which are ascending and distinct, module by module. String offsets start
 * from string_base. provider may be NULL: then there are no names. 0, -ENOMEM.
 */
int trace_names_init(struct trace_names *names, const struct name_provider *provider,
                     const struct frame_set *frames, uint32_t string_base);
void trace_names_fini(struct trace_names *names);

#endif
