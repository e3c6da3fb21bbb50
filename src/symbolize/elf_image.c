#include "symbolize/elf_image.h"
#include "symbolize/debug_file.h"
#include "symbolize/dwarf.h"
#include "symbolize/headers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

/* Where the file itself has not all its symbols, or no debug information. */
static void find_debug(struct elf_image *image, const struct module_table *table,
                       const struct module *module)
{
	image->debug_fd = debug_file_open(module, image->main, module_table_places(table));
	if (image->debug_fd >= 0)
		image->debug = elf_file_begin(image->debug_fd);
	if (image->debug || !image->main || elf_has_symtab(image->main))
		return;
	image->mini_fd = mini_debug_open(image->main);
	if (image->mini_fd >= 0)
		image->mini = elf_file_begin(image->mini_fd);
}

int elf_image_open(struct elf_image *image, struct module_table *table, struct module *module)
{
	int fd = module_fd(table, module), err = fd < 0 ? -errno : 0;

	*image = (struct elf_image){.main_fd = -1, .debug_fd = -1, .mini_fd = -1, .alt_fd = -1};
	if (fd >= 0)
		image->main_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (image->main_fd >= 0)
		image->main = elf_file_begin(image->main_fd);
	if (!image->main || !elf_has_symtab(image->main) || !dwarf_is_in(image->main))
		find_debug(image, table, module);
	if (image->main || image->debug)
		return 0;
	elf_image_close(image);
	return err ? err : -ENOEXEC;
}

Elf *elf_image_dwarf(struct elf_image *image)
{
	bool in_main = image->main && dwarf_is_in(image->main);
	Elf *elf = in_main ? image->main : image->debug;

	if (!elf || image->alt)
		return elf;
	image->alt_fd = debug_alt_open(elf, in_main ? image->main_fd : image->debug_fd);
	if (image->alt_fd >= 0)
		image->alt = elf_file_begin(image->alt_fd);
	return elf;
}

static void elf_close(Elf *elf, int fd)
{
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

void elf_image_close(struct elf_image *image)
{
	elf_close(image->main, image->main_fd);
	elf_close(image->debug, image->debug_fd);
	elf_close(image->mini, image->mini_fd);
	elf_close(image->alt, image->alt_fd);
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
