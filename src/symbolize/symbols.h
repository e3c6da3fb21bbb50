/*
 * Symbolizer: maps offsets in a module to functions.
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
#include "symbolize/elf/symbol.h"
#include "symbolize/modules/source_identity.h"

#include <stdbool.h>

struct symbolizer;

/* Counts of names that exist but could not be read, and why. */
struct symbolizer_stats {
	bool kernel_hidden; /* kptr_restrict or missing privilege hides the kernel's addresses */
	uint64_t lines_refused; /* modules whose debug information is damaged or too large */
	uint64_t lines_packed;  /* modules whose debug information libelf cannot unpack */
	uint64_t refused;       /* addresses whose perf map or jitdump is too large */
	uint64_t split_missing; /* units whose inlined functions are in a .dwo that was not found */
	uint64_t unanswered; /* files that could not be read: their file system does not answer */
};

/* Returns whether names shall be looked up in a file, which may take long. */
typedef bool symbolizer_ask_fn(void *arg, const char *path);

/* The table of modules must outlive the symbolizer. Returns NULL with errno on failure. */
struct symbolizer *symbolizer_new(struct module_table *modules);
void symbolizer_free(struct symbolizer *symbolizer);
/* Calls `ask` before each file from now on. Code in files that it refuses has no names. */
void symbolizer_ask(struct symbolizer *symbolizer, symbolizer_ask_fn *ask, void *arg);

/* Reads no debug information from now on: functions have names, but no lines or inlined calls. */
void symbolizer_leave_lines(struct symbolizer *symbolizer);

/* Called now and then while names are read. Returns false to stop reading the file. */
typedef bool symbolizer_go_on_fn(void *arg);

/*
 * Reads names in a side process from now on. If the process makes no progress for 10 s it is
 * abandoned: that file has no names then, nor have others on a file system that does not answer,
 * and these files are counted. A file is also abandoned as soon as go_on (may be NULL) returns
 * false. Returns 0 or -ENOMEM.
 */
int symbolizer_read_aside(struct symbolizer *symbolizer, symbolizer_go_on_fn *go_on, void *arg);

/*
 * Finds the functions of n offsets of one module. Offsets must be ascending and distinct. Strings
 * passed to fn are valid until it returns. Returns 0, -ENOMEM, or the first result of fn that is
 * not 0.
 */
int symbolizer_module(struct symbolizer *symbolizer, struct module *module, const uint32_t *offsets,
                      size_t n, symbol_fn *fn, void *arg);

/* `known` is 0 if there is no such file. */
typedef void source_identity_fn(void *arg, size_t index, const struct source_identity *identity);

/*
 * Identifies source files as they are now, for a later look at their text. fn is called for each
 * path with its index, unless its file system does not answer. The bytes that are read of files are
 * bounded: size and time alone identify the files beyond. Returns 0 or -ENOMEM.
 */
int symbolizer_source_files(struct symbolizer *symbolizer, const char *const *paths, size_t n,
                            source_identity_fn *fn, void *arg);

void symbolizer_stats(const struct symbolizer *symbolizer, struct symbolizer_stats *stats);

#endif
