#include "output/report/code_tables.h"
#include "output/report/report_annotation.h"
#include "output/views/annotation.h"
#include "output/profile/frame_names.h"
#include "output/report/report_columns.h"
#include "output/report/report_text.h"
#include "output/text/text.h"

#include "base/array.h"
#include "base/frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define AROUND 2 /* rows that are shown before and after hot ones */

struct annotation_text {
	FILE *to;
	const struct report_options *options;
	const struct annotation *annotation;
};

static void put_name(const struct annotation_text *out, const char *text)
{
	fputs(paint(out->options, BOLD), out->to);
	text_put(out->to, text, 0);
	fputs(paint(out->options, PLAIN), out->to);
}

static void put_titles(const struct annotation_text *out, struct table *table)
{
	if (out->options->style.quiet)
		return;
	fputs(paint(out->options, BOLD), out->to);
	table_titles(table);
	fprintf(out->to, "%s\n", paint(out->options, PLAIN));
}

static void put_gap(const struct annotation_text *out)
{
	fprintf(out->to, "%8s  %8s  %s...%s\n", "", "", paint(out->options, DIM),
	        paint(out->options, PLAIN));
}

static void put_rest(const struct annotation_text *out, uint64_t self, uint32_t nr, const char *one,
                     const char *many)
{
	if (nr && !out->options->style.quiet)
		fprintf(out->to, "%s%7.2f%%  %8s  in %u more %s; --all shows them%s\n",
		        paint(out->options, DIM), percent((double)self, out->annotation->self), "",
		        nr, nr == 1 ? one : many, paint(out->options, PLAIN));
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Tabs as blanks: the columns before the text would shift them. */
static void put_source(const struct annotation_text *out, const char *text)
{
	unsigned width = out->options->style.width, column = 0,
		 room = width > 40 ? width - 28 : MIN_COLUMN;
	char *expanded = text ? malloc(8 * strlen(text) + 1) : NULL;

	for (; expanded && *text; text++) {
		if (*text != '\t')
			expanded[column++] = *text;
		else
			do
				expanded[column++] = ' ';
			while (column % 8);
	}
	if (expanded && column) {
		expanded[column] = '\0';
		fputs("  ", out->to);
		text_put(out->to, expanded, width ? room : 0);
	}
	free(expanded);
}

/* The weight and the number of source lines that are not shown. */
struct rest {
	uint64_t self;
	uint32_t nr;
};

/* A file of the source as far as it is here, and the lines of it that samples were in. */
struct file_text {
	struct source_text source;
	const struct hot_line *lines;
	uint32_t nr;
	struct rest *rest; /* of all files */
	struct table *table;
};

static void put_line(const struct annotation_text *out, const struct file_text *file,
                     const struct hot_line *line)
{
	put_line_cells(file->table, out->annotation, line, NULL, NULL);
	put_source(out, source_text_line(&file->source, line->line));
	table_end(file->table);
	if (!line->samples)
		return;
	file->rest->self -= line->self;
	file->rest->nr--;
}

static void put_context(const struct annotation_text *out, const struct file_text *file,
                        uint32_t from, uint32_t to)
{
	for (; from < to && source_text_line(&file->source, from); from++) {
		size_t i = ARRAY_PARTITION(file->lines, file->nr, line, line->line < from);
		bool hot = i < file->nr && file->lines[i].line == from;

		put_line(out, file, hot ? &file->lines[i] : &(struct hot_line){.line = from});
	}
}

/* Puts the lines between the last one shown and the next one. */
static void put_between(const struct annotation_text *out, const struct file_text *file,
                        uint32_t last, uint32_t next)
{
	uint32_t begin = next > AROUND ? next - AROUND : 1;

	if (last && begin <= last + 1 + AROUND) {
		put_context(out, file, last + 1, next);
		return;
	}
	if (last) {
		put_context(out, file, last + 1, last + 1 + AROUND);
		put_gap(out);
	}
	put_context(out, file, begin, next);
}

static void put_file_lines(const struct annotation_text *out, const struct file_text *file)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < file->nr; i++) {
		const struct hot_line *line = &file->lines[i];

		if (!line->hottest)
			continue;
		if (line->line)
			put_between(out, file, last, line->line);
		put_line(out, file, line);
		last = line->line;
	}
	if (last)
		put_context(out, file, last + 1, last + 1 + AROUND);
}

static bool any_hottest(const struct annotation *annotation, uint32_t first, uint32_t end)
{
	while (first < end && !annotation->lines[first].hottest)
		first++;
	return first < end;
}

static void put_file(const struct annotation_text *out, struct table *table, uint32_t first,
                     uint32_t end, struct rest *rest)
{
	const struct annotation *annotation = out->annotation;
	const char *path = trace_string(annotation->trace, annotation->lines[first].file);
	struct file_text file = {
		.lines = &annotation->lines[first],
		.nr = end - first,
		.rest = rest,
		.table = table,
	};
	const char *problem = annotation_source(annotation, file.lines, &file.source);

	put_name(out, *path ? path : "no line is known");
	if (*path && problem)
		fprintf(out->to, ": %s", problem);
	fputc('\n', out->to);
	put_file_lines(out, &file);
	source_text_fini(&file.source);
}

static void put_lines(const struct annotation_text *out)
{
	const struct annotation *annotation = out->annotation;
	struct table table = {.columns = line_columns, .to = out->to};
	struct rest rest = {.nr = annotation->nr_lines};
	uint32_t end;

	if (annotation->nr_lines == 1 && !annotation->lines[0].file) {
		fputs("no lines are known: its module has no debug information that can be read\n",
		      out->to);
		return;
	}
	for (uint32_t i = 0; i < annotation->nr_lines; i++)
		rest.self += annotation->lines[i].self;
	put_titles(out, &table);
	for (uint32_t first = 0; first < annotation->nr_lines; first = end) {
		end = annotation_file_end(annotation, first);
		if (any_hottest(annotation, first, end))
			put_file(out, &table, first, end, &rest);
	}
	put_rest(out, rest.self, rest.nr, "line", "lines");
}

