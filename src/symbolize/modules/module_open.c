/*
 * Open files of modules. Files that samples met stay open first, because their names may lead
 * nowhere when they are read. The others stay open by last use.
 */
#include "symbolize/modules/module_entry.h"
#include "symbolize/modules/target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAST_OPEN 64

static void open_unlink(struct module_table *table, struct entry *entry)
{
	table->entries[entry->newer]->older = entry->older;
	table->entries[entry->older]->newer = entry->newer;
	table->nr_open--;
	table->nr_irreplaceable -= !entry->replaceable;
}

static void open_link(struct module_table *table, struct entry *entry)
{
	struct entry *ring = table->entries[0];

	entry->newer = 0;
	entry->older = ring->older;
	table->entries[ring->older]->newer = entry->module.id;
	ring->older = entry->module.id;
	table->nr_open++;
	table->nr_irreplaceable += !entry->replaceable;
}

void module_entry_close(struct module_table *table, struct entry *entry)
{
	if (entry->module.fd < 0)
		return;
	open_unlink(table, entry);
	close(entry->module.fd);
	entry->module.fd = -1;
}

/* Ascending by what is lost with it. */
static unsigned worth(const struct entry *entry)
{
	return 2u * entry->module.named + !entry->replaceable;
}

/*
 * Returns the oldest of the files of least worth. Files that no name leads to any more (deleted, or
 * of a container) are closed last, but they may be closed.
 */
static struct entry *open_least(const struct module_table *table)
{
	const bool many = table->nr_irreplaceable >= table->nr_open / 4 * 3;
	struct entry *oldest[4] = {NULL};

	for (uint16_t id = table->entries[0]->older; id; id = table->entries[id]->older)
		oldest[worth(table->entries[id])] = table->entries[id];
	if (oldest[0] || oldest[1])
		return oldest[0] ? oldest[0] : oldest[1];
	return oldest[2] && !(many && oldest[3]) ? oldest[2] : oldest[3];
}

/* Numbers are given from the lowest on: a high one says that most are in use. */
static bool is_in_upper_half(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) || (rlim_t)fd >= limit.rlim_cur / 2;
}

/* Half of all descriptors are left to others, and some files stay open in any case. */
static void open_limit(struct module_table *table, int fd)
{
	if (table->nr_open >= LEAST_OPEN && table->nr_open < table->max_open &&
	    is_in_upper_half(fd))
		table->max_open = table->nr_open;
	if (table->nr_open == table->max_open)
		module_entry_close(table, open_least(table));
}

static void entry_opened(struct module_table *table, struct entry *entry, int fd)
{
	open_limit(table, fd);
	entry->module.fd = fd;
	entry->errnum = 0;
	open_link(table, entry);
}

/* Can be had again at any time. */
static bool is_own_vdso(const struct module *module)
{
	return module->type == MODULE_VDSO && !module->area;
}

void module_entry_learn(struct module_table *table, struct entry *entry,
                        const struct mapped_file *found)
{
	struct module *module = &entry->module;

	entry->stamp = found->stamp;
	entry->replaceable = is_own_vdso(module) || found->path_leads;
	entry->foreign = found->foreign;
	module->build_id = found->headers.build_id;
	if (module->type == MODULE_FILE && found->headers.nr_segments)
		module->area = found->headers.segments[0].vaddr >> 32;
	module->nr_segments = found->headers.nr_segments;
	module->is_static = found->headers.is_static;
	memcpy(module->segments, found->headers.segments, sizeof(module->segments));
	entry_opened(table, entry, found->fd);
}

void module_entry_share(struct module_table *table, struct entry *entry, const struct entry *of)
{
	struct module *module = &entry->module;
	int fd = of->module.fd >= 0 ? fcntl(of->module.fd, F_DUPFD_CLOEXEC, 0) : -1;

	entry->key = of->key;
	entry->stamp = of->stamp;
	entry->replaceable = of->replaceable;
	entry->foreign = of->foreign;
	entry->errnum = of->errnum;
	entry->tries = of->tries;
	module->build_id = of->module.build_id;
	module->dev = of->module.dev;
	module->ino = of->module.ino;
	module->nr_segments = of->module.nr_segments;
	memcpy(module->segments, of->module.segments, sizeof(module->segments));
	if (fd >= 0)
		entry_opened(table, entry, fd);
}

