#include "symbolize/elf/debug_file.h"
#include "symbolize/elf/elf_sections.h"
#include "symbolize/modules/mapped_file.h"
#include "symbolize/modules/target_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <dlfcn.h>
#include <stddef.h>

#define DEBUG_FOLDER "/usr/lib/debug"
#define MAX_CHECKED  (1u << 30)

/* The name of a debug file in its folder, and the CRC-32 of its contents. */
struct debuglink {
	char name[NAME_MAX + 1];
	uint32_t crc;
};

static bool debuglink_read(Elf *elf, struct debuglink *link)
{
	GElf_Shdr shdr;
	Elf_Scn *section = elf_section_find(elf, SHT_PROGBITS, ".gnu_debuglink", &shdr);
	Elf_Data *data = section ? elf_section_data(section, 4096) : NULL;
	size_t size, at;

	if (!data)
		return false;
	size = strnlen(data->d_buf, data->d_size);
	at = (size + 4) & ~(size_t)3;
	if (!size || size > NAME_MAX || at > data->d_size || data->d_size - at < 4 ||
	    memchr(data->d_buf, '/', size))
		return false;
	memcpy(link->name, data->d_buf, size);
	link->name[size] = '\0';
	memcpy(&link->crc, (const char *)data->d_buf + at, sizeof(link->crc));
	return true;
}

