#include "record/own_code.h"

#include "preload/call_ring.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SECTIONS 256

/* A library as it is mapped for a look at its sections. */
struct file {
	int fd;
	Elf64_Ehdr head;
	Elf64_Shdr sections[MAX_SECTIONS];
};

static bool read_at(const struct file *file, void *to, size_t size, uint64_t offset)
{
	return pread(file->fd, to, size, (off_t)offset) == (ssize_t)size;
}

static bool read_sections(struct file *file)
{
	const Elf64_Ehdr *head = &file->head;

	return read_at(file, &file->head, sizeof(file->head), 0) &&
	       !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 &&
	       head->e_shentsize == sizeof(*file->sections) && head->e_shnum <= MAX_SECTIONS &&
	       head->e_shstrndx < head->e_shnum &&
	       read_at(file, file->sections, head->e_shnum * sizeof(*file->sections),
	               head->e_shoff);
}

static bool has_name(const struct file *file, const Elf64_Shdr *section)
{
	const Elf64_Shdr *names = &file->sections[file->head.e_shstrndx];
	char name[sizeof(RING_AROUND_SECTION)];

	return read_at(file, name, sizeof(name), names->sh_offset + section->sh_name) &&
	       !memcmp(name, RING_AROUND_SECTION, sizeof(name));
}

static void find_section(struct own_code *own, const struct file *file)
{
	for (unsigned i = 0; i < file->head.e_shnum; i++) {
		const Elf64_Shdr *section = &file->sections[i];
		uint64_t end = section->sh_addr + section->sh_size;

		if (!has_name(file, section) || end > UINT32_MAX || end < section->sh_addr)
			continue;
		own->from = (uint32_t)section->sh_addr;
		own->to = (uint32_t)end;
	}
}

void own_code_find(struct own_code *own, const char *library)
{
	struct file file = {.fd = open(library, O_RDONLY | O_CLOEXEC)};

	*own = (struct own_code){0};
	if (file.fd < 0)
		return;
	if (realpath(library, own->path) && read_sections(&file))
		find_section(own, &file);
	close(file.fd);
}

static bool is_own(const struct own_code *own, const struct module_table *modules, uint64_t frame)
{
	const struct module *module;

	if (frame_offset(frame) < own->from || frame_offset(frame) >= own->to)
		return false;
	module = module_table_get(modules, frame_module(frame));
	return module && !strcmp(module->path, own->path);
}

unsigned own_code_hide(const struct own_code *own, const struct module_table *modules,
                       uint64_t *frames, unsigned nr)
{
	unsigned kept = 1;

	for (unsigned i = 1; i < nr; i++)
		if (!is_own(own, modules, frames[i]))
			frames[kept++] = frames[i];
	return kept < nr ? kept : nr;
}
