#include "symbolize/dwarf/line_table.h"

#include "base/array.h"
#include "symbolize/dwarf/dwarf_abbrev.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The largest units are put together from some 10,000 files. */
#define MAX_FILES (1u << 18)

/* A program as its header describes it. */
struct line_program {
	struct dwarf_unit unit; /* for the forms in the header, which may have sizes of its own */
	struct line_table *table;
	struct cursor header, code;
	uint8_t min_length, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *operands; /* of standard opcodes, from 1 on: how many */
	line_fn *fn;
	void *arg;
	int err;
};

/* The registers of the machine that runs it, and its latest row. */
struct line_state {
	uint64_t addr, file, row_addr, row_file;
	uint64_t line, row_line; /* wraps, as what a program adds may be negative */
	bool has_row;
	bool has_code; /* the sequence: it was told where, and the linker kept that */
};

/* -- files ------------------------------------------------------------------------------------- */

static int folder_add(struct line_table *table, const char *name)
{
	if (table->nr_folders == MAX_FILES)
		return -EBADMSG;
	return ARRAY_ADD(table->folders, table->nr_folders, name);
}

static int file_add(struct line_table *table, const struct line_file *file)
{
	if (table->nr_files == MAX_FILES)
		return -EBADMSG;
	return ARRAY_ADD(table->files, table->nr_files, *file);
}

/* A string in place; "" at the end of a list or of the cursor. */
static const char *string_read(const struct line_program *program, struct cursor *cursor)
{
	const char *at = (const char *)cursor->at;

	dwarf_string_pass(program->unit.dwarf, cursor);
	return at && !cursor->bad ? at : "";
}

/* Name, folder, time, size. */
static int file_read(struct line_table *table, struct cursor *cursor, const char *name)
{
	const struct line_file file = {.name = name, .folder = cursor_uleb(cursor)};

	cursor_uleb(cursor);
	cursor_uleb(cursor);
	return file_add(table, &file);
}

static int names_read_4(struct line_program *program)
{
	struct cursor *cursor = &program->header;
	const char *name;
	int err = 0;

	while (!err && *(name = string_read(program, cursor)))
		err = dwarf_step(program->unit.dwarf, 1) ? folder_add(program->table, name)
		                                         : -EBADMSG;
	while (!err && *(name = string_read(program, cursor)))
		err = dwarf_step(program->unit.dwarf, 1) ? file_read(program->table, cursor, name)
		                                         : -EBADMSG;
	return err;
}

#define MAX_FIELDS 16

/* The fields that each entry of a table of folders or files has in version 5. */
struct line_fields {
	size_t nr;
	struct {
		uint64_t content;
		uint16_t form;
	} field[MAX_FIELDS];
};

static bool fields_read(struct cursor *cursor, struct line_fields *fields)
{
	uint64_t form;
	size_t i;

	fields->nr = cursor_uint(cursor, 1);
	if (fields->nr > MAX_FIELDS)
		return false;
	for (i = 0; i < fields->nr; i++) {
		fields->field[i].content = cursor_uleb(cursor);
		form = cursor_uleb(cursor);
		/* Each must take room, else a count of them could be anything. */
		if (form > UINT16_MAX || !dwarf_form_size(form))
			return false;
		fields->field[i].form = (uint16_t)form;
	}
	return !cursor->bad;
}

static bool entry_read(struct line_program *program, const struct line_fields *fields,
                       struct line_file *file)
{
	struct cursor *cursor = &program->header;
	struct dwarf_attr attr;
	const char *in_place;
	size_t i;

	*file = (struct line_file){.name = ""};
	for (i = 0; i < fields->nr; i++) {
		attr.form = fields->field[i].form;
		in_place = (const char *)cursor->at;
		if (!dwarf_step(program->unit.dwarf, 1) ||
		    !dwarf_form_read(&program->unit, cursor, attr.form, &attr.value))
			return false;
		if (fields->field[i].content == DW_LNCT_path)
			file->name = dwarf_form_string(&program->unit, attr, in_place);
		else if (fields->field[i].content == DW_LNCT_directory_index)
			file->folder = attr.value;
		else if (fields->field[i].content == DW_LNCT_MD5 && attr.form == DW_FORM_data16)
			file->md5 = (const uint8_t *)in_place;
	}
	if (!file->name)
		file->name = "";
	return true;
}