static uint32_t crc_add(uint32_t crc, const unsigned char *data, size_t size)
{
	static const uint32_t nibble[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};

	while (size--) {
		crc ^= *data++;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return crc;
}

static bool crc_matches(int fd, uint32_t expected)
{
	unsigned char data[16384];
	uint32_t crc = UINT32_MAX;
	off_t at = 0;
	ssize_t got;

	while ((got = pread(fd, data, sizeof(data), at)) > 0 && at < MAX_CHECKED) {
		crc = crc_add(crc, data, (size_t)got);
		at += got;
	}
	return !got && ~crc == expected;
}

/* A stripped program is the same program, and may have the name of its debug file. */
static bool is_stripped(int fd)
{
	Elf *elf = elf_file_begin(fd);
	bool stripped = !elf || (!elf_has_symtab(elf) && !elf_has_dwarf(elf));

	elf_end(elf);
	return stripped;
}

static bool is_of(int fd, const struct module *module, const struct debuglink *link)
{
	struct elf_headers headers;

	if (elf_headers_read(fd, &headers))
		return false;
	return module->build_id.size ? build_id_equal(&headers.build_id, &module->build_id)
	                             : link && crc_matches(fd, link->crc);
}

static int try_program(const char *path, const struct module *module, const struct debuglink *link)
{
	int fd = target_file_open(path, 0, NULL);

	if (fd < 0)
		return -ENOENT;
	if (is_of(fd, module, link))
		return fd;
	close(fd);
	return -ENOENT;
}

static int try_file(const char *path, const struct module *module, const struct debuglink *link)
{
	int fd = try_program(path, module, link);

	if (fd < 0 || !is_stripped(fd))
		return fd;
	close(fd);
	return -ENOENT;
}

#define BUILD_ID_PATH (sizeof(DEBUG_FOLDER "/.build-id/.debug") + 2 * BUILD_ID_MAX + 2)

static bool build_id_path(const struct build_id *id, char path[BUILD_ID_PATH])
{
	size_t at;
	unsigned i;

	if (id->size < 2)
		return false;
	at = (size_t)sprintf(path, DEBUG_FOLDER "/.build-id/%02x/", id->bytes[0]);
	for (i = 1; i < id->size; i++)
		at += (size_t)sprintf(path + at, "%02x", id->bytes[i]);
	memcpy(path + at, ".debug", sizeof(".debug"));
	return true;
}

#define ROOT_SIZE (sizeof("/proc//root") + 10)

/* Builds the path of the process's root: its container may have files that the host has not. */
static bool module_root(const struct module *module, char root[ROOT_SIZE])
{
	snprintf(root, ROOT_SIZE, "/proc/%d/root", module->pid);
	return module->type == MODULE_FILE && module->pid > 0;
}

static int try_build_id(const struct module *module, const char *root)
{
	char id[BUILD_ID_PATH], path[ROOT_SIZE + BUILD_ID_PATH];

	if (!build_id_path(&module->build_id, id))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s%s", root, id);
	return try_file(path, module, NULL);
}

/*
 * Searches the same folders as gdb. Anybody may be able to write to the module's own folder, so the
 * contents of the file must match.
 */
static int try_debuglink(const struct module *module, const char *root,
                         const struct debuglink *link)
{
	static const char *const forms[] = {
		"%s%.*s/%s",
		"%s%.*s/.debug/%s",
		"%s" DEBUG_FOLDER "%.*s/%s",
	};
	const char *slash = strrchr(module->path, '/');
	char path[ROOT_SIZE + PATH_MAX + NAME_MAX + 32];
	int fd = -ENOENT;
	size_t i;

	if (module->path[0] != '/' || slash - module->path > PATH_MAX)
		return -ENOENT;
	for (i = 0; i < sizeof(forms) / sizeof(*forms) && fd < 0; i++) {
		snprintf(path, sizeof(path), forms[i], root, (int)(slash - module->path),
		         module->path, link->name);
		fd = try_file(path, module, link);
	}
	return fd;
}

static int try_installed(const struct module *module, const char *root,
                         const struct debuglink *link)
{
	int fd = try_build_id(module, root);

	return fd < 0 && link ? try_debuglink(module, root, link) : fd;
}

typedef int try_fn(const char *path, const struct module *module, const struct debuglink *link);

/* A file without a build-id could be anything of this name. */
static int try_folder(const struct module *module, const char *folder, try_fn *try)
{
	static const char *const forms[] = {"%s%s", "%s/%s", "%s/%s.debug", "%s/.debug/%s.debug"};
	const char *base = strrchr(module->path, '/');
	char path[2 * PATH_MAX], id[BUILD_ID_PATH];
	int fd = -ENOENT;
	size_t i;

	if (!base || !build_id_path(&module->build_id, id))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s%s", folder, id + strlen(DEBUG_FOLDER));
	fd = try(path, module, NULL);
	for (i = 0; i < sizeof(forms) / sizeof(*forms) && fd < 0; i++) {
		snprintf(path, sizeof(path), forms[i], folder, i ? base + 1 : module->path);
		fd = try(path, module, NULL);
	}
	return fd;
}

static int try_server(const struct module *module)
{
	struct elf_headers headers;
	int fd = debuginfod_fetch(&module->build_id);

	if (fd < 0)
		return -ENOENT;
	if (!elf_headers_read(fd, &headers) && build_id_equal(&headers.build_id, &module->build_id))
		return fd;
	close(fd);
	return -ENOENT;
}

int debug_file_open(const struct module *module, Elf *elf, const struct debug_search *search)
{
	struct debuglink link;
	bool linked = elf && debuglink_read(elf, &link);
	int fd = try_installed(module, "", linked ? &link : NULL);
	char root[ROOT_SIZE];

	if (fd < 0 && module_root(module, root))
		fd = try_installed(module, root, linked ? &link : NULL);
	if (fd < 0 && search && search->folder)
		fd = try_folder(module, search->folder, try_file);
	if (fd < 0 && search && search->folder && !elf)
		fd = try_folder(module, search->folder, try_program);
	if (fd < 0 && search && search->ask_server)
		fd = try_server(module);
	return fd;
}

/* -- what dwz made ----------------------------------------------------------------------------- */

/* The name of a file, and its build-id. */
struct altlink {
	char name[PATH_MAX];
	struct build_id id;
};

static bool altlink_read(Elf *elf, struct altlink *link)
{
	GElf_Shdr shdr;
	Elf_Scn *section = elf_section_find(elf, SHT_PROGBITS, ".gnu_debugaltlink", &shdr);
	Elf_Data *data = section ? elf_section_data(section, 2 * PATH_MAX) : NULL;
	size_t size, left;

	if (!data)
		return false;
	size = strnlen(data->d_buf, data->d_size);
	if (!size || size >= PATH_MAX || size == data->d_size)
		return false;
	memcpy(link->name, data->d_buf, size + 1);
	left = data->d_size - size - 1;
	if (left < 2 || left > BUILD_ID_MAX)
		return false;
	link->id.size = (uint8_t)left;
	memcpy(link->id.bytes, (const char *)data->d_buf + size + 1, left);
	return true;
}

/* Such files have no program headers to find notes by. */
static bool note_matches(int fd, const struct build_id *id)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	GElf_Shdr shdr;
	Elf_Scn *section = elf_section_find(elf, SHT_NOTE, ".note.gnu.build-id", &shdr);
	Elf_Data *data = section ? elf_section_data(section, 4096) : NULL;
	size_t name, desc;
	bool matches = false;
	GElf_Nhdr note;

	if (data && gelf_getnote(data, 0, &note, &name, &desc) > 0)
		matches = note.n_type == NT_GNU_BUILD_ID && note.n_descsz == id->size &&
		          !memcmp((const char *)data->d_buf + desc, id->bytes, id->size);
	elf_end(elf);
	return matches;
}

