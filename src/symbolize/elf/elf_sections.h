/*
 * The sections of ELF files.
 *
 * Files are read, never mapped, for the owner of a mapped one could end this process by cutting it
 * short. Nothing is read of sections that are too big to be real.
 */
#ifndef SYMBOLIZE_ELF_ELF_SECTIONS_H
#define SYMBOLIZE_ELF_ELF_SECTIONS_H

#include <gelf.h>
#include <stdbool.h>

/* NULL: the file is none that libelf should be let loose on. */
Elf *elf_file_begin(int fd);

/* Tells whether the file has a .symtab; without one its only names are those of .dynsym. */
bool elf_has_symtab(Elf *elf);

/* Tells whether the file has debug information, which old tools compress as .zdebug_info. */
bool elf_has_dwarf(Elf *elf);

/* The first section of a type, and of a name where that is not NULL. NULL: none. */
Elf_Scn *elf_section_find(Elf *elf, unsigned type, const char *name, GElf_Shdr *shdr);

/* The next one of the same type; after: NULL for the first. */
Elf_Scn *elf_section_next(Elf *elf, Elf_Scn *after, unsigned type, const char *name,
                          GElf_Shdr *shdr);

/* The bytes of a section that is there in the file, not compressed and at most max long; or NULL.
 */
Elf_Data *elf_section_data(Elf_Scn *section, size_t max);

/* The names of a string section, at least one byte, the last one 0; or NULL. */
Elf_Data *elf_section_strings(Elf *elf, size_t index);

/* Returns the string at an offset of such a section; "" if the offset lies outside. */
const char *elf_string(const Elf_Data *strings, size_t offset);

#endif
