#include "output/report/code_tables.h"

#include "base/frame.h"
#include "output/profile/frame_names.h"

#include <string.h>

/* Text leaves the cells of code without samples empty. */
static void put_weights(struct table *table, const struct annotation *annotation, uint64_t self,
                        uint64_t samples)
{
	if (table->json || samples) {
		table_share(table, self, annotation->self);
		table_number(table, samples);
	} else {
		table_none(table);
		table_none(table);
	}
}

static void put_position(struct table *table, const struct annotation *annotation, uint32_t file,
                         uint32_t line)
{
	table_text(table, file ? trace_string(annotation->trace, file) : NULL);
	table_known(table, line, line);
}

const struct column line_columns[] = {
	{NULL, "file", COLUMN_NAME, 0, NULL},     {NULL, "line", COLUMN_COUNT, 0, NULL},
	{"share", "self", COLUMN_SHARE, 8, NULL}, {"samples", "samples", COLUMN_COUNT, 8, NULL},
	{"line", NULL, COLUMN_COUNT, 6, NULL},    {NULL, "source", COLUMN_NAME, 0, NULL},
	{NULL, "problem", COLUMN_NAME, 0, NULL},  {"source", NULL, COLUMN_NAME, 0, NULL},
	{NULL, NULL, COLUMN_END, 0, NULL},
};

void put_line_cells(struct table *table, const struct annotation *annotation,
                    const struct hot_line *line, const char *source, const char *problem)
{
	table_begin(table);
	put_position(table, annotation, line->file, line->line);
	put_weights(table, annotation, line->self, line->samples);
	if (line->line)
		table_number(table, line->line);
	else
		table_text(table, "?");
	table_text(table, source);
	table_text(table, problem);
}

void make_code_columns(struct column columns[CODE_COLUMNS], const struct hot_code *code,
                       bool has_text)
{
	const struct column made[CODE_COLUMNS] = {
		{NULL, "offset", COLUMN_COUNT, 0, NULL},
		{"share", "self", COLUMN_SHARE, 8, NULL},
		{"samples", "samples", COLUMN_COUNT, 8, NULL},
		{"address", NULL, COLUMN_ADDRESS, code->address >> 32 ? 16 : 8, NULL},
		{has_text ? "instruction" : NULL, "text", COLUMN_NAME, 40, NULL},
		{NULL, "file", COLUMN_NAME, 0, NULL},
		{NULL, "line", COLUMN_COUNT, 0, NULL},
		{NULL, NULL, COLUMN_END, 0, NULL},
	};

	memcpy(columns, made, sizeof(made));
}

void put_code_cells(struct table *table, const struct annotation *annotation,
                    const struct hot_code *code, const struct hot_address *row,
                    struct disassembler *disassembler)
{
	const struct trace_symbol *symbol = trace_symbol(annotation->trace, code->symbol);
	uint64_t address = frame_address(annotation->trace, row->frame);
	char text[INSTRUCTION_SIZE];

	annotation_row_text(code, symbol, row, disassembler, text);
	table_begin(table);
	table_number(table, address);
	put_weights(table, annotation, row->self, row->samples);
	table_number(table, address);
	table_text(table, *text ? text : NULL);
	put_position(table, annotation, row->file, row->line);
}
