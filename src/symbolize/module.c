#include "symbolize/module.h"
#include "symbolize/jitdump.h"
#include "symbolize/mapped_file.h"
#include "symbolize/perf_map.h"
#include "symbolize/target_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define MAX_MODULES UINT16_MAX /* and number 0 */
#define MAX_OPEN    64
/* Files that no name leads to any more (deleted, of a container) are closed last, but not never. */
#define MAX_IRREPLACEABLE 48
/* How often a file is tried again that could not be opened: its processes may all be short. */
#define MAX_TRIES 1000

struct entry {
	struct module module;
	uint64_t ino_generation;
	uint32_t hash;
	uint16_t tries;
	uint16_t older, newer; /* open files, a ring through entry 0 */
	bool build_id_read;    /* from the file: the record had none */
	bool replaceable;      /* the path leads to the same file, without the process */
	int error;             /* why there is no file, until the next mapping */
	pid_t pid;             /* the latest to map it */
	struct file_stamp stamp;
};

struct module_table {
	struct entry **entries; /* by number */
	size_t nr, room;
	uint16_t *slots; /* numbers by hash, open addressing, 0: free; at most half full */
	size_t nr_slots; /* a power of two */
	uint64_t refused;
	unsigned nr_open, nr_irreplaceable, nr_anon;
	struct jitdump_files jitdumps;
};

/* What makes two modules the same one. */
struct key {
	enum module_kind kind;
	const struct module_file *file;
	pid_t pid;
	uint64_t window;
};

static uint32_t key_hash(const struct key *key)
{
	const struct module_file *file = key->file;
	uint64_t number[3] = {key->kind, (uint64_t)key->pid, key->window};

	if (!file)
		return (uint32_t)XXH3_64bits(number, sizeof(number));
	if (!file->ino)
		return (uint32_t)XXH3_64bits_withSeed(
			file->path, strlen(file->path),
			XXH3_64bits(file->build_id.bytes, file->build_id.size));
	number[0] = file->dev;
	number[1] = file->ino;
	number[2] = file->ino_generation;
	return (uint32_t)XXH3_64bits(number, sizeof(number));
}

static bool key_matches(const struct key *key, const struct entry *entry)
{
	static const struct build_id none;
	const struct module_file *file = key->file;
	const struct module *module = &entry->module;

	if (module->kind != key->kind)
		return false;
	if (!file)
		return module->pid == key->pid && module->window == key->window;
	if (file->ino || module->ino)
		return module->ino == file->ino && module->dev == file->dev &&
		       entry->ino_generation == file->ino_generation;
	return build_id_equal(entry->build_id_read ? &none : &module->build_id, &file->build_id) &&
	       !strcmp(module->path, file->path);
}

/* The slot of the key's module, or the free one where it belongs. */
static uint16_t *slot_find(const struct module_table *table, const struct key *key, uint32_t hash)
{
	size_t i = hash & (table->nr_slots - 1);
	const struct entry *entry;

	for (; table->slots[i]; i = (i + 1) & (table->nr_slots - 1)) {
		entry = table->entries[table->slots[i]];
		if (entry->hash == hash && key_matches(key, entry))
			break;
	}
	return &table->slots[i];
}

static int slots_grow(struct module_table *table)
{
	size_t nr = table->nr_slots ? 2 * table->nr_slots : 64, i, to;
	uint16_t *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < table->nr_slots; i++) {
		if (!table->slots[i])
			continue;
		to = table->entries[table->slots[i]]->hash & (nr - 1);
		while (slots[to])
			to = (to + 1) & (nr - 1);
		slots[to] = table->slots[i];
	}
	free(table->slots);
	table->slots = slots;
	table->nr_slots = nr;
	return 0;
}