/* Folders, then files. */
static int names_read_5(struct line_program *program)
{
	struct line_fields fields;
	struct line_file file;
	unsigned table;
	uint64_t nr;
	int err = 0;

	for (table = 0; table < 2; table++) {
		if (!fields_read(&program->header, &fields))
			return -EBADMSG;
		nr = cursor_uleb(&program->header);
		if (nr && !fields.nr)
			return -EBADMSG;
		for (; nr && !err; nr--) {
			if (!entry_read(program, &fields, &file))
				return -EBADMSG;
			err = table ? file_add(program->table, &file)
			            : folder_add(program->table, file.name);
		}
	}
	return err;
}

struct line_file *line_table_file(const struct line_table *table, uint64_t number)
{
	if (table->version < 5)
		number--; /* and 0 becomes more than there are */
	return number < table->nr_files ? &table->files[number] : NULL;
}

bool line_table_path(const struct line_table *table, const struct line_file *file,
                     char path[PATH_MAX])
{
	const char *directory = table->directory, *folder = NULL;
	uint64_t number = file->folder;
	int size;

	if (table->version < 5)
		number--;
	if (number < table->nr_folders)
		folder = table->folders[number];
	if (folder && (*folder == '/' || !*folder)) {
		directory = *folder ? folder : directory;
		folder = NULL;
	}
	if (*file->name == '/')
		size = snprintf(path, PATH_MAX, "%.*s", PATH_MAX, file->name);
	else
		size = snprintf(path, PATH_MAX, "%.*s%s%.*s%s%.*s", PATH_MAX,
		                directory ? directory : "", directory ? "/" : "", PATH_MAX,
		                folder ? folder : "", folder ? "/" : "", PATH_MAX, file->name);
	return size > 0 && size < PATH_MAX;
}

void line_table_fini(struct line_table *table)
{
	free(table->folders);
	free(table->files);
	*table = (struct line_table){0};
}

/* -- the program ------------------------------------------------------------------------------- */

static bool header_start(struct line_program *program, uint64_t offset)
{
	struct cursor *code = &program->code;
	struct dwarf_unit *unit = &program->unit;
	uint64_t length;

	*code = dwarf_cursor(unit->dwarf, DWARF_LINE, offset);
	if (!dwarf_length(code, &unit->offset_size))
		return false;
	program->table->version = (uint8_t)cursor_uint(code, 2);
	if (program->table->version < 2 || program->table->version > 5)
		return false;
	if (program->table->version == 5)
		cursor_take(code, 2); /* sizes of addresses, and of segments that nobody has */
	length = cursor_uint(code, unit->offset_size);
	program->header = *code;
	if (!cursor_take(code, length))
		return false;
	program->header.end = code->at;
	return true;
}

static bool header_read(struct line_program *program, uint64_t offset)
{
	struct cursor *cursor = &program->header;

	if (!header_start(program, offset))
		return false;
	program->min_length = (uint8_t)cursor_uint(cursor, 1);
	if (program->table->version >= 4)
		cursor_uint(cursor, 1); /* operations an instruction: no machine of ours has two */
	cursor_uint(cursor, 1);
	program->line_base = (int8_t)cursor_uint(cursor, 1);
	program->line_range = (uint8_t)cursor_uint(cursor, 1);
	program->opcode_base = (uint8_t)cursor_uint(cursor, 1);
	if (!program->opcode_base || !program->line_range)
		return false;
	program->operands = cursor_take(cursor, program->opcode_base - 1);
	return !cursor->bad;
}