int module_find_file(struct module_table *table, struct mapped_file *found,
                     const struct module_file *said, const struct file_stamp *seen)
{
	return table->aside ? files_aside_open(table->aside, found, said, seen)
	                    : mapped_file_open(found, said, seen);
}

/* Opens a file by the latest process that mapped it. */
static int find_again(struct module_table *table, struct mapped_file *found,
                      const struct entry *entry)
{
	const struct module_file said = {
		.path = entry->module.path,
		.pid = entry->module.pid,
		.dev = entry->module.dev,
		.ino = entry->module.ino,
		.build_id = entry->module.build_id,
	};

	return module_find_file(table, found, &said, &entry->stamp);
}

/* An entry that was made without its file keeps the area that the caller gave. */
static int open_file(struct module_table *table, struct entry *entry)
{
	uint64_t area = entry->module.area;
	struct mapped_file found;
	int err = find_again(table, &found, entry);

	if (err)
		return err;
	if (entry->stamp.ino) {
		entry_opened(table, entry, found.fd);
		return 0;
	}
	module_entry_learn(table, entry, &found);
	entry->module.area = area;
	return 0;
}

static int open_vdso(struct module_table *table, struct entry *entry)
{
	int fd = target_file_vdso();

	if (fd < 0)
		return fd;
	entry_opened(table, entry, fd);
	return 0;
}

static int entry_reopen(struct module_table *table, struct entry *entry)
{
	int err = is_own_vdso(&entry->module) ? open_vdso(table, entry) : open_file(table, entry);

	entry->errnum = -err;
	return err;
}

static bool is_read_aside(const struct module_table *table, const struct entry *entry)
{
	return table->aside && entry->foreign;
}

/* A file can be written over while it is open. */
static int entry_check(struct module_table *table, struct entry *entry)
{
	if (entry->module.type == MODULE_VDSO || is_read_aside(table, entry) ||
	    mapped_file_unchanged(entry->module.fd, &entry->stamp, &entry->module.build_id))
		return 0;
	module_entry_close(table, entry);
	entry->errnum = ESTALE;
	return -ESTALE;
}

int module_fd(struct module_table *table, struct module *module)
{
	struct entry *entry = (struct entry *)module;

	if (module->fd >= 0 && !entry_check(table, entry)) {
		open_unlink(table, entry);
		open_link(table, entry);
		return module->fd;
	}
	if (!entry->errnum && !entry_reopen(table, entry))
		return module->fd;
	errno = entry->errnum;
	return -1;
}

int *module_table_files(const struct module_table *table, size_t *nr)
{
	int *files = calloc(table->nr_open + table->jitdumps.nr + table->folders.nr + 1UL,
	                    sizeof(*files));

	*nr = 0;
	if (!files)
		return NULL;
	for (uint16_t id = table->entries[0]->older; id; id = table->entries[id]->older)
		files[(*nr)++] = table->entries[id]->module.fd;
	for (unsigned i = 0; i < table->jitdumps.nr; i++)
		files[(*nr)++] = table->jitdumps.files[i].fd;
	for (unsigned i = 0; i < table->folders.nr; i++)
		files[(*nr)++] = table->folders.folders[i].fd;
	return files;
}

ssize_t module_read(struct module_table *table, struct module *module, void *to, size_t size,
                    off_t offset)
{
	const struct entry *entry = (struct entry *)module;
	int fd = module_fd(table, module);

	if (fd < 0)
		return -1;
	if (!is_read_aside(table, entry))
		return pread(fd, to, size, offset);
	return files_aside_read(table->aside, module->path, fd, &entry->stamp, &module->build_id,
	                        to, size, offset);
}
