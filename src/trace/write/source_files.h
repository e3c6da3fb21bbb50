/* The table of source files of a trace that is being written, without duplicates. */
#ifndef TRACE_WRITE_SOURCE_FILES_H
#define TRACE_WRITE_SOURCE_FILES_H

#include "base/map64.h"
#include "trace/format.h"
#include "symbolize/modules/source_identity.h"

#include <stddef.h>

struct source_files {
	struct trace_source_file *files;
	size_t nr;
	struct map64 numbers; /* by path */
};

void source_files_fini(struct source_files *files);

/* Adds the file of some lines; path is the offset of a string. Returns 0 or -ENOMEM. */
int source_files_add(struct source_files *files, uint32_t path);

/* Adds what is known of a file that was added; of others nothing is noted. */
void source_files_tell(struct source_files *files, uint32_t path,
                       const struct source_identity *identity);

/*
 * Keeps the files of which something is known, in order of their paths. Nothing can be added then.
 */
void source_files_seal(struct source_files *files);

void source_file_identity(const struct trace_source_file *file, struct source_identity *identity);

#endif
