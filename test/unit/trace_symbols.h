/* Names for a trace that was written without: sections are appended, and the directory changed. */
#ifndef TEST_TRACE_SYMBOLS_H
#define TEST_TRACE_SYMBOLS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "output/trace_format.h"

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

/* The ranges ascend. false: the file cannot be changed. */
static inline int name_ranges(const char *path, const struct named_range *ranges, size_t nr)
{
	struct {
		struct trace_header header;
		struct trace_entry entries[NR_TRACE_SECTIONS - 1];
	} head;
	struct trace_entry *strings = &head.entries[TRACE_STRINGS - 1];
	struct trace_symbol *symbols = calloc(nr, sizeof(*symbols));
	FILE *file = fopen(path, "r+");
	char *pool;
	size_t size, more = 1;

	if (!file || !symbols || fread(&head, sizeof(head), 1, file) != 1)
		return 0;
	for (size_t i = 0; i < nr; i++)
		more += strlen(ranges[i].name) + 1;
	size = strings->size;
	pool = calloc(1, size + more);
	fseek(file, (long)strings->offset, SEEK_SET);
	if (fread(pool, 1, size, file) != size)
		return 0;
	for (size_t i = 0; i < nr; i++)
		symbols[i] = (struct trace_symbol){.module = ranges[i].module,
		                                   .lo = ranges[i].lo,
		                                   .hi = ranges[i].hi,
		                                   .name = pool_put(pool, &size, ranges[i].name)};
	append_section(file, strings, pool, size);
	append_section(file, &head.entries[TRACE_SYMBOLS - 1], symbols, nr * sizeof(*symbols));
	head.header.size = (uint64_t)ftell(file);
	head.header.checksum = 0;
	head.header.checksum = XXH3_64bits(&head, sizeof(head));
	rewind(file);
	fwrite(&head, sizeof(head), 1, file);
	free(symbols);
	free(pool);
	return !fclose(file);
}

/* Gives the file these sources and lines in place of its own. false: it cannot be changed. */
static inline int add_sections(const char *path, const struct trace_source *sources,
                               size_t nr_sources, const struct trace_line *lines, size_t nr_lines)
{
	struct {
		struct trace_header header;
		struct trace_entry entries[NR_TRACE_SECTIONS - 1];
	} head;
	FILE *file = fopen(path, "r+");

	if (!file || fread(&head, sizeof(head), 1, file) != 1)
		return 0;
	append_section(file, &head.entries[TRACE_SOURCES - 1], sources,
	               nr_sources * sizeof(*sources));
	append_section(file, &head.entries[TRACE_LINES - 1], lines, nr_lines * sizeof(*lines));
	head.header.size = (uint64_t)ftell(file);
	head.header.checksum = 0;
	head.header.checksum = XXH3_64bits(&head, sizeof(head));
	rewind(file);
	fwrite(&head, sizeof(head), 1, file);
	return !fclose(file);
}

#endif
