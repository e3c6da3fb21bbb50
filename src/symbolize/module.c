#include "symbolize/module_entry.h"
#include "symbolize/perf_map.h"
#include "symbolize/target_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define MAX_MODULES UINT16_MAX /* and number 0 */
/* How often a file is tried again that could not be opened: its processes may all be short. */
#define MAX_TRIES 1000

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

	if (table)
		table->memory = peer_memory_new();
	if (table && table->memory && entry_new(table, MODULE_SPECIAL, "[unknown]"))
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
	peer_memory_free(table->memory);
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

struct peer_memory *module_table_memory(struct module_table *table)
{
	return table->memory;
}

struct jitdump_files *module_table_jitdumps(struct module_table *table)
{
	return &table->jitdumps;
}

void module_table_search(struct module_table *table, const struct debug_places *places)
{
	table->places = places;
}

const struct debug_places *module_table_places(const struct module_table *table)
{
	return table->places;
}

struct module *module_table_get(const struct module_table *table, uint16_t id)
{
	return id < table->nr ? &table->entries[id]->module : NULL;
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
	err = module_entry_find(&found, entry, key->file->start, key->file->end);
	entry->error = -err;
	if (err)
		return entry;
	entry->error = ENOENT;
	fresh = file_enter(table, key);
	if (!fresh) {
		close(found.fd);
		return entry;
	}
	module_entry_learn(table, fresh, &found);
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
	err = module_entry_find(&found, entry, file->start, file->end);
	if (err)
		entry->error = -err;
	else
		module_entry_learn(table, entry, &found);
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
