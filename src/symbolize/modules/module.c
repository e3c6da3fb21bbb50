#include "base/array.h"
#include "symbolize/modules/module_entry.h"
#include "symbolize/modules/target_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_MODULES UINT16_MAX /* and number 0 */
/* How often a file is tried again that could not be opened: its processes may all be short. */
#define MAX_TRIES 1000
/* New modules after which those are forgotten that no sample met: up to 600 KiB. */
#define CROWD 1024

static XXH128_hash_t area_key(enum module_type type, pid_t pid, uint64_t area)
{
	const uint64_t numbers[3] = {type, (uint64_t)pid, area};

	return XXH3_128bits(numbers, sizeof(numbers));
}

static XXH128_hash_t name_key(const char *path, const struct build_id *id)
{
	return XXH3_128bits_withSeed(path, strlen(path), XXH3_64bits(id->bytes, id->size));
}

/*
 * Makes the key of a file from the kernel's record, which has either the build-id or the device and
 * inode.
 */
static XXH128_hash_t said_key(const struct module_file *said)
{
	const uint64_t numbers[4] = {MODULE_FILE, said->dev, said->ino, said->ino_generation};

	return said->ino ? XXH3_128bits(numbers, sizeof(numbers))
	                 : name_key(said->path, &said->build_id);
}

/*
 * Makes the key of an open file. Mappings that existed before the recording (read from /proc) and
 * later ones then get the same module.
 */
static XXH128_hash_t found_key(const char *path, const struct mapped_file *found)
{
	const struct file_stamp *stamp = &found->stamp;
	const uint64_t numbers[6] = {MODULE_FILE,
	                             stamp->dev,
	                             stamp->ino,
	                             (uint64_t)stamp->size,
	                             (uint64_t)stamp->mtime.tv_sec,
	                             (uint64_t)stamp->mtime.tv_nsec};

	return found->headers.build_id.size ? name_key(path, &found->headers.build_id)
	                                    : XXH3_128bits(numbers, sizeof(numbers));
}

#define NO_NUMBER SIZE_MAX

/* A number without an entry. NO_NUMBER: there is none, or no memory. */
static size_t number_take(struct module_table *table)
{
	struct entry **entries;

	if (table->nr > MAX_MODULES) {
		while (table->nr_free && table->entries[table->free])
			table->free = (table->free + 1) % table->nr;
		return table->nr_free ? table->free : NO_NUMBER;
	}
	entries = array_grow(table->entries, table->nr, sizeof(*entries));
	if (!entries)
		return NO_NUMBER;
	table->entries = entries;
	return table->nr;
}

static struct entry *entry_new(struct module_table *table, enum module_type type, const char *path)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	size_t number = number_take(table);

	table->nr_new++;
	if (entry)
		entry->module.path = strdup(path);
	if (!entry || !entry->module.path || number == NO_NUMBER) {
		if (entry)
			free(entry->module.path);
		free(entry);
		table->refused++;
		return NULL;
	}
	entry->module.type = type;
	entry->module.fd = -1;
	entry->module.id = (uint16_t)number;
	entry->errnum = ENOENT;
	table->entries[number] = entry;
	if (number == table->nr)
		table->nr++;
	else
		table->nr_free--;
	return entry;
}

struct module_table *module_table_new(void)
{
	struct module_table *table = calloc(1, sizeof(*table));

	if (table) {
		table->max_open = MODULE_MAX_OPEN;
		table->memory = peer_memory_new();
	}
	if (table && table->memory && entry_new(table, MODULE_SPECIAL, "[unknown]"))
		return table;
	module_table_free(table);
	errno = ENOMEM;
	return NULL;
}

static void entry_drop(struct module_table *table, struct entry *entry)
{
	module_entry_close(table, entry);
	free(entry->module.path);
	free(entry);
}

void module_table_free(struct module_table *table)
{
	size_t i;

	if (!table)
		return;
	for (i = table->nr; i--;) /* number 0 last, which all open files are linked to */
		if (table->entries[i])
			entry_drop(table, table->entries[i]);
	files_aside_free(table->aside);
	kernel_code_fini(&table->kernel_code);
	jitdump_files_close(&table->jitdumps);
	target_folders_close(&table->folders);
	peer_memory_free(table->memory);
	free(table->entries);
	module_index_fini(&table->index);
	free(table);
}

size_t module_table_count(const struct module_table *table)
{
	return table->nr;
}

uint64_t module_table_refused(const struct module_table *table)
{
	return table->refused;
}

struct peer_memory *module_table_memory(struct module_table *table)
{
	return table->memory;
}

