#include "output/views/annotation.h"
#include "output/profile/frame_names.h"
#include "output/text/json_text.h"
#include "output/report/report_annotation.h"

#include "base/frame.h"

#include <errno.h>
#include <stdlib.h>

static void add_weights(struct json_object *object, uint64_t self, uint64_t samples)
{
	json_add_number(object, "self", self);
	json_add_number(object, "samples", samples);
}

static void add_place(const struct annotation *annotation, struct json_object *object,
                      uint32_t file, uint32_t line)
{
	json_add_text(object, "file", file ? trace_string(annotation->trace, file) : NULL);
	json_add(object, "line", line ? json_number(line) : NULL);
}

static void put_line(struct json_out *out, const struct annotation *annotation,
                     const struct hot_line *line, const struct source_text *source,
                     const char *problem)
{
	const char *text = source_text_line(source, line->line);
	struct json_object *object = json_new();

	add_place(annotation, object, line->file, line->line);
	add_weights(object, line->self, line->samples);
	json_add_text(object, "source", text);
	json_add_text(object, "problem", problem);
	json_put(out, object);
}

static void put_lines(struct json_out *out, const struct annotation *annotation)
{
	const char *comma = "";
	uint32_t end;

	fputs("\"lines\":[", out->to);
	for (uint32_t i = 0; i < annotation->nr_lines; i = end) {
		struct source_text source;
		const char *problem;

		end = annotation_file_end(annotation, i);
		problem = annotation_source(annotation, &annotation->lines[i], &source);
		for (uint32_t k = i; k < end; k++) {
			if (!annotation->lines[k].hottest)
				continue;
			fputs(comma, out->to);
			put_line(out, annotation, &annotation->lines[k], &source, problem);
			comma = ",";
		}
		source_text_fini(&source);
	}
	fputc(']', out->to);
}

static uint64_t address_in(const struct annotation *annotation, const struct hot_code *code,
                           uint32_t offset)
{
	const struct trace_symbol *symbol = trace_symbol(annotation->trace, code->symbol);

	return frame_address(annotation->trace, frame_make((uint16_t)symbol->module, offset));
}

static struct json_object *code_object(const struct annotation *annotation,
                                       const struct hot_code *code,
                                       const struct disassembler *disassembler)
{
	const struct trace *trace = annotation->trace;
	const struct trace_symbol *symbol = trace_symbol(trace, code->symbol);
	const struct trace_module *module = trace_module(trace, symbol->module);
	const uint64_t frame = frame_make((uint16_t)symbol->module, symbol->lo);
	const char *problem = annotation_problem(code, disassembler);
	struct json_object *object = json_new();
	char text[FRAME_TEXT_SIZE];

	json_add_text(object, "symbol", frame_symbol(trace, frame, text));
	json_add_text(object, "module", module ? trace_string(trace, module->path) : "");
	json_add_number(object, "begin", address_in(annotation, code, symbol->lo));
	json_add_number(object, "end", address_in(annotation, code, symbol->hi));
	json_add_number(object, "self", code->self);
	json_add_text(object, "problem", problem);
	return object;
}

static int put_code(struct json_out *out, const struct annotation *annotation,
                    const struct hot_code *code, bool all)
{
	const struct trace_symbol *symbol = trace_symbol(annotation->trace, code->symbol);
	struct disassembler *disassembler;
	char text[INSTRUCTION_SIZE];
	const char *comma = "";
	uint32_t nr;
	struct hot_place *rows = annotation_rows(annotation, code, &nr, &disassembler);

	if (!rows)
		return -ENOMEM;
	fputc('{', out->to);
	json_put_members(out, code_object(annotation, code, disassembler));
	fputs("\"instructions\":[", out->to);
	for (uint32_t i = 0; i < nr; i++) {
		struct json_object *object;

		if (!rows[i].hottest && !all)
			continue;
		object = json_new();
		annotation_row_text(code, symbol, &rows[i], disassembler, text);
		json_add_number(object, "offset", frame_address(annotation->trace, rows[i].frame));
		add_weights(object, rows[i].self, rows[i].samples);
		json_add_text(object, "text", *text ? text : NULL);
		add_place(annotation, object, rows[i].file, rows[i].line);
		fputs(comma, out->to);
		json_put(out, object);
		comma = ",";
	}
	fputs("]}", out->to);
	disassembler_free(disassembler);
	free(rows);
	return 0;
}

static int put_codes(struct json_out *out, const struct annotation *annotation, bool all)
{
	int err = 0;

	fputs("\"code\":[", out->to);
	for (uint32_t i = 0; i < annotation->nr_codes && !err; i++) {
		fputs(i ? "," : "", out->to);
		err = put_code(out, annotation, &annotation->codes[i], all);
	}
	fputc(']', out->to);
	return err;
}

int report_annotation_json(struct json_out *out, const struct profile *profile,
                           const struct report_options *options)
{
	struct json_object *function = json_new();
	struct annotation annotation;
	int err = annotation_init(&annotation, profile, options);

	json_add_text(function, "symbol", options->function);
	add_weights(function, annotation.self, annotation.samples);
	json_put_member(out, "function", function);
	fputc(',', out->to);
	put_lines(out, &annotation);
	fputc(',', out->to);
	if (!err)
		err = put_codes(out, &annotation, options->all);
	annotation_fini(&annotation);
	return err;
}
