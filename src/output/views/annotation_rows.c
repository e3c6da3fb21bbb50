#include "output/views/annotation.h"

#include "base/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct hot_address *address_rows(const struct annotation *annotation,
                                        const struct hot_code *code)
{
	struct hot_address *rows = calloc(code->nr + 1UL, sizeof(*rows));

	if (rows)
		memcpy(rows, &annotation->addresses[code->first], code->nr * sizeof(*rows));
	return rows;
}

/* Counts instructions from a frame on, and notes them where rows are given. */
static uint32_t sweep(const struct hot_code *code, uint64_t start,
                      struct disassembler *disassembler, struct hot_address *rows)
{
	char text[INSTRUCTION_SIZE];
	uint32_t nr = 0;
	size_t size;

	for (size_t at = 0; at < code->code.size; at += size, nr++) {
		size = disassembler_next(disassembler, code->code.bytes + at, code->code.size - at,
		                         code->address + at, text);
		if (rows)
			rows[nr] =
				(struct hot_address){.frame = start + at, .size = (uint32_t)size};
	}
	return nr;
}

/* An address that no instruction begins at belongs to the one around it. */
static void add_addresses(const struct annotation *annotation, const struct hot_code *code,
                          struct hot_address *rows, uint32_t nr)
{
	uint32_t row = 0;

	for (uint32_t i = 0; i < code->nr && nr; i++) {
		const struct hot_address *address = &annotation->addresses[code->first + i];

		while (row + 1 < nr && rows[row + 1].frame <= address->frame)
			row++;
		rows[row].self += address->self;
		rows[row].samples += address->samples;
		rows[row].file = address->file;
		rows[row].line = address->line;
		rows[row].hottest |= address->hottest;
	}
}

struct hot_address *annotation_rows(const struct annotation *annotation,
                                    const struct hot_code *code, uint32_t *nr,
                                    struct disassembler **disassembler)
{
	const struct trace_symbol *symbol = trace_symbol(annotation->trace, code->symbol);
	uint64_t start = frame_make((uint16_t)symbol->module, symbol->lo);
	struct hot_address *rows;

	*disassembler = code->err ? NULL : disassembler_new(code->code.machine);
	*nr = code->nr;
	if (!*disassembler)
		return address_rows(annotation, code);
	rows = calloc(sweep(code, start, *disassembler, NULL) + 1UL, sizeof(*rows));
	if (rows) {
		*nr = sweep(code, start, *disassembler, rows);
		add_addresses(annotation, code, rows, *nr);
		return rows;
	}
	disassembler_free(*disassembler);
	*disassembler = NULL;
	return NULL;
}

void annotation_row_text(const struct hot_code *code, const struct trace_symbol *symbol,
                         const struct hot_address *row, struct disassembler *disassembler,
                         char text[INSTRUCTION_SIZE])
{
	size_t at = frame_offset(row->frame) - symbol->lo;

	text[0] = '\0';
	if (row->size && disassembler)
		disassembler_next(disassembler, code->code.bytes + at, code->code.size - at,
		                  code->address + at, text);
}

const char *annotation_problem(const struct hot_code *code, const struct disassembler *disassembler)
{
	switch (code->err) {
	case 0:
		if (disassembler)
			return NULL;
#ifdef HAVE_CAPSTONE
		return "its machine's code cannot be disassembled here";
#else
		return "this adaptrace was built without a disassembler";
#endif
	case -ENOTSUP:
		return "its code is in no file";
	case -ETIMEDOUT:
		return "its file system does not answer";
	case -ESTALE:
		return "its file has changed since";
	case -ENOENT:
	case -ENOTDIR:
		return "its file is gone";
	case -EACCES:
	case -EPERM:
		return "its file may not be read";
	case -ENODATA:
		return "its file has no such code";
	default:
		return "its file cannot be read";
	}
}
