/*
 * The lines of a trace on their way into it: what symbolize found for each frame, with equal parts
 * stored once.
 */
#ifndef TRACE_WRITE_SOURCE_TABLE_H
#define TRACE_WRITE_SOURCE_TABLE_H

#include "base/hash_slots.h"
#include "trace/format.h"

#include <stddef.h>

/* The most sources, and the most lines. */
#define SOURCE_TABLE_MAX (1u << 20)

struct source_table {
	struct trace_source *sources;
	struct trace_line *lines;
	size_t nr_sources, nr_lines;
	struct hash_slots found; /* sources */
	uint64_t refused;        /* sources or lines that found no room */
};

void source_table_fini(struct source_table *table);

/* Sets *number to the index + 1 of a source, or to 0 if the table is full. Returns 0 or -ENOMEM. */
int source_table_put(struct source_table *table, const struct trace_source *source,
                     uint32_t *number);

/*
 * The frame at an offset, which ascend in each module, has this source (index + 1; 0: none is
 * known), inside a function that begins at lo. 0 or -ENOMEM.
 */
int source_table_line(struct source_table *table, const struct trace_line *line, uint32_t lo);

#endif