/* --- instructions ----------------------------------------------------------------------------- */

struct code_text {
	const struct hot_code *code;
	const struct trace_symbol *symbol;
	struct hot_address *rows;
	uint32_t nr;
	struct disassembler *disassembler;
	struct table *table;
};

/* blanks: those that pad the instruction. */
static void put_position(const struct annotation_text *out, const struct hot_address *row,
                         unsigned blanks)
{
	const char *path = trace_string(out->annotation->trace, row->file);

	fprintf(out->to, "%*s  %s# ", (int)blanks, "", paint(out->options, DIM));
	text_put(out->to, text_file_name(path), 0);
	fprintf(out->to, ":%u%s", row->line, paint(out->options, PLAIN));
}

static void put_row(const struct annotation_text *out, const struct code_text *code,
                    const struct hot_address *row)
{
	put_code_cells(code->table, out->annotation, code->code, row, code->disassembler);
	if (row->samples && row->file)
		put_position(out, row, code->table->due);
	table_end(code->table);
}

static bool near_hot(const struct annotation_text *out, const struct code_text *code, uint32_t i)
{
	uint32_t from = i > AROUND ? i - AROUND : 0;

	if (out->options->query.all)
		return true;
	if (!code->disassembler)
		return code->rows[i].hottest;
	for (uint32_t k = from; k <= i + AROUND && k < code->nr; k++)
		if (code->rows[k].hottest)
			return true;
	return false;
}

static void put_rows(const struct annotation_text *out, const struct code_text *code)
{
	uint64_t left = 0;
	uint32_t nr = 0;
	bool gap = false, any = false;

	for (uint32_t i = 0; i < code->nr; i++) {
		if (near_hot(out, code, i)) {
			if (gap && any && code->disassembler)
				put_gap(out);
			put_row(out, code, &code->rows[i]);
			any = true;
			gap = false;
			continue;
		}
		gap = true;
		nr += code->rows[i].samples != 0;
		left += code->rows[i].self;
	}
	if (code->disassembler)
		put_rest(out, left, nr, "instruction", "instructions");
	else
		put_rest(out, left, nr, "address", "addresses");
}

static void put_code_title(const struct annotation_text *out, const struct code_text *code)
{
	const struct trace *trace = out->annotation->trace;
	uint64_t frame = frame_make((uint16_t)code->symbol->module, code->symbol->lo);
	const char *problem = annotation_problem(code->code, code->disassembler);
	char text[FRAME_TEXT_SIZE];
	const char *symbol;

	fputc('\n', out->to);
	snprintf(text, sizeof(text), "%s [%" PRIx64 ", %" PRIx64 ")",
	         frame_module_text(trace, frame), code->code->address,
	         code->code->address + (code->symbol->hi - code->symbol->lo));
	put_name(out, text);
	symbol = frame_symbol(trace, frame, text);
	if (strcmp(symbol, out->options->query.function) != 0) {
		fputs(", a part of ", out->to);
		report_cell_put(out->to, PROFILE_BY_SYMBOL, symbol,
		                room_behind(out->options, sizeof(", a part of")));
	}
	if (problem)
		fprintf(out->to, ": %s", problem);
	fputc('\n', out->to);
}

static int put_code(const struct annotation_text *out, const struct hot_code *hot)
{
	const struct trace *trace = out->annotation->trace;
	struct column columns[CODE_COLUMNS];
	struct table table = {.columns = columns, .to = out->to};
	struct code_text code = {hot, trace_symbol(trace, hot->symbol), .table = &table};

	code.rows = annotation_rows(out->annotation, hot, &code.nr, &code.disassembler);
	if (!code.rows)
		return -ENOMEM;
	make_code_columns(columns, hot, code.disassembler);
	put_code_title(out, &code);
	put_titles(out, &table);
	put_rows(out, &code);
	disassembler_free(code.disassembler);
	free(code.rows);
	return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void put_head(const struct annotation_text *out, const struct profile *profile)
{
	const struct annotation *annotation = out->annotation;

	fputs("code of ", out->to);
	report_cell_put(out->to, PROFILE_BY_SYMBOL, out->options->query.function,
	                room_behind(out->options, sizeof("code of")));
	if (!annotation->samples) {
		fputs(": no sample was taken in it\n", out->to);
		return;
	}
	fprintf(out->to, ": %.2f%% of all (%llu sample%s)",
	        percent((double)annotation->self, profile->total),
	        (unsigned long long)annotation->samples, plural(annotation->samples));
	fputs(out->options->query.no_inline ? "\n\n" : ", with what was inlined into it\n\n",
	      out->to);
}

int report_annotation_text(FILE *to, const struct profile *profile,
                           const struct report_options *options)
{
	struct annotation annotation;
	struct annotation_text out = {to, options, &annotation};
	int err = annotation_init(&annotation, profile, &options->query);

	if (!err && !options->style.quiet)
		put_head(&out, profile);
	if (!err && annotation.samples) {
		put_lines(&out);
		for (uint32_t i = 0; i < annotation.nr_codes && !err; i++)
			err = put_code(&out, &annotation.codes[i]);
		if (annotation.nr_more && !options->style.quiet)
			fprintf(to, "\n%7.2f%% in %u more function%s that it was inlined into\n",
			        percent((double)annotation.more_self, annotation.self),
			        annotation.nr_more, plural(annotation.nr_more));
	}
	annotation_fini(&annotation);
	return err;
}