static int try_alt(const char *root, const char *name, const struct build_id *id)
{
	char path[ROOT_SIZE + 2 * PATH_MAX];
	struct elf_headers headers;
	int fd;

	snprintf(path, sizeof(path), "%s%s", root, name);
	fd = target_file_open(path, 0, NULL);
	if (fd < 0)
		return -ENOENT;
	if (!elf_headers_read(fd, &headers) && headers.nr_sections < 1000 && note_matches(fd, id))
		return fd;
	close(fd);
	return -ENOENT;
}

/* Names are relative to the file that they are in. */
static int try_beside(const char *root, const struct altlink *link, int fd)
{
	char self[32], path[2 * PATH_MAX], *slash;
	ssize_t size;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	size = readlink(self, path, PATH_MAX - 1);
	if (size <= 0 || path[0] != '/')
		return -ENOENT;
	path[size] = '\0';
	slash = strrchr(path, '/');
	memcpy(slash + 1, link->name, strlen(link->name) + 1);
	return try_alt(root, path, &link->id);
}

static int try_alt_link(const char *root, const struct altlink *link, int fd)
{
	char path[BUILD_ID_PATH];
	int alt = -ENOENT;

	if (build_id_path(&link->id, path))
		alt = try_alt(root, path, &link->id);
	if (alt >= 0)
		return alt;
	return link->name[0] == '/' ? try_alt(root, link->name, &link->id)
	                            : try_beside(root, link, fd);
}

int debug_alt_open(const struct module *module, Elf *elf, int fd)
{
	struct altlink link;
	char root[ROOT_SIZE];
	int alt;

	if (!altlink_read(elf, &link))
		return -ENOENT;
	alt = try_alt_link("", &link, fd);
	return alt < 0 && module_root(module, root) ? try_alt_link(root, &link, fd) : alt;
}

#define LIBRARY "libdebuginfod.so.1"

typedef void *begin_fn(void);
typedef void end_fn(void *client);
typedef int find_fn(void *client, const unsigned char *id, int size, char **path);

bool debuginfod_present(void)
{
	void *library = dlopen(LIBRARY, RTLD_LAZY);

	if (library)
		dlclose(library);
	return library != NULL;
}

int debuginfod_fetch(const struct build_id *id)
{
	void *library = dlopen(LIBRARY, RTLD_LAZY), *client;
	begin_fn *begin;
	end_fn *end;
	find_fn *find;
	int fd = -ENOENT;

	if (!library || !id->size)
		goto out;
	begin = (begin_fn *)dlsym(library, "debuginfod_begin");
	end = (end_fn *)dlsym(library, "debuginfod_end");
	find = (find_fn *)dlsym(library, "debuginfod_find_debuginfo");
	client = begin && end && find ? begin() : NULL;
	if (!client)
		goto out;
	fd = find(client, id->bytes, id->size, NULL);
	end(client);
out:
	if (library)
		dlclose(library);
	return fd;
}
