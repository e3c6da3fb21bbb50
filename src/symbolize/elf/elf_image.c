#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/debug_file.h"
#include "symbolize/elf/elf_sections.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Where the file itself has not all its symbols, or no debug information. */
static void find_debug(struct elf_image *image, const struct module_table *table,
                       const struct module *module)
{
	if (!image->only_own)
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

	*image = (struct elf_image){module, .main_fd = -1, .debug_fd = -1, .mini_fd = -1,
	                            .alt_fd = -1};
	image->only_own = module_table_has_only_own_files(table);
	if (fd >= 0)
		image->main_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (image->main_fd >= 0)
		image->main = elf_file_begin(image->main_fd);
	if (!image->main || !elf_has_symtab(image->main) || !elf_has_dwarf(image->main))
		find_debug(image, table, module);
	if (image->main || image->debug)
		return 0;
	elf_image_close(image);
	return err ? err : -ENOEXEC;
}

Elf *elf_image_dwarf(struct elf_image *image)
{
	bool in_main = image->main && elf_has_dwarf(image->main);
	Elf *elf = in_main ? image->main : image->debug;

	if (!elf || image->alt || image->only_own)
		return elf;
	image->alt_fd =
		debug_alt_open(image->module, elf, in_main ? image->main_fd : image->debug_fd);
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