struct kernel_code *module_table_kernel_code(struct module_table *table)
{
	return &table->kernel_code;
}

struct jitdump_files *module_table_jitdumps(struct module_table *table)
{
	return &table->jitdumps;
}

void module_table_add_jitdump(struct module_table *table, const struct module_file *file)
{
	jitdump_files_add(&table->jitdumps, file, table->aside);
}

bool module_table_is_elf(struct module_table *table, const struct module_file *file)
{
	struct mapped_file found;

	if (module_find_file(table, &found, file, NULL))
		return false;
	close(found.fd);
	return true;
}

void module_mounts(const struct module_table *table, const struct module *module,
                   struct mounts *mounts)
{
	const struct entry *entry = (const struct entry *)module;
	const struct jitdump_file *dump = jitdump_files_find(&table->jitdumps, module->pid);
	const char *path = module->type == MODULE_FILE ? module->path : "/tmp";

	mounts_on_way(mounts, 0, path);
	if (module->pid > 0)
		mounts_on_way(mounts, module->pid, path);
	if (module->type == MODULE_ANON && dump && dump->is_handle)
		mounts_add(mounts, dump->dev);
	if (!mounts->nr && entry->foreign)
		mounts_add(mounts, entry->stamp.dev);
}

void module_table_search(struct module_table *table, const struct debug_search *search)
{
	table->search = search;
}

const struct debug_search *module_table_debug_search(const struct module_table *table)
{
	return table->search;
}

int module_table_read_aside(struct module_table *table, int patience_ms)
{
	table->aside = files_aside_new(patience_ms);
	return table->aside ? 0 : -ENOMEM;
}

void module_table_read_directly(struct module_table *table)
{
	table->aside = NULL;
}

bool module_is_unanswered(const struct module *module)
{
	return ((const struct entry *)module)->errnum == ETIMEDOUT;
}

bool module_is_no_elf(const struct module *module)
{
	return module->type == MODULE_FILE && !module->nr_segments &&
	       ((const struct entry *)module)->errnum == ENOEXEC;
}

void module_table_only_own_files(struct module_table *table)
{
	table->only_own_files = true;
}

bool module_table_has_only_own_files(const struct module_table *table)
{
	return table->only_own_files;
}

struct module *module_table_get(const struct module_table *table, uint16_t id)
{
	return id < table->nr && table->entries[id] ? &table->entries[id]->module : NULL;
}

/* -- those that no sample met ------------------------------------------------------------------ */

bool module_table_is_crowded(const struct module_table *table)
{
	return table->nr_new >= CROWD;
}

static bool is_of_use(const void *arg, uint16_t id)
{
	const struct module_table *table = arg;
	const struct module *module = &table->entries[id]->module;

	return module->named || module->mapped ||
	       (module->type != MODULE_FILE && module->type != MODULE_ANON);
}

static void entry_forget(struct module_table *table, uint16_t id)
{
	struct entry *entry = table->entries[id];

	table->nr_anon -= entry->module.type == MODULE_ANON;
	entry_drop(table, entry);
	table->entries[id] = NULL;
	table->nr_free++;
}

void module_table_forget(struct module_table *table)
{
	table->nr_new = 0;
	if (!module_index_keep(&table->index, is_of_use, table))
		return;
	for (size_t id = 1; id < table->nr; id++) {
		if (!table->entries[id])
			continue;
		if (is_of_use(table, (uint16_t)id))
			table->entries[id]->module.mapped = false;
		else
			entry_forget(table, (uint16_t)id);
	}
}

/* -- modules by what they are ------------------------------------------------------------------ */

static struct entry *key_lookup(const struct module_table *table, XXH128_hash_t key)
{
	uint16_t id = module_index_get(&table->index, key);

	return id ? table->entries[id] : NULL;
}

/* The module of addresses that are in no file. */
static struct entry *area_enter(struct module_table *table, enum module_type type, const char *path,
                                pid_t pid, uint64_t area)
{
	struct entry *entry = entry_new(table, type, path);

	if (!entry)
		return NULL;
	entry->module.pid = pid;
	entry->module.area = area;
	module_index_put(&table->index, area_key(type, pid, area), entry->module.id);
	return entry;
}

/* -- files ------------------------------------------------------------------------------------- */

static struct entry *file_enter(struct module_table *table, const struct module_file *said,
                                XXH128_hash_t key)
{
	struct entry *entry = entry_new(table, MODULE_FILE, said->path);

	if (!entry)
		return NULL;
	entry->key = key;
	entry->module.area = said->area ? *said->area : 0;
	entry->module.build_id = said->build_id;
	entry->module.dev = said->dev;
	entry->module.ino = said->ino;
	entry->module.pid = said->pid;
	return entry;
}

