/* The functions that a Go program knows itself: tables of all versions, and damaged ones. */
#include "naming.h"

#include "symbolize/elf/elf_sections.h"
#include "symbolize/elf/elf_symbols.h"

#include <fcntl.h>
#include <gelf.h>

#define NAMES "names: .asciz \"main.(*box).Hot\"\n.asciz \"main.spin\"\n"
#define CODE                                                         \
	".text\n.globl text\ntext: .fill 16\nspin: .fill 16\nend:\n" \
	".section " SECTION ",\"a\"\n"
#define SECTION ".gopclntab"

static const char go_1_2[] = CODE "table: .4byte 0xfffffffb\n.byte 0, 0, 1, 8\n"
				  ".8byte 2, text0, hot-table, text0+16, spun-table, text0+32\n"
				  "hot: .8byte text0\n.4byte names-table\n"
				  "spun: .8byte text0+16\n.4byte names+16-table\n" NAMES;
static const char go_1_16[] =
	CODE "table: .4byte 0xfffffffa\n.byte 0, 0, 1, 8\n"
	     ".8byte 2, 0, names-table, 0, 0, 0, functions-table\n" NAMES
	     "functions: .8byte text0, hot-functions, text0+16, spun-functions\n"
	     ".8byte text0+32\n"
	     "hot: .8byte text0\n.4byte 0\nspun: .8byte text0+16\n.4byte 16\n";
static const char go_1_20[] =
	CODE "table: .4byte 0xfffffff1\n.byte 0, 0, 1, 8\n"
	     ".8byte 2, 0, text0, names-table, 0, 0, 0, functions-table\n" NAMES
	     "functions: .4byte 0, hot-functions, 16, spun-functions, 32\n"
	     "hot: .4byte 0, 0\nspun: .4byte 16, 16\n";

static const char *const tables[] = {go_1_2, go_1_16, go_1_20};

/* Links a table twice, as it holds the address of the text. False: there is no compiler. */
static bool table_link(struct fixture *f, const char *table, const char *magic)
{
	char command[512];

	write_file(f, "a.s", table);
	snprintf(command, sizeof(command),
	         "sed -i 's/0xfffffff1/%s/' a.s &&"
	         "cc -shared -nostdlib -Wl,--defsym=text0=0 a.s -o b.so &&"
	         "text=0x$(nm b.so | sed -n 's/ T text$//p') &&"
	         "sed \"s/text0/$text/g\" a.s >c.s && cc -shared -nostdlib c.s -o a.so &&"
	         "test $text = 0x$(nm a.so | sed -n 's/ T text$//p') &&"
	         "strip -N text a.so && cp a.so whole.so && objcopy -S a.so",
	         magic);
	return run(f, command);
}

static Elf *elf_of(struct fixture *f, int *fd)
{
	*fd = open(in_dir(f, "a.so"), O_RDWR | O_CLOEXEC);
	assert_true(*fd >= 0);
	return elf_file_begin(*fd);
}

static void versions(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < 4; i++) {
		struct symbol_table symbols = {0};
		GElf_Shdr text;
		Elf *elf;
		int fd;

		if (!table_link(f, tables[i < 3 ? i : 2], i < 3 ? "0xfffffff1" : "0xfffffff0"))
			skip();
		elf = elf_of(f, &fd);
		assert_non_null(elf_section_find(elf, SHT_PROGBITS, ".text", &text));
		assert_int_equal(go_symbols_add(&symbols, elf, 0), 0);
		assert_int_equal(symbols.nr, 2);
		assert_string_equal(symbols.symbols[0].name, "main.(*box).Hot");
		assert_string_equal(symbols.symbols[1].name, "main.spin");
		assert_int_equal(symbols.symbols[0].lo, text.sh_addr);
		assert_int_equal(symbols.symbols[0].hi, text.sh_addr + 16);
		assert_int_equal(symbols.symbols[1].hi, text.sh_addr + 32);
		symbol_table_fini(&symbols);
		elf_end(elf);
		close(fd);
	}
}

static void unknown_version(void **state)
{
	struct fixture *f = *state;
	struct symbol_table symbols = {0};
	Elf *elf;
	int fd;

	if (!table_link(f, go_1_20, "0xffffffe0"))
		skip();
	elf = elf_of(f, &fd);
	assert_int_equal(go_symbols_add(&symbols, elf, 0), 0);
	assert_int_equal(symbols.nr, 0);
	elf_end(elf);
	close(fd);
}

/* All names lie in the section, and end there. */
static void add_damaged(int fd, const GElf_Shdr *shdr)
{
	struct symbol_table symbols = {0};
	Elf *elf = elf_file_begin(fd);

	assert_non_null(elf);
	assert_int_equal(go_symbols_add(&symbols, elf, 0), 0);
	for (size_t i = 0; i < symbols.nr; i++)
		assert_in_range(strlen(symbols.symbols[i].name), 1, shdr->sh_size);
	symbol_table_fini(&symbols);
	elf_end(elf);
}

static void damage(struct fixture *f)
{
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	GElf_Shdr shdr;
	int fd;
	Elf *elf = elf_of(f, &fd);

	assert_non_null(elf_section_find(elf, SHT_PROGBITS, SECTION, &shdr));
	elf_end(elf);
	for (off_t at = (off_t)shdr.sh_offset; at < (off_t)(shdr.sh_offset + shdr.sh_size); at++) {
		unsigned char byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		for (size_t i = 0; i < sizeof(values); i++) {
			assert_int_equal(pwrite(fd, &values[i], 1, at), 1);
			add_damaged(fd, &shdr);
		}
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
}

static void damaged_tables(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < 3; i++) {
		if (!table_link(f, tables[i], "0xfffffff1"))
			skip();
		damage(f);
	}
}

static int name_count(void *arg, uint32_t offset, const struct symbol *symbol)
{
	(void)offset;
	*(unsigned *)arg += symbol->name && !strcmp(symbol->name, "main.spin");
	return 0;
}

/* A table is read where the file has no symbols. */
static void stripped_programs(void **state)
{
	struct fixture *f = *state;
	GElf_Shdr text;
	uint32_t offset;
	unsigned nr = 0;
	Elf *elf;
	int fd;

	if (!table_link(f, go_1_20, "0xfffffff1"))
		skip();
	elf = elf_of(f, &fd);
	assert_non_null(elf_section_find(elf, SHT_PROGBITS, ".text", &text));
	elf_end(elf);
	close(fd);
	offset = (uint32_t)text.sh_addr + 20;
	assert_int_equal(symbolizer_module(f->symbolizer, module_of(f, in_dir(f, "whole.so")),
	                                   &offset, 1, name_count, &nr),
	                 0);
	assert_int_equal(nr, 0);
	assert_int_equal(symbolizer_module(f->symbolizer, module_of(f, in_dir(f, "a.so")), &offset,
	                                   1, name_count, &nr),
	                 0);
	assert_int_equal(nr, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(versions, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_version, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(stripped_programs, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