/* The row before extends to this one. */
static void row_add(struct line_program *program, struct line_state *state)
{
	if (state->has_row && state->row_addr < state->addr)
		program->fn(program->arg, state->row_addr, state->addr,
		            state->row_file <= UINT32_MAX ? (uint32_t)state->row_file : 0,
		            state->row_line <= UINT32_MAX ? (uint32_t)state->row_line : 0);
	state->has_row = state->has_code;
	state->row_addr = state->addr;
	state->row_file = state->file;
	state->row_line = state->line;
}

static void extended_run(struct line_program *program, struct line_state *state)
{
	struct cursor *code = &program->code, operands;
	uint64_t size = cursor_uleb(code);
	const uint8_t *at = cursor_take(code, size);

	if (!at || !size)
		return;
	operands = (struct cursor){.at = at, .end = at + size};
	switch (cursor_uint(&operands, 1)) {
	case DW_LNE_end_sequence:
		row_add(program, state);
		*state = (struct line_state){.file = 1, .line = 1};
		break;
	case DW_LNE_set_address:
		state->addr = size <= 9 ? cursor_uint(&operands, size - 1) : 0;
		state->has_code = !dwarf_is_left_out(state->addr);
		break;
	case DW_LNE_define_file:
		program->err =
			file_read(program->table, &operands, string_read(program, &operands));
		break;
	default:
		break;
	}
}

static void unknown_run(struct line_program *program, uint8_t opcode)
{
	unsigned nr = program->operands[opcode - 1];

	while (nr-- && dwarf_step(program->unit.dwarf, 1))
		cursor_uleb(&program->code);
}

static void standard_run(struct line_program *program, struct line_state *state, uint8_t opcode)
{
	struct cursor *code = &program->code;

	switch (opcode) {
	case DW_LNS_copy:
		row_add(program, state);
		break;
	case DW_LNS_advance_pc:
		state->addr += cursor_uleb(code) * program->min_length;
		break;
	case DW_LNS_advance_line:
		state->line += cursor_sleb(code);
		break;
	case DW_LNS_set_file:
		state->file = cursor_uleb(code);
		break;
	case DW_LNS_const_add_pc:
		state->addr += (uint64_t)((255 - program->opcode_base) / program->line_range) *
		               program->min_length;
		break;
	case DW_LNS_fixed_advance_pc:
		state->addr += cursor_uint(code, 2);
		break;
	default:
		unknown_run(program, opcode);
	}
}

static void special_run(struct line_program *program, struct line_state *state, uint8_t opcode)
{
	unsigned advance = opcode - program->opcode_base;

	state->addr += (uint64_t)(advance / program->line_range) * program->min_length;
	state->line +=
		(uint64_t)(int64_t)(program->line_base + (int)(advance % program->line_range));
	row_add(program, state);
}

static void program_run(struct line_program *program)
{
	struct line_state state = {.file = 1, .line = 1};
	uint8_t opcode;

	while (cursor_left(&program->code) && !program->err) {
		if (!dwarf_step(program->unit.dwarf, 1))
			return;
		opcode = (uint8_t)cursor_uint(&program->code, 1);
		if (opcode >= program->opcode_base)
			special_run(program, &state, opcode);
		else if (opcode)
			standard_run(program, &state, opcode);
		else
			extended_run(program, &state);
	}
}

int line_table_read(struct line_table *table, const struct dwarf_unit *unit, line_fn *fn, void *arg)
{
	const struct dwarf_attr *list = &unit->root.attrs[DIE_STMT_LIST];
	struct line_program program = {.unit = *unit, .table = table, .fn = fn, .arg = arg};
	int err;

	*table =
		(struct line_table){.directory = dwarf_die_string(unit, &unit->root, DIE_COMP_DIR)};
	if (!list->form || !header_read(&program, list->value))
		return -ENODATA;
	err = table->version < 5 ? names_read_4(&program) : names_read_5(&program);
	if (!err) {
		program_run(&program);
		err = program.err;
	}
	if (err)
		line_table_fini(table);
	return err == -EBADMSG ? -ENODATA : err;
}