/*
 * Whether a later mapping says nothing new. It may show a file that could not be had before: its
 * first processes were too short, say. Or one that was written over, where a build-id would tell.
 */
static bool is_settled(const struct module_table *table, const struct entry *entry,
                       const struct module_file *said)
{
	if (entry->stamp.ino && table->aside && entry->foreign)
		return said->build_id.size ||
		       !files_aside_rewritten(table->aside, said, &entry->stamp);
	if (entry->stamp.ino)
		return said->build_id.size || !mapped_file_rewritten(said, &entry->stamp);
	return entry->errnum == ENOEXEC || entry->tries == MAX_TRIES;
}

/*
 * Tells whether the segments are the same, too. Prelinking, for instance, moves them and leaves the
 * build-id unchanged.
 */
static bool is_same(const struct entry *entry, const struct mapped_file *found)
{
	return entry->stamp.ino && entry->module.nr_segments == found->headers.nr_segments &&
	       !memcmp(entry->module.segments, found->headers.segments,
	               sizeof(entry->module.segments));
}

/* Copies the path without the mark that the kernel appends to the name of a deleted file. */
static char *path_copy(const struct module_file *said, const struct mapped_file *found)
{
	static const char mark[] = " (deleted)";
	size_t size = strlen(said->path), mark_size = strlen(mark);

	if (found->nameless && size > mark_size && !strcmp(said->path + size - mark_size, mark))
		size -= mark_size;
	return strndup(said->path, size);
}

/*
 * A file that was found at last gets a new number: frames of the old one were made without knowing
 * the segments.
 */
static struct entry *entry_of(struct module_table *table, const struct module_file *said,
                              const struct mapped_file *found)
{
	XXH128_hash_t key = found_key(said->path, found);
	struct entry *entry = key_lookup(table, key);

	if (entry && is_same(entry, found)) {
		entry->module.pid = said->pid;
		if (entry->stamp.dev == found->stamp.dev && entry->stamp.ino == found->stamp.ino)
			entry->stamp = found->stamp;
		return entry;
	}
	entry = file_enter(table, said, key);
	if (!entry)
		return NULL;
	module_entry_learn(table, entry, found);
	if (said->area)
		entry->module.area = *said->area;
	module_index_put(&table->index, key, entry->module.id);
	return entry;
}

static struct entry *file_found(struct module_table *table, struct module_file said,
                                const struct mapped_file *found)
{
	char *path = path_copy(&said, found);
	struct entry *entry = NULL;

	said.path = path;
	if (path)
		entry = entry_of(table, &said, found);
	if (!entry || entry->module.fd != found->fd)
		close(found->fd);
	free(path);
	return entry;
}

static struct entry *file_missing(struct module_table *table, const struct module_file *said,
                                  struct entry *before, int errnum)
{
	struct entry *entry =
		before && !before->stamp.ino ? before : file_enter(table, said, said_key(said));

	if (!entry)
		return NULL;
	entry->errnum = errnum;
	entry->tries++;
	return entry;
}

struct module *module_table_file(struct module_table *table, const struct module_file *file)
{
	XXH128_hash_t key = said_key(file);
	struct entry *before = key_lookup(table, key), *entry;
	struct mapped_file found;
	int err;

	if (before && is_settled(table, before, file)) {
		before->module.pid = file->pid;
		if (before->stamp.ino && before->module.fd < 0)
			before->errnum = 0;
		return &before->module;
	}
	err = module_find_file(table, &found, file, NULL);
	entry = err ? file_missing(table, file, before, -err) : file_found(table, *file, &found);
	if (!entry)
		return before ? &before->module : NULL;
	module_index_put(&table->index, key, entry->module.id);
	return &entry->module;
}

struct module *module_table_unopened(struct module_table *table, const struct module_file *file)
{
	struct entry *entry = file_enter(table, file, said_key(file));

	if (!entry)
		return NULL;
	entry->errnum = 0;
	return &entry->module;
}

struct module *module_table_area(struct module_table *table, struct module *module, uint64_t area)
{
	const struct entry *of = (const struct entry *)module;
	const uint64_t numbers[3] = {of->key.low64, of->key.high64, area};
	const XXH128_hash_t key = XXH3_128bits(numbers, sizeof(numbers));
	struct entry *entry;

