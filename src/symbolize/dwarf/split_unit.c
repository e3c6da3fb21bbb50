#include "symbolize/dwarf/split_unit.h"
#include "symbolize/elf/elf_sections.h"
#include "symbolize/dwarf/split_index.h"
#include "symbolize/modules/target_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* The largest programs are made of some 50,000 object files. */
#define MAX_TRIES (1u << 16)

bool dwarf_unit_is_skeleton(const struct dwarf_unit *unit)
{
	return unit->dwo_id && unit->root.attrs[DIE_DWO_NAME].form;
}

/* -- files ------------------------------------------------------------------------------------- */

static void file_close(struct split_file *file)
{
	dwarf_close(&file->dwarf);
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct split_file){.fd = -1};
}

static uint64_t dwarf_size(const struct dwarf *dwarf)
{
	uint64_t size = 0;
	unsigned i;

	for (i = 0; i < NR_DWARF_SECTIONS; i++)
		size += dwarf->sections[i].size;
	return size;
}

/* Allows as many steps per byte that is read as dwarf_open() does. */
static uint64_t steps_for(const struct dwarf *dwarf)
{
	return 8 * dwarf_size(dwarf);
}

/* 0, -ENOENT: not a file of split units, -ENOMEM. */
static int file_open(struct split_file *file, struct split_files *files, const char *path)
{
	int err = -ENOENT;

	*file = (struct split_file){.fd = target_file_open(path, 0, NULL)};
	if (file->fd >= 0)
		file->elf = elf_file_begin(file->fd);
	if (file->elf)
		err = dwarf_open_split(&file->dwarf, file->elf, files->left);
	if (!err) {
		files->left -= dwarf_size(&file->dwarf);
		return 0;
	}
	file_close(file);
	return err == -ENOMEM ? err : -ENOENT;
}

static bool fd_path(int fd, char path[PATH_MAX])
{
	char self[32];
	ssize_t size;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	size = fd < 0 ? -1 : readlink(self, path, PATH_MAX - 1);
	if (size <= 0 || path[0] != '/')
		return false;
	path[size] = '\0';
	return true;
}

void split_files_init(struct split_files *files, const struct elf_image *image, size_t max)
{
	*files = (struct split_files){
		.fds = {image->main_fd, image->debug_fd},
		.left = max,
		.tries = image->only_own ? 0 : MAX_TRIES,
		.have_package = image->only_own,
		.package.fd = -1,
	};
}

void split_files_fini(struct split_files *files)
{
	file_close(&files->package);
}

/* -- where it is ------------------------------------------------------------------------------- */

/* The unit with this number among those of the file; it has nothing of the skeleton's yet. */
static int unit_find(struct split_unit *split, uint64_t dwo_id)
{
	size_t i;
	int err;

	for (i = 0; i < split->dwarf.nr_units && dwarf_step(&split->dwarf, 1); i++) {
		err = dwarf_unit_open(&split->unit, &split->dwarf, split->dwarf.units[i]);
		if (err == -ENOMEM)
			return err;
		if (err)
			continue;
		if (split->unit.dwo_id == dwo_id)
			return 0;
		dwarf_unit_close(&split->unit);
	}
	return -ENOENT;
}

static int package_open(struct split_files *files)
{
	char own[PATH_MAX], path[PATH_MAX + 8];
	GElf_Shdr shdr;
	Elf_Scn *section;
	Elf_Data *data;
	size_t i;
	int err = -ENOENT;

	for (i = 0; i < 2 && err == -ENOENT; i++) {
		if (!fd_path(files->fds[i], own))
			continue;
		snprintf(path, sizeof(path), "%s.dwp", own);
		err = file_open(&files->package, files, path);
	}
	if (err)
		return err == -ENOMEM ? err : 0;
	section = elf_section_find(files->package.elf, SHT_PROGBITS, ".debug_cu_index", &shdr);
	data = section ? elf_section_data(section, files->left) : NULL;
	if (data)
		files->index = (struct dwarf_bytes){data->d_buf, data->d_size};
	return 0;
}

