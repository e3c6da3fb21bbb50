#include "output/source_table.h"

#include "symbolize/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define FIRST_ROOM 1024

void source_table_fini(struct source_table *table)
{
	free(table->sources);
	free(table->lines);
	free(table->slots);
	*table = (struct source_table){0};
}

/* The slot of the source, or the free one where it belongs. */
static uint32_t *slot_find(const struct source_table *table, const struct trace_source *source)
{
	size_t i = XXH3_64bits(source, sizeof(*source)) & (table->nr_slots - 1);

	while (table->slots[i] &&
	       memcmp(&table->sources[table->slots[i] - 1], source, sizeof(*source)) != 0)
		i = (i + 1) & (table->nr_slots - 1);
	return &table->slots[i];
}

/* Twice as many slots as sources, and as much room for these. */
static int sources_grow(struct source_table *table)
{
	size_t room = table->nr_slots ? table->nr_slots : FIRST_ROOM;
	struct trace_source *sources = reallocarray(table->sources, room, sizeof(*sources));
	uint32_t *slots = calloc(2 * room, sizeof(*slots));

	if (sources)
		table->sources = sources;
	if (!sources || !slots) {
		free(slots);
		return -ENOMEM;
	}
	free(table->slots);
	table->slots = slots;
	table->nr_slots = 2 * room;
	for (size_t i = 0; i < table->nr_sources; i++)
		*slot_find(table, &sources[i]) = (uint32_t)i + 1;
	return 0;
}

int source_table_put(struct source_table *table, const struct trace_source *source,
                     uint32_t *number)
{
	uint32_t *slot;

	*number = 0;
	if (2 * table->nr_sources >= table->nr_slots && sources_grow(table))
		return -ENOMEM;
	slot = slot_find(table, source);
	if (!*slot) {
		if (table->nr_sources == SOURCE_TABLE_MAX) {
			table->refused++;
			return 0;
		}
		table->sources[table->nr_sources++] = *source;
		*slot = (uint32_t)table->nr_sources;
	}
	*number = *slot;
	return 0;
}

static struct trace_line *lines_add(struct source_table *table)
{
	struct trace_line *lines = array_grow(table->lines, table->nr_lines, sizeof(*lines));

	if (!lines)
		return NULL;
	table->lines = lines;
	return &lines[table->nr_lines++];
}

int source_table_line(struct source_table *table, const struct trace_line *line, uint32_t lo)
{
	const struct trace_line *last = table->nr_lines ? &table->lines[table->nr_lines - 1] : NULL;
	struct trace_line *added;
	uint32_t source = 0;

	if (last && last->module == line->module && last->offset >= lo)
		source = last->source;
	if (source == line->source)
		return 0;
	if (table->nr_lines == SOURCE_TABLE_MAX) {
		table->refused++;
		return 0;
	}
	added = lines_add(table);
	if (!added)
		return -ENOMEM;
	*added = *line;
	return 0;
}
