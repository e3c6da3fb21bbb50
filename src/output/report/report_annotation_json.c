#include "output/views/annotation.h"
#include "output/profile/frame_names.h"
#include "output/text/json_writer.h"
#include "output/report/code_tables.h"
#include "output/report/report_annotation.h"

#include "base/frame.h"

#include <errno.h>
#include <stdlib.h>

static void put_weights(struct json_writer *json, uint64_t self, uint64_t samples)
{
	json_number(json, "self", self);
	json_number(json, "samples", samples);
}

static void put_line(struct table *table, const struct annotation *annotation,
                     const struct hot_line *line, const struct source_text *source,
                     const char *problem)
{
	put_line_cells(table, annotation, line, source_text_line(source, line->line), problem);
	table_end(table);
}

static void put_lines(struct json_writer *json, const struct annotation *annotation)
{
	struct table table = {.columns = line_columns, .json = json};
	uint32_t end;

	json_begin_list(json, "lines");
	for (uint32_t i = 0; i < annotation->nr_lines; i = end) {
		struct source_text source;
		const char *problem;

		end = annotation_file_end(annotation, i);
		problem = annotation_source(annotation, &annotation->lines[i], &source);
		for (uint32_t k = i; k < end; k++)
			if (annotation->lines[k].hottest)
				put_line(&table, annotation, &annotation->lines[k], &source,
				         problem);
		source_text_fini(&source);
	}
	json_end_list(json);
}

static uint64_t address_in(const struct annotation *annotation, const struct hot_code *code,
                           uint32_t offset)
{
	const struct trace_symbol *symbol = trace_symbol(annotation->trace, code->symbol);

	return frame_address(annotation->trace, frame_make((uint16_t)symbol->module, offset));
}

static void put_code_head(struct json_writer *json, const struct annotation *annotation,
                          const struct hot_code *code, const struct disassembler *disassembler)
{
	const struct trace *trace = annotation->trace;
	const struct trace_symbol *symbol = trace_symbol(trace, code->symbol);
	const struct trace_module *module = trace_module(trace, symbol->module);
	const uint64_t frame = frame_make((uint16_t)symbol->module, symbol->lo);
	char text[FRAME_TEXT_SIZE];

	json_text(json, "symbol", frame_symbol(trace, frame, text));
	json_text(json, "module", module ? trace_string(trace, module->path) : "");
	json_number(json, "begin", address_in(annotation, code, symbol->lo));
	json_number(json, "end", address_in(annotation, code, symbol->hi));
	json_number(json, "self", code->self);
	json_text(json, "problem", annotation_problem(code, disassembler));
}

static int put_code(struct json_writer *json, const struct annotation *annotation,
                    const struct hot_code *code, bool all)
{
	struct column columns[CODE_COLUMNS];
	struct table table = {.columns = columns, .json = json};
	struct disassembler *disassembler;
	uint32_t nr;
	struct hot_address *rows = annotation_rows(annotation, code, &nr, &disassembler);

	if (!rows)
		return -ENOMEM;
	json_begin(json, NULL);
	put_code_head(json, annotation, code, disassembler);
	make_code_columns(columns, code, disassembler);
	json_begin_list(json, "instructions");
	for (uint32_t i = 0; i < nr; i++) {
		if (!rows[i].hottest && !all)
			continue;
		put_code_cells(&table, annotation, code, &rows[i], disassembler);
		table_end(&table);
	}
	json_end_list(json);
	json_end(json);
	disassembler_free(disassembler);
	free(rows);
	return 0;
}

int report_annotation_json(struct json_writer *json, const struct profile *profile,
                           const struct view_query *query)
{
	struct annotation annotation;
	int err = annotation_init(&annotation, profile, query);

	json_begin(json, "function");
	json_text(json, "symbol", query->function);
	put_weights(json, annotation.self, annotation.samples);
	json_end(json);
	put_lines(json, &annotation);
	json_begin_list(json, "code");
	for (uint32_t i = 0; i < annotation.nr_codes && !err; i++)
		err = put_code(json, &annotation, &annotation.codes[i], query->all);
	json_end_list(json);
	annotation_fini(&annotation);
	return err;
}
