#include "trace/write/source_table.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void source_table_fini(struct source_table *table)
{
	free(table->sources);
	free(table->lines);
	hash_slots_fini(&table->found);
	*table = (struct source_table){0};
}

int source_table_put(struct source_table *table, const struct trace_source *source,
                     uint32_t *number)
{
	uint32_t hash = (uint32_t)XXH3_64bits(source, sizeof(*source));
	const struct hash_slot *slot = hash_slots_first(&table->found, hash);
	struct trace_source *grown;

	while (slot && memcmp(&table->sources[slot->node - 1], source, sizeof(*source)) != 0)
		slot = hash_slots_next(&table->found, slot);
	*number = slot ? slot->node : 0;
	if (slot)
		return 0;
	if (table->nr_sources == SOURCE_TABLE_MAX) {
		table->refused++;
		return 0;
	}
	grown = array_grow(table->sources, table->nr_sources, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	table->sources = grown;
	if (hash_slots_put(&table->found, (uint32_t)table->nr_sources, hash))
		return -ENOMEM;
	table->sources[table->nr_sources++] = *source;
	*number = (uint32_t)table->nr_sources;
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