	if (module->area == area)
		return module;
	entry = key_lookup(table, of->key);
	if (!entry || entry->module.area != area)
		entry = key_lookup(table, key);
	if (!entry) {
		entry = entry_new(table, MODULE_FILE, module->path);
		if (!entry)
			return NULL;
		entry->module.area = area;
		module_entry_share(table, entry, of);
		module_index_put(&table->index, key, entry->module.id);
	}
	entry->module.pid = module->pid;
	return &entry->module;
}

struct module *module_table_kernel(struct module_table *table, uint64_t addr)
{
	const struct kernel_piece *piece = kernel_code_find(&table->kernel_code, addr);
	struct entry *entry;

	if (piece && table->nr_pieces < KERNEL_CODE_MAX)
		return module_table_piece(table, piece->start, piece->name);
	entry = key_lookup(table, area_key(MODULE_KERNEL, 0, addr >> 32));
	if (!entry)
		entry = area_enter(table, MODULE_KERNEL, "[kernel]", 0, addr >> 32);
	return entry ? &entry->module : NULL;
}

struct module *module_table_piece(struct module_table *table, uint64_t start, const char *name)
{
	XXH128_hash_t key = XXH3_128bits_withSeed(name, strlen(name), start);
	struct entry *entry = key_lookup(table, key);

	if (!entry) {
		entry = entry_new(table, MODULE_KERNEL, name);
		if (!entry)
			return NULL;
		entry->module.area = start >> 32;
		table->nr_pieces++;
		module_index_put(&table->index, key, entry->module.id);
	}
	return &entry->module;
}

struct module *module_table_anon(struct module_table *table, pid_t pid, uint64_t addr)
{
	uint64_t area = addr >> 32;
	struct entry *entry = key_lookup(table, area_key(MODULE_ANON, pid, area));

	if (!entry && pid > 0 && table->nr_anon >= MODULE_MAX_ANON) {
		pid = 0;
		area = 0;
		entry = key_lookup(table, area_key(MODULE_ANON, pid, area));
	}
	if (entry)
		return &entry->module;
	entry = area_enter(table, MODULE_ANON, "[anon]", pid, area);
	if (!entry)
		return NULL;
	table->nr_anon++;
	if (!pid)
		return &entry->module;
	target_owner(pid, &entry->module.uid, &entry->module.ns_pid);
	entry->module.folder = target_folder(&table->folders, pid, table->aside);
	return &entry->module;
}

struct module *module_table_vdso(struct module_table *table)
{
	struct entry *entry = key_lookup(table, area_key(MODULE_VDSO, 0, 0));
	struct mapped_file found = {0};

	if (entry)
		return &entry->module;
	entry = area_enter(table, MODULE_VDSO, "[vdso]", 0, 0);
	if (!entry)
		return NULL;
	found.fd = target_file_vdso();
	if (found.fd < 0)
		return &entry->module;
	elf_headers_read(found.fd, &found.headers);
	module_entry_learn(table, entry, &found);
	return &entry->module;
}

static int copy_mapping(struct module_table *table, const struct module_file *file)
{
	const uint64_t size = file->end - file->start;
	const struct iovec piece = {(void *)(uintptr_t)file->start, size};
	char *image = size <= PEER_MEMORY_MOST ? malloc(size) : NULL;
	int fd = -ENOMEM;

	if (image && peer_memory_read(table->memory, file->pid, &piece, 1, image) == (ssize_t)size)
		fd = target_file_of_image(image, size);
	free(image);
	return fd;
}

struct module *module_table_vdso32(struct module_table *table, const struct module_file *file)
{
	struct entry *entry = key_lookup(table, area_key(MODULE_VDSO, 0, 1));
	struct mapped_file found = {0};

	if (!entry)
		entry = area_enter(table, MODULE_VDSO, "[vdso32]", 0, 1);
	if (!entry)
		return NULL;
	if (entry->module.fd >= 0 || entry->tries == MAX_TRIES)
		return &entry->module;
	entry->tries++;
	found.fd = copy_mapping(table, file);
	if (found.fd < 0)
		return &entry->module;
	if (elf_headers_read(found.fd, &found.headers))
		close(found.fd);
	else
		module_entry_learn(table, entry, &found);
	return &entry->module;
}

uint64_t module_vaddr(const struct module *module, uint64_t file_offset)
{
	const struct segment *segment = module->segments;
	unsigned i;

	if (!module->nr_segments)
		return file_offset;
	/* Ascending: the first that ends behind the offset holds it, or is the next one. */
	for (i = 0; i + 1 < module->nr_segments; i++, segment++)
		if (file_offset < segment->offset + segment->size)
			break;
	return file_offset + (segment->vaddr - segment->offset);
}
