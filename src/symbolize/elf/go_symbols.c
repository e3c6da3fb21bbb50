/*
 * Go's table of functions, which its runtime needs and `strip` therefore leaves in a program:
 *
 *     header      magic, 0, 0, quantum of code, size of an address
 *                 number of functions, then offsets of the parts (none before Go 1.16)
 *     names       strings that end with 0
 *     functions   pairs of an address and the offset of a record, then the end of the last one
 *     records     an address, the offset of a name, and more
 *
 * Since Go 1.18 addresses in it are 4 bytes, from the start of the text.
 */
#include "base/cursor.h"
#include "symbolize/elf/elf_symbols.h"
#include "base/frame.h"

#include <errno.h>

#define MAX_PCLNTAB     (512u << 20)
#define MAX_RELOCATIONS (64u << 20)

/* The first word of the header. */
enum go_version {
	GO_1_2 = 0xfffffffb,
	GO_1_16 = 0xfffffffa,
	GO_1_18 = 0xfffffff0,
	GO_1_20 = 0xfffffff1,
};

struct go_table {
	struct cursor names; /* up to the last 0 */
	struct cursor functions;
	struct cursor records; /* where their offsets count from */
	uint64_t nr, text;
	size_t address_size;
	size_t field_size; /* of what a pair has */
};

/* The part of a section that begins at an offset; empty where that lies outside. */
static struct cursor part_at(const Elf_Data *data, uint64_t offset)
{
	struct cursor cursor = {.at = data->d_buf, .end = (uint8_t *)data->d_buf + data->d_size};

	cursor_take(&cursor, offset);
	return cursor;
}

static void names_bound(struct cursor *names)
{
	const size_t left = cursor_left(names);
	const uint8_t *last = left ? memrchr(names->at, '\0', left) : NULL;

	names->end = last ? last + 1 : names->at;
}

/* The dynamic linker's addend for a pointer in a program that may lie anywhere; 0: none. */
static uint64_t addend_at(Elf *elf, uint64_t addr)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	GElf_Rela rela;

	while ((section = elf_section_next(elf, section, SHT_RELA, NULL, &shdr))) {
		Elf_Data *data = elf_section_data(section, MAX_RELOCATIONS);

		for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
			if (rela.r_offset == addr)
				return (uint64_t)rela.r_addend;
	}
	return 0;
}

/* Where addresses count from: some linkers leave it to the dynamic one, and new ones leave it out.
 */
static uint64_t text_start(Elf *elf, uint64_t stored, uint64_t addr)
{
	GElf_Shdr shdr;

	if (!stored)
		stored = addend_at(elf, addr);
	if (!stored && elf_section_find(elf, SHT_PROGBITS, ".text", &shdr))
		stored = shdr.sh_addr;
	return stored;
}

/* The header is one of a version that is known. False: it is cut short. */
static bool table_open(struct go_table *table, Elf *elf, const Elf_Data *data, uint64_t addr)
{
	struct cursor header = part_at(data, 0);
	const uint32_t magic = (uint32_t)cursor_uint(&header, 4);
	const bool is_new = magic == GO_1_18 || magic == GO_1_20;
	const size_t size = (cursor_uint(&header, 3), cursor_uint(&header, 1));
	uint64_t words[8] = {0};

	for (size_t i = 0; i < (is_new ? 8 : magic == GO_1_16 ? 7 : 1); i++)
		words[i] = cursor_uint(&header, size);
	if (header.bad)
		return false;
	*table = (struct go_table){.nr = words[0], .address_size = size, .field_size = size};
	if (is_new) {
		table->text = text_start(elf, words[2], addr + 8 + 2 * size);
		table->address_size = table->field_size = 4;
	}
	if (magic == GO_1_2) {
		table->functions = header;
		table->names = table->records = part_at(data, 0);
	} else {
		table->names = part_at(data, words[is_new ? 3 : 2]);
		table->functions = table->records = part_at(data, words[is_new ? 7 : 6]);
	}
	names_bound(&table->names);
	return true;
}

/* NULL: the record or the name lies outside, or is empty. */
static const char *function_name(const struct go_table *table, uint64_t offset)
{
	struct cursor record = table->records, name = table->names;

	cursor_take(&record, offset);
	cursor_take(&record, table->address_size);
	offset = cursor_uint(&record, 4);
	cursor_take(&name, offset);
	return !record.bad && cursor_left(&name) && *name.at ? (const char *)name.at : NULL;
}

static int functions_add(struct symbol_table *symbols, const struct go_table *table, uint64_t area)
{
	struct table_symbol symbol = {.rank = SYMBOL_SIZED | SYMBOL_FUNCTION | SYMBOL_LOCAL};
	struct cursor functions = table->functions;
	const size_t field = table->field_size;
	uint64_t start = cursor_uint(&functions, field), end;
	int err = 0;

	for (uint64_t i = 0; i < table->nr && !err; i++, start = end) {
		symbol.name = function_name(table, cursor_uint(&functions, field));
		end = cursor_uint(&functions, field);
		if (functions.bad)
			break;
		if (symbol.name && frame_area(area, table->text + start, table->text + end,
		                              &symbol.lo, &symbol.hi))
			err = symbol_table_add(symbols, &symbol);
	}
	return err;
}

/* Some linkers put the table among other data. Moves *data there; *addr: of the section. */
static bool table_find(Elf_Data *data, uint64_t *addr)
{
	static const uint32_t versions[] = {GO_1_2, GO_1_16, GO_1_18, GO_1_20};

	for (; data->d_size >= 8; *addr += 8, data->d_size -= 8) {
		const unsigned char *at = data->d_buf;
		uint32_t magic;

		memcpy(&magic, at, sizeof(magic));
		for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
			if (magic == versions[i] && !at[4] && !at[5] && (at[7] == 4 || at[7] == 8))
				return true;
		data->d_buf = (char *)data->d_buf + 8;
	}
	return false;
}

int go_symbols_add(struct symbol_table *symbols, Elf *elf, uint64_t area)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro"};
	struct go_table table;
	GElf_Shdr shdr;

	if (!elf_section_find(elf, SHT_PROGBITS, ".go.buildinfo", &shdr) &&
	    !elf_section_find(elf, SHT_PROGBITS, ".gopclntab", &shdr))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		Elf_Scn *section = elf_section_find(elf, SHT_PROGBITS, names[i], &shdr);
		const Elf_Data *data = section ? elf_section_data(section, MAX_PCLNTAB) : NULL;
		Elf_Data part = data ? *data : (Elf_Data){0};

		if (table_find(&part, &shdr.sh_addr) &&
		    table_open(&table, elf, &part, shdr.sh_addr))
			return functions_add(symbols, &table, area);
	}
	return 0;
}
