/* Names for a trace that was written without: sections are appended, and the directory changed. */
#ifndef TEST_TRACE_SYMBOLS_H
#define TEST_TRACE_SYMBOLS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "trace/format.h"

struct named_range {
	uint32_t module, lo, hi;
	const char *name;
};

static inline void append_section(FILE *file, struct trace_entry *entry, const void *bytes,
                                  size_t size)
{
	fseek(file, 0, SEEK_END);
	entry->offset = (uint64_t)ftell(file);
	entry->size = size;
	entry->checksum = XXH3_64bits(bytes, size);
	fwrite(bytes, 1, size, file);
	while (ftell(file) % 8)
		fputc(0, file);
}

/* Each string once, as in every trace. */
static inline uint32_t pool_put(char *pool, size_t *size, const char *name)
{
	size_t at = 0;

	while (at < *size && strcmp(pool + at, name) != 0)
		at += strlen(pool + at) + 1;
	if (at == *size) {
		strcpy(pool + at, name);
		*size += strlen(name) + 1;
	}
	return (uint32_t)at;
}

/* A trace that is changed. */
struct changed_trace {
	FILE *file;
	struct {
		struct trace_header header;
		struct trace_entry entries[NR_TRACE_SECTIONS - 1];
	} head;
};

/* false: the file cannot be changed. */
static inline int change_begin(struct changed_trace *trace, const char *path)
{
	trace->file = fopen(path, "r+");
	return trace->file && fread(&trace->head, sizeof(trace->head), 1, trace->file) == 1;
}

/* Gives it these entries in place of its own. */
static inline void change_section(struct changed_trace *trace, enum trace_section section,
                                  const void *bytes, size_t size)
{
	append_section(trace->file, &trace->head.entries[section - 1], bytes, size);
}

static inline int change_end(struct changed_trace *trace)
{
	trace->head.header.size = (uint64_t)ftell(trace->file);
	trace->head.header.checksum = 0;
	trace->head.header.checksum = XXH3_64bits(&trace->head, sizeof(trace->head));
	rewind(trace->file);
	fwrite(&trace->head, sizeof(trace->head), 1, trace->file);
	return !fclose(trace->file);
}

/* The ranges ascend. false: the file cannot be changed. */
static inline int name_ranges(const char *path, const struct named_range *ranges, size_t nr)
{
	struct trace_symbol *symbols = calloc(nr, sizeof(*symbols));
	struct changed_trace trace;
	struct trace_entry *strings = &trace.head.entries[TRACE_STRINGS - 1];
	size_t size, more = 1;
	char *pool;

	if (!symbols || !change_begin(&trace, path))
		return 0;
	for (size_t i = 0; i < nr; i++)
		more += strlen(ranges[i].name) + 1;
	size = strings->size;
	pool = calloc(1, size + more);
	fseek(trace.file, (long)strings->offset, SEEK_SET);
	if (fread(pool, 1, size, trace.file) != size)
		return 0;
	for (size_t i = 0; i < nr; i++)
		symbols[i] = (struct trace_symbol){.module = ranges[i].module,
		                                   .lo = ranges[i].lo,
		                                   .hi = ranges[i].hi,
		                                   .name = pool_put(pool, &size, ranges[i].name)};
	change_section(&trace, TRACE_STRINGS, pool, size);
	change_section(&trace, TRACE_SYMBOLS, symbols, nr * sizeof(*symbols));
	free(symbols);
	free(pool);
	return change_end(&trace);
}

/* Gives the file these sources and lines in place of its own. false: it cannot be changed. */
static inline int add_sections(const char *path, const struct trace_source *sources,
                               size_t nr_sources, const struct trace_line *lines, size_t nr_lines)
{
	struct changed_trace trace;

	if (!change_begin(&trace, path))
		return 0;
	change_section(&trace, TRACE_SOURCES, sources, nr_sources * sizeof(*sources));
	change_section(&trace, TRACE_LINES, lines, nr_lines * sizeof(*lines));
	return change_end(&trace);
}

#endif
