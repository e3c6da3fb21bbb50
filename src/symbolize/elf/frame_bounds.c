#include "symbolize/unwind/cfi_entry.h"
#include "symbolize/elf/elf_symbols.h"

#define MAX_EH_FRAME (256u << 20)

/* Returns a section of size 0 if the file has none. */
static struct cfi_section frame_section(Elf *elf)
{
	GElf_Shdr shdr;
	Elf_Scn *section = elf_section_find(elf, SHT_PROGBITS, ".eh_frame", &shdr);
	Elf_Data *data;

	if (!section)
		section = elf_section_find(elf, SHT_X86_64_UNWIND, ".eh_frame", &shdr);
	data = section ? elf_section_data(section, MAX_EH_FRAME) : NULL;
	if (!data)
		return (struct cfi_section){0};
	return (struct cfi_section){
		.vaddr = shdr.sh_addr,
		.size = data->d_size,
		.is_eh = true,
		.is_narrow = gelf_getclass(elf) == ELFCLASS32,
		.unpacked = data->d_buf,
	};
}

int frame_bounds_add(struct symbol_table *table, Elf *elf, uint64_t window)
{
	struct cfi_section section = frame_section(elf);
	struct table_symbol symbol = {.rank = SYMBOL_SIZED};
	struct cfi_scan scan;
	int err = 0;

	cfi_scan_init(&scan, &(struct cfi_source){.section = &section}, window, UINT64_MAX);
	while (!err && cfi_scan_next(&scan, &symbol.lo, &symbol.hi))
		err = symbol_table_add(table, &symbol);
	return err;
}
