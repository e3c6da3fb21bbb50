#include "symbolize/elf/find_function.h"

#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/elf_symbols.h"
#include "symbolize/modules/module.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Converts an address of the program to the place in its file. */
static int to_offset(const struct module *module, uint64_t vaddr, uint64_t *offset)
{
	for (unsigned i = 0; i < module->nr_segments; i++) {
		const struct segment *segment = &module->segments[i];

		if (vaddr < segment->vaddr || vaddr - segment->vaddr >= segment->size)
			continue;
		*offset = vaddr - segment->vaddr + segment->offset;
		return 0;
	}
	return -ENOENT;
}

static int search(const struct module *module, const struct symbol_table *table, const char *name,
                  uint64_t area, uint64_t *offset)
{
	for (size_t i = 0; i < table->nr; i++)
		if (table->symbols[i].name && !strcmp(table->symbols[i].name, name) &&
		    !to_offset(module, area << 32 | table->symbols[i].lo, offset))
			return 0;
	return -ENOENT;
}

static int search_area(const struct module *module, Elf *elf, const char *name, uint64_t area,
                       uint64_t *offset, void (*fn)(void *arg, const char *name), void *arg)
{
	struct symbol_table table = {0};
	int err = elf_symbols_add(&table, elf, area);

	if (!err)
		err = search(module, &table, name, area, offset);
	for (size_t i = 0; err == -ENOENT && fn && i < table.nr; i++)
		if (table.symbols[i].name)
			fn(arg, table.symbols[i].name);
	symbol_table_fini(&table);
	return err;
}

/* Searches each of the areas that the file has code in. */
static int search_elf(const struct module *module, Elf *elf, const char *name, uint64_t *offset,
                      void (*fn)(void *arg, const char *name), void *arg)
{
	uint64_t area, last = UINT64_MAX;
	int err = -ENOENT;

	for (unsigned i = 0; i < module->nr_segments && err == -ENOENT; i++, last = area) {
		area = module->segments[i].vaddr >> 32;
		if (area != last)
			err = search_area(module, elf, name, area, offset, fn, arg);
	}
	return err;
}

static struct module *add_module(struct module_table *modules, const char *path)
{
	struct module_file file = {.path = path, .pid = getpid()};
	struct stat there;

	if (stat(path, &there))
		return NULL;
	if (!S_ISREG(there.st_mode)) {
		errno = EINVAL;
		return NULL;
	}
	return module_table_file(modules, &file);
}

/* Searches the file, and then what was taken out of it. */
static int search_image(const struct module *module, const struct elf_image *image,
                        const char *name, uint64_t *offset, void (*fn)(void *arg, const char *name),
                        void *arg)
{
	Elf *const elfs[] = {image->main, image->debug, image->mini};
	int err = module->nr_segments ? -ENOENT : -ENOEXEC;

	for (size_t i = 0; i < sizeof(elfs) / sizeof(*elfs) && err == -ENOENT; i++)
		if (elfs[i])
			err = search_elf(module, elfs[i], name, offset, fn, arg);
	return err;
}

int function_find(const char *path, const char *name, uint64_t *offset,
                  void (*fn)(void *arg, const char *name), void *arg)
{
	struct module_table *modules = module_table_new();
	struct elf_image image;
	struct module *module;
	int err = -ENOMEM;

	errno = 0;
	module = modules ? add_module(modules, path) : NULL;
	if (!module) {
		err = errno ? -errno : -ENOMEM;
		goto out;
	}
	err = elf_image_open(&image, modules, module);
	if (err)
		goto out;
	err = search_image(module, &image, name, offset, fn, arg);
	elf_image_close(&image);
out:
	module_table_free(modules);
	return err;
}
