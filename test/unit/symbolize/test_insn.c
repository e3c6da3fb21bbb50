/* Instructions are as long as Capstone says, in all code of the libraries that this test uses. */
#if defined(__x86_64__)

#include "cases.h"
#include "symbolize/elf/disassembler.h"
#include "symbolize/unwind/insn.h"

#include <elf.h>
#include <link.h>
#include <string.h>

struct tally {
	struct disassembler *disassembler;
	unsigned long same, different;
};

static void compare(struct tally *tally, const uint8_t *code, size_t size)
{
	char text[INSTRUCTION_SIZE];
	struct insn insn;

	for (size_t i = 0, length; i < size; i += length) {
		length = disassembler_next(tally->disassembler, code + i, size - i, 0, text);
		if (!strcmp(text, "(bad)"))
			continue;
		if (insn_read(code + i, size - i, &insn) == length)
			tally->same++;
		else
			tally->different++;
	}
}

static int compare_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libc.so") && !strstr(info->dlpi_name, "/libcapstone") &&
	    !strstr(info->dlpi_name, "/libm.so"))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			compare(arg, (const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
			        info->dlpi_phdr[i].p_memsz);
	return 0;
}

static void lengths_of_all_code(void **state)
{
	struct tally tally = {.disassembler = disassembler_new(EM_X86_64)};

	(void)state;
	if (!tally.disassembler)
		skip(); /* built without Capstone */
	dl_iterate_phdr(compare_library, &tally);
	disassembler_free(tally.disassembler);
	assert_true(tally.same > 100000);
	assert_in_range(tally.different, 0, tally.same / 10000); /* tables in between */
}

/* AMD's of the years 2011 to 2017, which codecs and libraries of ciphers still have. */
static void extended_operations_are_no_pops(void **state)
{
	static const struct {
		uint8_t code[10];
		size_t size;
	} cases[] = {
		{{0x8f, 0xe8, 0x78, 0x97, 0xd1, 0x20}, 6},             /* vpmacsdql, with a byte */
		{{0x8f, 0xe9, 0x78, 0xd3, 0x0c, 0x37}, 6},             /* vphaddubq (%rdi,%rsi) */
		{{0x8f, 0xea, 0x78, 0x10, 0xc1, 0x08, 0x04, 0, 0}, 9}, /* bextr, with four */
	};
	const uint8_t pop[] = {0x8f, 0x44, 0x24, 0x08};
	struct insn insn;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(insn_read(cases[i].code, sizeof(cases[i].code), &insn),
		                 cases[i].size);
		assert_int_equal(insn.type, INSN_OTHER);
	}
	assert_int_equal(insn_read(pop, sizeof(pop), &insn), sizeof(pop));
	assert_int_equal(insn.type, INSN_POP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_of_all_code),
		cmocka_unit_test(extended_operations_are_no_pops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* not on this machine */
}

#endif
