#include "symbolize/elf/elf_symbols.h"
#include "base/frame.h"
#include "symbolize/unwind/cfi_entry.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_SYMTAB (512u << 20)
/* A label without a size, where other functions may have lost their names, is not longer. */
#define MAX_LABEL 4096

/* The ends of code sections, by section number; 0: not code. */
struct code_ends {
	size_t nr;
	uint64_t *end;
	uint64_t max_label;
	uint64_t area;
};

static int code_ends_init(struct code_ends *code, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	uint64_t end;

	if (elf_getshdrnum(elf, &code->nr))
		code->nr = 0;
	code->end = calloc(code->nr + 1, sizeof(*code->end));
	if (!code->end)
		return -ENOMEM;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &shdr) && shdr.sh_flags & SHF_EXECINSTR &&
		    elf_ndxscn(section) < code->nr &&
		    !__builtin_add_overflow(shdr.sh_addr, shdr.sh_size, &end))
			code->end[elf_ndxscn(section)] = end;
	return 0;
}

static unsigned binding_rank(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_LOCAL:
		return SYMBOL_LOCAL;
	case STB_WEAK:
		return SYMBOL_WEAK;
	default:
		return SYMBOL_GLOBAL;
	}
}

/* Mapping symbols ($x) and those of annotations (.annobin) are no labels that a person wrote. */
static bool is_code_name(unsigned type, const char *name)
{
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return *name;
	return type == STT_NOTYPE && *name && *name != '$' && *name != '.';
}

static int sym_add(struct symbol_table *table, const struct code_ends *code, const GElf_Sym *sym,
                   const char *name)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);
	struct table_symbol symbol = {.name = name, .rank = (uint8_t)binding_rank(sym)};
	uint64_t end, size = sym->st_size ? sym->st_size : code->max_label;

	if (sym->st_shndx >= code->nr || sym->st_value >= code->end[sym->st_shndx] ||
	    !is_code_name(type, name))
		return 0;
	end = code->end[sym->st_shndx];
	if (size < end - sym->st_value)
		end = sym->st_value + size;
	if (sym->st_size)
		symbol.rank |= SYMBOL_SIZED;
	if (type != STT_NOTYPE)
		symbol.rank |= SYMBOL_FUNCTION;
	return frame_area(code->area, sym->st_value, end, &symbol.lo, &symbol.hi)
	               ? symbol_table_add(table, &symbol)
	               : 0;
}

/* Adds the symbols of the first table of this type. A linked file has only one. */
static int symtab_add(struct symbol_table *table, Elf *elf, const struct code_ends *code,
                      unsigned type)
{
	GElf_Shdr shdr;
	Elf_Scn *section = elf_section_find(elf, type, NULL, &shdr);
	Elf_Data *data = section ? elf_section_data(section, MAX_SYMTAB) : NULL;
	Elf_Data *strings = data ? elf_section_strings(elf, shdr.sh_link) : NULL;
	GElf_Sym sym;
	int i, err = 0;

	if (!strings)
		return 0;
	for (i = 0; !err && gelf_getsym(data, i, &sym); i++)
		err = sym_add(table, code, &sym, elf_string(strings, sym.st_name));
	return err;
}

int elf_symbols_add(struct symbol_table *table, Elf *elf, uint64_t area)
{
	struct code_ends code;
	GElf_Shdr shdr;
	unsigned type = SHT_DYNSYM;
	int err = code_ends_init(&code, elf);

	code.max_label = MAX_LABEL;
	code.area = area;
	/* Where there are both, .dynsym repeats what .symtab has. */
	if (elf_section_find(elf, SHT_SYMTAB, NULL, &shdr)) {
		type = SHT_SYMTAB;
		code.max_label = UINT64_MAX;
	}
	if (!err)
		err = symtab_add(table, elf, &code, type);
	free(code.end);
	return err;
}

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

int frame_bounds_add(struct symbol_table *table, Elf *elf, uint64_t area)
{
	struct cfi_section section = frame_section(elf);
	struct table_symbol symbol = {.rank = SYMBOL_SIZED};
	struct cfi_scan scan;
	int err = 0;

	cfi_scan_init(&scan, &(struct cfi_input){.section = &section}, area, UINT64_MAX);
	while (!err && cfi_scan_next(&scan, &symbol.lo, &symbol.hi))
		err = symbol_table_add(table, &symbol);
	return err;
}
