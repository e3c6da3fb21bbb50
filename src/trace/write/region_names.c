#include "trace/write/region_names.h"

#include "base/array.h"
#include "base/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME    1024
#define PART_PREFIX "thread of " /* before the name of the region */

static const struct trace_openmp *sum_at(const struct live_table *sums, size_t i)
{
	return (const struct trace_openmp *)sums->entries + i;
}

static uint64_t frame_of(const struct trace_openmp *sum)
{
	return sum->module < FRAME_MAX_MODULES ? frame_make((uint16_t)sum->module, sum->offset) : 0;
}

void region_names_add_frames(struct frame_set *frames, const struct tables *tables)
{
	struct live_table sums = tables_section(tables, TRACE_OPENMP);

	for (size_t i = 0; i < sums.nr; i++)
		if (sum_at(&sums, i)->module)
			frame_set_add(frames, frame_of(sum_at(&sums, i)));
}

static const char *string_of(const struct trace_names *names, uint32_t offset)
{
	return offset && offset >= names->string_base
	               ? names->strings.memory + (offset - names->string_base)
	               : "";
}

/* Returns the symbol around a frame, or NULL. */
static const struct trace_symbol *find_symbol(const struct trace_names *names, uint64_t frame)
{
	const size_t behind =
		ARRAY_PARTITION(names->symbols, names->nr, entry,
	                        frame_make((uint16_t)entry->module, entry->lo) <= frame);
	const struct trace_symbol *symbol = behind ? &names->symbols[behind - 1] : NULL;

	return symbol && symbol->module == frame_module(frame) && frame_offset(frame) < symbol->hi
	               ? symbol
	               : NULL;
}

/* Returns the innermost source of a frame, or NULL. */
static const struct trace_source *find_source(const struct trace_names *names, uint64_t frame)
{
	const struct source_table *table = &names->lines;
	const size_t behind =
		ARRAY_PARTITION(table->lines, table->nr_lines, entry,
	                        frame_make((uint16_t)entry->module, entry->offset) <= frame);
	const struct trace_line *line = behind ? &table->lines[behind - 1] : NULL;

	return line && line->module == frame_module(frame) && line->source
	               ? &table->sources[line->source - 1]
	               : NULL;
}

/* Compilers move the code of a region into a function that has the name of the one around it. */
static size_t outer_size(const char *function)
{
	static const char *const marks[] = {" (omp region ", "._omp_fn.", ".omp_outlined",
	                                    ".extracted"};
	size_t size = strlen(function);

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *at = strstr(function, marks[i]);

		if (at && at > function && (size_t)(at - function) < size)
			size = (size_t)(at - function);
	}
	return size;
}

static uint32_t put_name(struct trace_names *names, const char *name)
{
	uint32_t offset;

	if (string_pool_put(&names->strings, name, &offset))
		return names->string_base + offset;
	names->refused++;
	return 0;
}

/* "parallel main iterate.c:120"; function and file are known apart, too. */
static void name_region(struct trace_region *region, struct trace_names *names, uint64_t frame)
{
	const struct trace_symbol *symbol = find_symbol(names, frame);
	const struct trace_source *source = symbol ? find_source(names, frame) : NULL;
	const char *function = symbol ? string_of(names, symbol->name) : "";
	char text[MAX_NAME];
	uint32_t name;
	int size;

	if (!*function)
		return;
	if (source && source->function)
		function = string_of(names, source->function);
	size = snprintf(text, sizeof(text) / 2, "parallel %.*s", (int)outer_size(function),
	                function);
	if (size >= (int)sizeof(text) / 2)
		size = (int)sizeof(text) / 2 - 1;
	if (source && source->line) {
		const char *file = string_of(names, source->file), *base = strrchr(file, '/');

		snprintf(text + size, sizeof(text) - (size_t)size, " %.256s:%u",
		         base ? base + 1 : file, source->line);
		region->file = source->file;
		region->line = source->line;
	}
	name = put_name(names, text);
	if (name)
		region->name = name;
}

static const char *raw_name(const struct tables *tables, const struct trace_region *region)
{
	struct live_table strings = tables_section(tables, TRACE_STRINGS);

	return region->name < strings.nr ? (const char *)strings.entries + region->name : "";
}

/* Returns the region whose threads a region of the class TRACE_TEAM_PART is for, or NULL. */
static const struct trace_region *find_whole(const struct tables *tables, const char *part,
                                             const struct trace_region *regions)
{
	struct live_table known = tables_section(tables, TRACE_REGIONS);
	const struct trace_region *entries = known.entries;
	const char *name = strncmp(part, PART_PREFIX, strlen(PART_PREFIX)) != 0
	                           ? part
	                           : part + strlen(PART_PREFIX);

	for (size_t i = 0; i < known.nr; i++)
		if (entries[i].region_class == TRACE_PARALLEL &&
		    !strcmp(raw_name(tables, &entries[i]), name))
			return &regions[i];
	return NULL;
}

static void name_part(struct trace_region *part, struct trace_names *names,
                      const struct trace_region *whole)
{
	const char *name = string_of(names, whole->name);
	char text[MAX_NAME + sizeof(PART_PREFIX)];

	if (!*name)
		return;
	snprintf(text, sizeof(text), PART_PREFIX "%s", name);
	part->name = put_name(names, text) ?: part->name;
	part->file = whole->file;
	part->line = whole->line;
}

static void name_parts(struct trace_region *regions, size_t nr, struct trace_names *names,
                       const struct tables *tables)
{
	for (size_t i = 0; i < nr; i++) {
		const struct trace_region *whole =
			regions[i].region_class == TRACE_TEAM_PART
				? find_whole(tables, raw_name(tables, &regions[i]), regions)
				: NULL;

		if (whole)
			name_part(&regions[i], names, whole);
	}
}

int region_names_init(struct trace_region **regions, struct trace_names *names,
                      const struct tables *tables)
{
	struct live_table sums = tables_section(tables, TRACE_OPENMP);
	struct live_table known = tables_section(tables, TRACE_REGIONS);

	*regions = NULL;
	if (!sums.nr || !known.nr || !names->strings.memory)
		return 0;
	*regions = malloc(known.nr * sizeof(**regions));
	if (!*regions)
		return -ENOMEM;
	memcpy(*regions, known.entries, known.nr * sizeof(**regions));
	for (size_t i = 0; i < sums.nr; i++) {
		const struct trace_openmp *sum = sum_at(&sums, i);
		struct trace_region *region = *regions + sum->region;

		if (sum->module && sum->region < known.nr && !region->line)
			name_region(region, names, frame_of(sum));
	}
	name_parts(*regions, known.nr, names, tables);
	return 0;
}