static int in_package(struct split_unit *split, struct split_files *files, uint64_t dwo_id)
{
	struct dwarf *dwarf = &split->dwarf;
	int err = 0;

	if (!files->have_package) {
		err = package_open(files);
		dwarf->work += steps_for(&files->package.dwarf);
	}
	files->have_package = true;
	if (err)
		return err;
	memcpy(dwarf->sections, files->package.dwarf.sections, sizeof(dwarf->sections));
	if (!split_index_narrow(&files->index, dwo_id, dwarf->sections))
		return -ENOENT;
	err = dwarf_units_find(dwarf);
	return err ? err : unit_find(split, dwo_id);
}

static int in_file(struct split_unit *split, struct split_files *files, const char *path,
                   uint64_t dwo_id)
{
	int err = file_open(&split->file, files, path);

	if (err)
		return err;
	split->file.dwarf.work = split->dwarf.work + steps_for(&split->file.dwarf);
	split->dwarf = split->file.dwarf;
	split->file.dwarf = (struct dwarf){0};
	return unit_find(split, dwo_id);
}

#define NR_WAYS 5

/*
 * Where the compiler wrote it; then from the program's folder, or its debug file's, as where all of
 * it has moved. False: there is no such way.
 */
static bool way_path(const struct split_files *files, const struct dwarf_unit *skeleton,
                     unsigned way, char path[2 * PATH_MAX])
{
	const char *name = dwarf_die_string(skeleton, &skeleton->root, DIE_DWO_NAME);
	const char *folder = dwarf_die_string(skeleton, &skeleton->root, DIE_COMP_DIR);
	char own[PATH_MAX];
	const char *base;

	if (!name || !*name || strnlen(name, PATH_MAX) == PATH_MAX)
		return false;
	if (*name == '/' && !way)
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	if (!way)
		return folder && *folder == '/' &&
		       snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX, folder, name) < PATH_MAX;
	base = strrchr(name, '/');
	if (way > 2 ? !base : *name == '/')
		return false;
	if (!fd_path(files->fds[(way - 1) % 2], own))
		return false;
	*strrchr(own, '/') = '\0';
	snprintf(path, 2 * PATH_MAX, "%s/%s", own, way > 2 ? base + 1 : name);
	return true;
}

static void split_reset(struct split_unit *split, struct dwarf *main)
{
	const uint64_t work = split->dwarf.work;

	dwarf_close(&split->dwarf);
	file_close(&split->file);
	split->dwarf.work = work;
	split->main = main;
}

static int split_find(struct split_unit *split, struct split_files *files,
                      const struct dwarf_unit *skeleton)
{
	int err = in_package(split, files, skeleton->dwo_id);
	char path[2 * PATH_MAX];
	unsigned way;

	for (way = 0; way < NR_WAYS && err == -ENOENT; way++) {
		split_reset(split, skeleton->dwarf);
		if (way_path(files, skeleton, way, path))
			err = in_file(split, files, path, skeleton->dwo_id);
	}
	return err;
}

/* -- what it has of the skeleton --------------------------------------------------------------- */

static void split_complete(struct split_unit *split, const struct dwarf_unit *skeleton)
{
	const struct dwarf_attr *ranges_base = &skeleton->root.attrs[DIE_RANGES_BASE];
	struct dwarf_unit *unit = &split->unit;

	split->dwarf.sections[DWARF_ADDR] = skeleton->dwarf->sections[DWARF_ADDR];
	unit->addr_base = skeleton->addr_base;
	unit->low_pc = skeleton->low_pc;
	if (unit->version >= 5)
		return;
	split->dwarf.sections[DWARF_RANGES] = skeleton->dwarf->sections[DWARF_RANGES];
	unit->ranges_base = ranges_base->value;
}

int split_unit_open(struct split_unit *split, struct split_files *files,
                    const struct dwarf_unit *skeleton)
{
	int err = -ENOENT;

	*split = (struct split_unit){.file.fd = -1, .main = skeleton->dwarf};
	split->dwarf.work = skeleton->dwarf->work;
	if (files->tries) {
		files->tries--;
		err = split_find(split, files, skeleton);
	}
	if (!err) {
		split_complete(split, skeleton);
		return 0;
	}
	files->nr_missing += err == -ENOENT;
	split_unit_close(split);
	return err;
}

void split_unit_close(struct split_unit *split)
{
	split->main->work = split->dwarf.work;
	dwarf_unit_close(&split->unit);
	dwarf_close(&split->dwarf);
	file_close(&split->file);
}
