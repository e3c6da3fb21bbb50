#include "record/tasks/mapping.h"

#include "symbolize/modules/module.h"
#include "symbolize/modules/moved_code.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Where code lies that was made at run time and is shared, and seldom programs. */
static bool is_memory(const char *path)
{
	return !strncmp(path, "/memfd:", 7) || !strncmp(path, "/SYSV", 5) ||
	       !strncmp(path, "/dev/zero", 9) || !strncmp(path, "/dev/shm/", 9) ||
	       !strncmp(path, "/anon_hugepage", 14);
}

/* A file with a build-id is an ELF file, whatever its path is. */
static bool is_file(struct module_table *modules, const struct module_file *file)
{
	return file->path[0] == '/' && file->path[1] != '/' &&
	       (file->build_id.size || !is_memory(file->path) ||
	        module_table_is_elf(modules, file));
}

/* Programs of 32 bits have another one than we. */
static struct module *vdso_of(struct module_table *modules, const struct module_file *file)
{
	return sizeof(void *) > 4 && file->end <= UINT32_MAX ? module_table_vdso32(modules, file)
	                                                     : module_table_vdso(modules);
}

/* NULL: code without a file, or a table that is full. */
static struct module *module_of(struct module_table *modules, const struct record *record)
{
	struct module_file file = {
		.path = record->mmap.path,
		.pid = (pid_t)record->pid,
		.start = record->mmap.start,
		.end = record->mmap.end,
		.dev = makedev(record->mmap.dev_major, record->mmap.dev_minor),
		.ino = record->mmap.ino,
		.ino_generation = record->mmap.ino_generation,
		.build_id.size = record->mmap.build_id_size,
	};

	memcpy(file.build_id.bytes, record->mmap.build_id, sizeof(file.build_id.bytes));
	if (!strcmp(record->mmap.path, "[vdso]"))
		return vdso_of(modules, &file);
	module_table_add_jitdump(modules, &file);
	return is_file(modules, &file) ? module_table_file(modules, &file) : NULL;
}

/* The module of the area that the address is in; file: NULL: it is in no file. */
static struct module *module_at(struct module_table *modules, const struct space *space,
                                struct module *file, uint64_t address)
{
	if (!file)
		return module_table_anon(modules, space_pid(space), address);
	return file->type == MODULE_FILE ? module_table_area(modules, file, address >> 32) : file;
}

/* A module has the addresses of one area: a mapping that lies across two is entered as two. */
static int enter(struct module_table *modules, struct space *space, const struct mapping *mapping)
{
	struct mapping part = *mapping;
	int err = 0;

	for (; part.start < mapping->end && !err; part.start = part.end) {
		uint64_t address = part.start - part.bias, left = UINT32_MAX - (uint32_t)address;

		part.end =
			mapping->end - part.start - 1 > left ? part.start + left + 1 : mapping->end;
		part.module = module_at(modules, space, mapping->module, address);
		err = part.module ? space_map(space, &part) : -ENOMEM;
	}
	return err;
}

/* Memory, or a file that is no program: unless code was moved there. */
static int enter_other(struct module_table *modules, struct space *space, struct mapping mapping)
{
	struct mapping part, behind = mapping;
	int err;

	if (!moved_code_find(modules, space, mapping.start, mapping.end, &part))
		return enter(modules, space, &mapping);
	mapping.end = part.start;
	behind.start = part.end;
	err = enter(modules, space, &part);
	if (!err)
		err = enter(modules, space, &mapping);
	return err ? err : enter(modules, space, &behind);
}

/* Modules of one file differ in their areas alone. */
static bool is_of_file(const struct module *a, const struct module *b)
{
	return a == b || (a->type == b->type && a->dev == b->dev && a->ino == b->ino &&
	                  !strcmp(a->path, b->path));
}

/* Whether another segment of the module is mapped where this bias puts it. */
static bool goes_with_others(const struct space *space, const struct module *module, uint64_t bias)
{
	for (unsigned i = 0; i < module->nr_segments; i++) {
		const struct mapping *map = space_find(space, bias + module->segments[i].vaddr);

		if (map && map->bias == bias && is_of_file(map->module, module))
			return true;
	}
	return false;
}

/* Segments may share a page of the file: then the offset alone does not tell which is mapped. */
static uint64_t bias_of(const struct space *space, const struct module *module,
                        const struct record *record)
{
	const uint64_t from = record->mmap.pgoff;
	const uint64_t to = from + (record->mmap.end - record->mmap.start);
	const struct segment *segment = module->segments;

	for (unsigned i = 0; module->nr_segments > 1 && i < module->nr_segments; i++, segment++) {
		uint64_t bias = record->mmap.start - (from + (segment->vaddr - segment->offset));

		if (segment->offset < to && segment->offset + segment->size > from &&
		    goes_with_others(space, module, bias))
			return bias;
	}
	return record->mmap.start - module_vaddr(module, from);
}

int mapping_enter(struct module_table *modules, struct space *space, const struct record *record)
{
	struct mapping mapping = {.start = record->mmap.start, .end = record->mmap.end};
	const struct module *module;

	if (mapping.start >= mapping.end || mapping.end >> 63)
		return 0;
	module = mapping.module = module_of(modules, record);
	if (module)
		mapping.bias = module->type == MODULE_FILE ? bias_of(space, module, record)
		                                           : mapping.start;
	if (!module || (module->type == MODULE_FILE && !module->nr_segments))
		return enter_other(modules, space, mapping);
	return enter(modules, space, &mapping);
}
