/* Writing a trace: once, at the end, beside its final name and then renamed into place. */
#ifndef TRACE_WRITE_TRACE_WRITE_H
#define TRACE_WRITE_TRACE_WRITE_H

#include "trace/write/trace_symbols.h"
#include "base/new_file.h"
#include "trace/live/tables.h"
#include "trace/trace.h"
#include "symbolize/symbols.h"

/*
 * Writes the trace of a finished run to path. The live bins come from the arena, names from the
 * symbolizer (NULL: without names) for every frame that a live bin mentions. An existing file is
 * kept as path.old. 0 or -errno; on failure there is no half file, and an older trace is as it was.
 * bytes, where not NULL, gets the file's size.
 */
int trace_write(const char *path, struct tables *tables, struct module_table *modules,
                struct symbolizer *symbolizer, uint64_t *bytes);

/* The same to a file that is wished for like this. */
int trace_write_as(const struct new_file_wish *wish, struct tables *tables,
                   struct module_table *modules, struct symbolizer *symbolizer, uint64_t *bytes);

/*
 * trace_write() of tables that may be damaged: a file that trace_open() would refuse gets no name,
 * and the result is -EBADMSG.
 */
int trace_write_checked(const char *path, struct tables *tables, struct module_table *modules,
                        struct symbolizer *symbolizer, uint64_t *bytes);

/* Does what trace_write() does, with names from any provider. */
int trace_write_named(const char *path, struct tables *tables, const struct name_provider *provider,
                      uint64_t *bytes);

/*
 * The trace of a run so far, as trace_write_named() would write it and trace_open() would read it,
 * in memory of its own: the tables may go on meanwhile. It takes as much memory as the file would.
 * provider may be NULL: without names. NULL: why says in one line what is wrong.
 */
struct trace *trace_open_tables(struct tables *tables, const struct name_provider *provider,
                                char why[TRACE_WHY_SIZE]);

/* Returns the failures of a symbolizer as flags of a run. */
uint32_t trace_unseen(const struct symbolizer_stats *stats);

#endif
