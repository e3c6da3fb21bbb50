#include "symbolize/elf/elf_sections.h"
#include "symbolize/modules/elf_headers.h"

#include <string.h>

/* Objects with a section for each function have some 100,000; linked files 40. */
#define MAX_SECTIONS (1u << 18)
#define MAX_STRINGS  (1u << 30)

Elf *elf_file_begin(int fd)
{
	uint64_t nr_sections;
	Elf *elf;

	if (elf_sections_count(fd, &nr_sections) || nr_sections > MAX_SECTIONS)
		return NULL;
	elf_version(EV_CURRENT); /* or libelf opens nothing */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	return NULL;
}

bool elf_has_symtab(Elf *elf)
{
	GElf_Shdr shdr;

	return elf_section_find(elf, SHT_SYMTAB, NULL, &shdr) != NULL;
}

bool elf_has_dwarf(Elf *elf)
{
	GElf_Shdr shdr;

	return elf && (elf_section_find(elf, SHT_PROGBITS, ".debug_info", &shdr) ||
	               elf_section_find(elf, SHT_PROGBITS, ".zdebug_info", &shdr));
}

Elf_Scn *elf_section_find(Elf *elf, unsigned type, const char *name, GElf_Shdr *shdr)
{
	return elf_section_next(elf, NULL, type, name, shdr);
}

Elf_Scn *elf_section_next(Elf *elf, Elf_Scn *after, unsigned type, const char *name,
                          GElf_Shdr *shdr)
{
	Elf_Data *strings = NULL;
	Elf_Scn *section = after;
	size_t index;

	if (name) {
		if (elf_getshdrstrndx(elf, &index))
			return NULL;
		strings = elf_section_strings(elf, index);
		if (!strings)
			return NULL;
	}
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, shdr) && shdr->sh_type == type &&
		    (!name || !strcmp(elf_string(strings, shdr->sh_name), name)))
			return section;
	return NULL;
}

Elf_Data *elf_section_data(Elf_Scn *section, size_t max)
{
	GElf_Shdr shdr;
	Elf_Data *data;

	if (!gelf_getshdr(section, &shdr) || shdr.sh_type == SHT_NOBITS ||
	    shdr.sh_flags & SHF_COMPRESSED || !shdr.sh_size || shdr.sh_size > max)
		return NULL;
	data = elf_getdata(section, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

Elf_Data *elf_section_strings(Elf *elf, size_t index)
{
	Elf_Scn *section = elf_getscn(elf, index);
	Elf_Data *data = section ? elf_section_data(section, MAX_STRINGS) : NULL;

	return data && !((const char *)data->d_buf)[data->d_size - 1] ? data : NULL;
}

const char *elf_string(const Elf_Data *strings, size_t offset)
{
	return offset < strings->d_size ? (const char *)strings->d_buf + offset : "";
}
