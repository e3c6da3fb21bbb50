#include "cli/mapping.h"

#include "symbolize/jitdump.h"

#include <string.h>
#include <sys/sysmacros.h>

static bool is_file(const struct record *record)
{
	const char *path = record->mmap.path;

	/* What has a build-id is an ELF file wherever it lies, else code made at run time. */
	return path[0] == '/' && path[1] != '/' &&
	       (record->mmap.build_id_size ||
	        (strncmp(path, "/memfd:", 7) != 0 && strncmp(path, "/SYSV", 5) != 0 &&
	         strncmp(path, "/dev/zero", 9) != 0 && strncmp(path, "/dev/shm/", 9) != 0));
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
		return module_table_vdso(modules);
	jitdump_files_add(module_table_jitdumps(modules), &file);
	return is_file(record) ? module_table_file(modules, &file) : NULL;
}

/* Windows of code without a file are 4 GiB: what lies across two is two mappings. */
static void map_anonymous(struct module_table *modules, struct space *space, struct mapping mapping)
{
	uint64_t end = mapping.end;

	while (mapping.start < end) {
		mapping.bias = mapping.start & ~(uint64_t)UINT32_MAX;
		mapping.end = end - mapping.bias > UINT32_MAX ? mapping.bias + UINT32_MAX + 1 : end;
		mapping.module = module_table_anon(modules, space_pid(space), mapping.start);
		if (!mapping.module || space_map(space, &mapping))
			return;
		mapping.start = mapping.end;
	}
}

void mapping_enter(struct module_table *modules, struct space *space, const struct record *record)
{
	struct mapping mapping = {.start = record->mmap.start, .end = record->mmap.end};

	if (mapping.start >= mapping.end || mapping.end >> 63)
		return;
	mapping.module = module_of(modules, record);
	if (!mapping.module) {
		map_anonymous(modules, space, mapping);
		return;
	}
	mapping.bias = mapping.start;
	if (mapping.module->kind == MODULE_FILE)
		mapping.bias -= module_vaddr(mapping.module, record->mmap.pgoff);
	space_map(space, &mapping);
}
