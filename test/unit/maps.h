/* The mappings of a running process, as a recorder would have them from mmap2 records. */
#ifndef UNIT_MAPS_H
#define UNIT_MAPS_H

#include "symbolize/modules/space.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

static struct module *maps_module(struct module_table *modules, const struct module_file *file)
{
	if (!strcmp(file->path, "[vdso]"))
		return module_table_vdso(modules);
	if (file->path[0] == '/')
		return module_table_file(modules, file);
	return module_table_anon(modules, file->pid, file->start);
}

static void maps_enter(struct space *space, struct module_table *modules, const char *line)
{
	struct module_file file = {.pid = space_pid(space)};
	uint64_t offset, ino;
	unsigned major, minor;
	char perms[5], path[4096] = "";
	struct mapping mapping;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %4095[^\n]",
	           &file.start, &file.end, perms, &offset, &major, &minor, &ino, path) < 7 ||
	    perms[2] != 'x')
		return;
	file.path = path;
	file.dev = makedev(major, minor);
	file.ino = ino;
	mapping.start = file.start;
	mapping.end = file.end;
	mapping.module = maps_module(modules, &file);
	if (!mapping.module)
		return;
	mapping.bias = mapping.module->type == MODULE_ANON
	                       ? 0
	                       : file.start - module_vaddr(mapping.module, offset);
	space_map(space, &mapping);
}

/* Replaces what the space had. */
static void maps_read(struct space *space, struct module_table *modules)
{
	char path[64], line[8192];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", space_pid(space));
	maps = fopen(path, "re");
	if (!maps)
		return;
	space_clear(space);
	while (fgets(line, sizeof(line), maps))
		maps_enter(space, modules, line);
	fclose(maps);
}

#endif