static int table_grow(struct module_table *table)
{
	size_t room = table->room ? 2 * table->room : 32;
	struct entry **entries;

	/* One slot more than is counted: the search must end at a free one. */
	if (2 * (table->nr + 1) > table->nr_slots && slots_grow(table))
		return -ENOMEM;
	if (table->nr < table->room)
		return 0;
	entries = reallocarray(table->entries, room, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	table->entries = entries;
	table->room = room;
	return 0;
}

static struct entry *entry_new(struct module_table *table, enum module_kind kind, const char *path)
{
	struct entry *entry;

	if (table->nr > MAX_MODULES || table_grow(table)) {
		table->refused++;
		return NULL;
	}
	entry = calloc(1, sizeof(*entry));
	if (entry)
		entry->module.path = strdup(path);
	if (!entry || !entry->module.path) {
		free(entry);
		table->refused++;
		return NULL;
	}
	entry->module.kind = kind;
	entry->module.fd = -1;
	entry->module.id = (uint16_t)table->nr;
	entry->error = ENOENT;
	table->entries[table->nr++] = entry;
	return entry;
}

struct module_table *module_table_new(void)
{
	struct module_table *table = calloc(1, sizeof(*table));

	if (table && entry_new(table, MODULE_SPECIAL, "[unknown]"))
		return table;
	module_table_free(table);
	errno = ENOMEM;
	return NULL;
}

void module_table_free(struct module_table *table)
{
	size_t i;

	if (!table)
		return;
	for (i = 0; i < table->nr; i++) {
		if (table->entries[i]->module.fd >= 0)
			close(table->entries[i]->module.fd);
		free(table->entries[i]->module.path);
		free(table->entries[i]);
	}
	jitdump_files_close(&table->jitdumps);
	free(table->entries);
	free(table->slots);
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

struct jitdump_files *module_table_jitdumps(struct module_table *table)
{
	return &table->jitdumps;
}

struct module *module_table_get(const struct module_table *table, uint16_t id)
{
	return id < table->nr ? &table->entries[id]->module : NULL;
}

/* -- open files ----------------------------------------------------------------------------- */

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

static struct entry *open_oldest(struct module_table *table, bool replaceable)
{
	uint16_t id = table->entries[0]->newer;

	while (id && table->entries[id]->replaceable != replaceable)
		id = table->entries[id]->newer;
	return table->entries[id];
}

static void open_limit(struct module_table *table)
{
	struct entry *entry;

	if (table->nr_open < MAX_OPEN)
		return;
	entry = open_oldest(table, table->nr_irreplaceable < MAX_IRREPLACEABLE);
	open_unlink(table, entry);
	close(entry->module.fd);
	entry->module.fd = -1;
}

static void entry_opened(struct module_table *table, struct entry *entry, int fd)
{
	open_limit(table);
	entry->module.fd = fd;
	entry->error = 0;
	open_link(table, entry);
}

/*
 * The file in its way to the module: by the latest process that mapped it and, while that record is
 * at hand, by the mapping itself.
 */
static int entry_find(struct mapped_file *found, const struct entry *entry, uint64_t start,
                      uint64_t end)
{
	const struct module *module = &entry->module;
	struct mapped_identity identity = {
		.path = module->path,
		.pid = entry->pid,
		.start = start,
		.end = end,
		.dev = module->dev,
		.ino = module->ino,
		.build_id = module->build_id,
		.stamp = entry->stamp,
	};

	return mapped_file_open(found, &identity);
}

static bool path_leads_to(const char *path, const struct file_stamp *stamp)
{
	struct stat there;

	return path[0] == '/' && !stat(path, &there) && there.st_dev == stamp->dev &&
	       there.st_ino == stamp->ino;
}

/* Takes over a file that was opened for the first time, and what it says of itself. */
static void entry_learn(struct module_table *table, struct entry *entry,
                        const struct mapped_file *found)
{
	struct module *module = &entry->module;

	entry->stamp = found->stamp;
	entry->replaceable =
		module->kind == MODULE_VDSO || path_leads_to(module->path, &found->stamp);
	entry->build_id_read = !module->build_id.size;
	module->build_id = found->headers.build_id;
	module->nr_segments = found->headers.nr_segments;
	memcpy(module->segments, found->headers.segments, sizeof(module->segments));
	entry_opened(table, entry, found->fd);
}

static int entry_reopen(struct module_table *table, struct entry *entry)
{
	struct mapped_file found;
	int err;

	if (entry->module.kind == MODULE_VDSO) {
		found.fd = target_file_vdso();
		err = found.fd < 0 ? found.fd : 0;
	} else {
		err = entry_find(&found, entry, 0, 0);
	}
	entry->error = -err;
	if (!err)
		entry_opened(table, entry, found.fd);
	return err;
}

/* A file can be written over while it is open. */
static int entry_check(struct module_table *table, struct entry *entry)
{
	if (entry->module.kind == MODULE_VDSO ||
	    mapped_file_unchanged(entry->module.fd, &entry->stamp, &entry->module.build_id))
		return 0;
	open_unlink(table, entry);
	close(entry->module.fd);
	entry->module.fd = -1;
	entry->error = ESTALE;
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
	if (!entry->error && !entry_reopen(table, entry))
		return module->fd;
	errno = entry->error;
	return -1;
}

/* -- modules by what they are ------------------------------------------------------------------ */

static struct entry *key_lookup(const struct module_table *table, const struct key *key)
{
	uint16_t id = table->nr_slots ? *slot_find(table, key, key_hash(key)) : 0;

	return id ? table->entries[id] : NULL;
}

/* A new module for the key, in the place of an older one if there is one. */
static struct entry *key_enter(struct module_table *table, const struct key *key, const char *path)
{
	struct entry *entry = entry_new(table, key->kind, path);

	if (!entry)
		return NULL;
	entry->hash = key_hash(key);
	entry->module.pid = key->pid;
	entry->module.window = key->window;
	*slot_find(table, key, entry->hash) = entry->module.id;
	return entry;
}

static struct entry *file_enter(struct module_table *table, const struct key *key)
{
	const struct module_file *file = key->file;
	struct entry *entry = key_enter(table, key, file->path);

	if (!entry)
		return NULL;
	entry->module.build_id = file->build_id;
	entry->module.dev = file->dev;
	entry->module.ino = file->ino;
	entry->ino_generation = file->ino_generation;
	entry->pid = file->pid;
	return entry;
}

/*
 * A later mapping may show a file that could not be had before: its first processes were too short,
 * say. It gets a new number, for frames of the old one were made without knowing the segments.
 */
static struct entry *file_retry(struct module_table *table, const struct key *key,
                                struct entry *entry)
{
	struct mapped_file found;
	struct entry *fresh;
	int err;

	if (entry->error == ENOEXEC || entry->tries == MAX_TRIES)
		return entry;
	entry->tries++;
	err = entry_find(&found, entry, key->file->start, key->file->end);
	entry->error = -err;
	if (err)
		return entry;
	entry->error = ENOENT;
	fresh = file_enter(table, key);
	if (!fresh) {
		close(found.fd);
		return entry;
	}
	entry_learn(table, fresh, &found);
	return fresh;
}

struct module *module_table_file(struct module_table *table, const struct module_file *file)
{
	const struct key key = {.kind = MODULE_FILE, .file = file};
	struct entry *entry = key_lookup(table, &key);
	struct mapped_file found;
	int err;

	if (entry) {
		entry->pid = file->pid;
		if (!entry->stamp.ino)
			entry = file_retry(table, &key, entry);
		else if (entry->module.fd < 0)
			entry->error = 0;
		return &entry->module;
	}
	entry = file_enter(table, &key);
	if (!entry)
		return NULL;
	err = entry_find(&found, entry, file->start, file->end);
	if (err)
		entry->error = -err;
	else
		entry_learn(table, entry, &found);
	return &entry->module;
}

struct module *module_table_kernel(struct module_table *table, uint64_t addr)
{
	const struct key key = {.kind = MODULE_KERNEL, .window = addr >> 32};
	struct entry *entry = key_lookup(table, &key);

	if (!entry)
		entry = key_enter(table, &key, "[kernel]");
	return entry ? &entry->module : NULL;
}

struct module *module_table_anon(struct module_table *table, pid_t pid, uint64_t addr)
{
	struct key key = {.kind = MODULE_ANON, .pid = pid, .window = addr >> 32};
	struct entry *entry = key_lookup(table, &key);

	if (!entry && pid > 0 && table->nr_anon >= MODULE_MAX_ANON) {
		key.pid = 0;
		key.window = 0;
		entry = key_lookup(table, &key);
	}
	if (entry)
		return &entry->module;
	entry = key_enter(table, &key, "[anon]");
	if (!entry)
		return NULL;
	table->nr_anon++;
	if (key.pid)
		perf_map_owner(pid, &entry->module.uid, &entry->module.ns_pid);
	return &entry->module;
}

struct module *module_table_vdso(struct module_table *table)
{
	const struct key key = {.kind = MODULE_VDSO};
	struct entry *entry = key_lookup(table, &key);
	struct mapped_file found = {0};

	if (entry)
		return &entry->module;
	entry = key_enter(table, &key, "[vdso]");
	if (!entry)
		return NULL;
	found.fd = target_file_vdso();
	if (found.fd < 0)
		return &entry->module;
	elf_headers_read(found.fd, &found.headers);
	entry_learn(table, entry, &found);
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
