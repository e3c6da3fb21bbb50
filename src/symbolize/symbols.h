/*
 * Names: from offsets in a module to functions.
 *
 * Asked once per distinct address, at the end of a run, module by module, so that the memory in
 * use is one module's tables. Sources, best first: .symtab of the file or its separate debug file,
 * .dynsym and mini-debuginfo; the table of functions in a stripped Go program; the stubs of the PLT
 * as "name@plt"; the bounds of the function from the call frame information where no symbol covers
 * an address; /proc/kallsyms for the kernel; a jitdump or /tmp/perf-PID.map for code made at run
 * time. Lines and inlined functions come from DWARF, in the file or its separate debug file. A
 * debuginfod server is asked only where the table of modules says so.
 */
#ifndef SYMBOLIZE_SYMBOLS_H
#define SYMBOLIZE_SYMBOLS_H

#include "symbolize/modules/module.h"
#include "symbolize/elf/source.h"
#include "symbolize/modules/source_identity.h"

#include <stdbool.h>

/* A function of a module: the offsets [lo, hi). */
struct symbol {
	uint32_t lo, hi;
	const char *name; /* as people write it; NULL: bounds without a name */
	/*
	 * Of the offset asked for: its source, and those of the calls that were inlined there,
	 * innermost first, with functions as people write them; the last one's is this symbol.
	 * None where there is no debug information.
	 */
	const struct source *sources;
	size_t nr_sources;
};

/* Called in ascending order of offsets, once per offset that lies in a function. */
typedef int symbol_fn(void *arg, uint32_t offset, const struct symbol *symbol);

/* What is asked of code that was made at run time. */
struct made_query {
	uint32_t window;         /* the high half of all addresses */
	const uint32_t *offsets; /* their low halves, ascending and distinct */
	size_t n;
	symbol_fn *fn; /* stops with what it returns where that is not 0 */
	void *arg;
};

struct symbolizer;

/* Where names could not be had although they exist, in words for a user. */
struct symbolizer_stats {
	bool kernel_hidden; /* kptr_restrict or missing privilege hides the kernel's addresses */
	uint64_t lines_refused; /* modules whose debug information is damaged or too large */
	uint64_t lines_packed;  /* modules whose debug information libelf cannot unpack */
	uint64_t refused;       /* addresses of processes that say too much of their code */
	uint64_t split_missing; /* units whose inlined functions are in a .dwo that was not found */
	uint64_t unanswered; /* files that could not be read: their file system does not answer */
};

/* Whether to look names up in a file, which may take long. */
typedef bool symbolizer_ask_fn(void *arg, const char *path);

/* The table must outlive it. NULL with errno. */
struct symbolizer *symbolizer_new(struct module_table *modules);
void symbolizer_free(struct symbolizer *symbolizer);
/* Asks before each file from now on; code in those refused has no names. */
void symbolizer_ask(struct symbolizer *symbolizer, symbolizer_ask_fn *ask, void *arg);

/* Asked now and then while names are read. */
typedef bool symbolizer_go_on_fn(void *arg);

/*
 * From now on a side process reads the names, which is left behind where it makes no progress for
 * 10 s: the file has no names then, nor have others on a file system that does not answer, and they
 * are counted. A file is left, too, as soon as go_on (may be NULL) says false. 0 or -ENOMEM.
 */
int symbolizer_read_aside(struct symbolizer *symbolizer, symbolizer_go_on_fn *go_on, void *arg);

/*
 * Finds the functions of n offsets of one module; offsets ascend and are distinct. Strings passed
 * to fn live until it returns. 0, -ENOMEM, or what fn returned if that was not 0.
 */
int symbolizer_module(struct symbolizer *symbolizer, struct module *module, const uint32_t *offsets,
                      size_t n, symbol_fn *fn, void *arg);

/*
 * What a source file is now, for a later look at its text; known is 0 where there is none. All that
 * is read of such files is bounded: of those beyond, size and time are known. 0, -EINTR: it shall
 * not go on.
 */
int symbolizer_source_file(struct symbolizer *symbolizer, const char *path,
                           struct source_identity *identity);

void symbolizer_stats(const struct symbolizer *symbolizer, struct symbolizer_stats *stats);

#endif
