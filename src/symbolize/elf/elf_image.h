/* ELF images: a module's file and its separate debug file, opened for reading names. */
#ifndef SYMBOLIZE_ELF_ELF_IMAGE_H
#define SYMBOLIZE_ELF_ELF_IMAGE_H

#include "symbolize/modules/module.h"

#include <libelf.h>

struct elf_image {
	const struct module *module;
	Elf *main;  /* NULL: the file is gone, only its debug file is left */
	Elf *debug; /* the separate debug file with the same build-id, or NULL */
	Elf *mini;  /* the symbols packed into .gnu_debugdata where there are no others, or NULL */
	Elf *alt;   /* what dwz moved out of the debug information of several files, or NULL */
	bool only_own; /* debug files are not to be read */
	int main_fd, debug_fd, mini_fd, alt_fd;
};

/* 0 or -errno: -ESTALE when another file has taken the module's place. */
int elf_image_open(struct elf_image *image, struct module_table *table, struct module *module);
/* The one with debug information, or NULL. The first call opens what belongs to it. */
Elf *elf_image_dwarf(struct elf_image *image);
void elf_image_close(struct elf_image *image);

#endif
