#include "symbolize/lines.h"
#include "symbolize/line_table.h"
#include "symbolize/readable.h"
#include "symbolize/text_pool.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_TEXT   ((size_t)64 << 20)
#define MAX_DEBUG  ((size_t)2 << 30)
#define MAX_SCOPES (1u << 22)
#define MAX_DEPTH  512 /* of entries in each other; deeper ones belong to their parents */
#define MAX_HOPS   8   /* from an entry to the one that has its name */

/* Where code was left out, linkers leave entries behind with addresses from 0: no code is there. */
#define FIRST_CODE 64

/* A function's own code (no caller), or an inlined call. */
struct scope {
	struct dwarf *dwarf; /* the entry that tells its name */
	uint64_t origin;
	const char *name, *call_file;
	uint32_t call_line;
	uint32_t caller; /* index + 1 */
};

struct place {
	const char *file;
	uint32_t line;
	uint32_t scope; /* the innermost: index + 1 */
	uint32_t unit;  /* whose it is: number + 1 */
};

struct lines {
	struct dwarf main, alt;
	const uint32_t *offsets;
	size_t n;
	struct place *places; /* one an offset */
	struct scope *scopes;
	size_t nr_scopes, room;
	struct text_pool text;
	bool no_memory;
};

/* The first offset that is not below an address. */
static size_t offset_from(const struct lines *lines, uint64_t addr)
{
	size_t from = 0, to = lines->n, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (lines->offsets[middle] < addr)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* -- lines ------------------------------------------------------------------------------------- */

/* A unit on its way through. */
struct unit_walk {
	struct lines *lines;
	struct dwarf_unit unit;
	uint32_t number; /* of the unit, from 1 */
	struct line_table table;
	size_t next; /* an offset near which the next row may be */
	/* Of the entry that is looked at: */
	const struct dwarf_die *die;
	uint32_t caller, scope;
	bool touched;
};

static const char *file_path(struct unit_walk *walk, uint64_t number)
{
	struct line_file *file = line_table_file(&walk->table, number);
	char path[PATH_MAX];

	if (!file)
		return NULL;
	if (!file->path && line_table_path(&walk->table, file, path))
		file->path = text_pool_put(&walk->lines->text, path);
	return file->path;
}

/*
 * A function that many units have, and a linker has kept one of, is in the debug information of all
 * of them: the first unit's it is, as other readers have it.
 */
static bool place_claim(const struct unit_walk *walk, struct place *place)
{
	if (!place->unit)
		place->unit = walk->number;
	return place->unit == walk->number;
}

static void line_put(void *arg, uint64_t lo, uint64_t hi, uint32_t file, uint32_t line)
{
	struct unit_walk *walk = arg;
	struct lines *lines = walk->lines;
	size_t i = walk->next;

	if (lo < FIRST_CODE)
		return;
	/* Rows mostly ascend. */
	if (i > lines->n || (i && lines->offsets[i - 1] >= lo) ||
	    (i < lines->n && lines->offsets[i] < lo))
		i = offset_from(lines, lo);
	for (; i < lines->n && lines->offsets[i] < hi; i++) {
		if (!dwarf_step(walk->unit.dwarf, 1))
			break;
		if (!place_claim(walk, &lines->places[i]))
			continue;
		lines->places[i].file = file_path(walk, file);
		lines->places[i].line = line;
	}
	walk->next = i;
}

/* -- functions --------------------------------------------------------------------------------- */

static uint32_t scope_new(struct unit_walk *walk)
{
	struct lines *lines = walk->lines;
	const struct dwarf_die *die = walk->die;
	size_t room = lines->room ? 2 * lines->room : 1024;
	struct dwarf *dwarf;
	struct scope *scope;
	uint64_t origin;

	if (lines->nr_scopes == MAX_SCOPES)
		return walk->caller;
	if (lines->nr_scopes == lines->room) {
		scope = reallocarray(lines->scopes, room, sizeof(*scope));
		if (!scope) {
			lines->no_memory = true;
			return walk->caller;
		}
		lines->scopes = scope;
		lines->room = room;
	}
	scope = &lines->scopes[lines->nr_scopes++];
	*scope = (struct scope){
		.dwarf = walk->unit.dwarf, .origin = die->offset, .caller = walk->caller};
	if (die->tag == DW_TAG_inlined_subroutine) {
		if (dwarf_die_reference(&walk->unit, die, DIE_ORIGIN, &dwarf, &origin)) {
			scope->dwarf = dwarf;
			scope->origin = origin;
		}
		scope->call_file = file_path(walk, die->attrs[DIE_CALL_FILE].value);
		scope->call_line = (uint32_t)die->attrs[DIE_CALL_LINE].value;
	}
	return (uint32_t)lines->nr_scopes;
}

/* Entries come after those around them: the last one to claim an offset is the innermost. */
static bool range_claim(void *arg, uint64_t lo, uint64_t hi)
{
	struct unit_walk *walk = arg;
	struct lines *lines = walk->lines;
	size_t i;

	if (lo < FIRST_CODE)
		return true;
	for (i = offset_from(lines, lo); i < lines->n && lines->offsets[i] < hi; i++) {
		if (!dwarf_step(walk->unit.dwarf, 1))
			return false;
		if (!place_claim(walk, &lines->places[i]))
			continue;
		if (walk->scope == walk->caller)
			walk->scope = scope_new(walk);
		lines->places[i].scope = walk->scope;
	}
	return true;
}

static bool is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* The scope of what is inside an entry. */
static uint32_t die_enter(struct unit_walk *walk, const struct dwarf_die *die, uint32_t around)
{
	if (!is_function(die->tag))
		return around;
	walk->die = die;
	walk->caller = walk->scope = die->tag == DW_TAG_subprogram ? 0 : around;
	dwarf_die_ranges(&walk->unit, die, range_claim, walk);
	return walk->scope;
}

static void functions_walk(struct unit_walk *walk)
{
	struct cursor cursor = dwarf_unit_cursor(&walk->unit, walk->unit.first);
	uint32_t around[MAX_DEPTH] = {0}, inside;
	struct dwarf_die die;
	size_t depth = 0;

	/* The root encloses all; beyond the deepest, only the depth is known. */
	while (dwarf_die_read(&walk->unit, &cursor, is_function, &die)) {
		if (!die.tag) {
			if (depth-- <= 1)
				return;
			continue;
		}
		inside = die_enter(walk, &die, around[depth < MAX_DEPTH ? depth : MAX_DEPTH - 1]);
		if (die.has_children && ++depth < MAX_DEPTH)
			around[depth] = inside;
	}
}

/* -- names ------------------------------------------------------------------------------------- */

/* Units that were looked into last: names are looked up in the order of their entries. */
struct namer {
	struct dwarf_unit units[2];
	bool open[2];
	char text[DEMANGLED_MAX];
};

static const struct dwarf_unit *unit_around(struct namer *namer, unsigned slot, struct dwarf *dwarf,
                                            uint64_t offset)
{
	struct dwarf_unit *unit = &namer->units[slot];
	size_t from = 0, to = dwarf->nr_units, middle;

	if (namer->open[slot] && unit->dwarf == dwarf && offset >= unit->first &&
	    offset < unit->end)
		return unit;
	while (from < to) {
		middle = from + (to - from) / 2;
		if (dwarf->units[middle] <= offset)
			from = middle + 1;
		else
			to = middle;
	}
	if (namer->open[slot])
		dwarf_unit_close(unit);
	namer->open[slot] = from && !dwarf_unit_open(unit, dwarf, dwarf->units[from - 1]);
	return namer->open[slot] ? unit : NULL;
}

/* The names of an entry and those that it refers to, the first of each kind; or NULL. */
struct die_names {
	const char *linkage, *plain;
};

static struct die_names names_find(struct namer *namer, struct dwarf *dwarf, uint64_t offset)
{
	struct die_names names = {0};
	const struct dwarf_unit *unit;
	struct dwarf_die die;
	struct cursor cursor;
	unsigned hops;

	for (hops = 0; hops < MAX_HOPS && (!names.linkage || !names.plain); hops++) {
		unit = unit_around(namer, hops > 0, dwarf, offset);
		if (!unit)
			break;
		cursor = dwarf_unit_cursor(unit, offset);
		if (!dwarf_die_read(unit, &cursor, NULL, &die) || !die.tag)
			break;
		if (!names.linkage)
			names.linkage = dwarf_die_string(unit, &die, DIE_LINKAGE_NAME);
		if (!names.plain)
			names.plain = dwarf_die_string(unit, &die, DIE_NAME);
		if (!dwarf_die_reference(unit, &die, DIE_ORIGIN, &dwarf, &offset))
			break;
	}
	return names;
}

/* Fortran's compilers add an underscore for the linker. */
static const char *name_choose(const struct die_names *names)
{
	if (!names->linkage)
		return names->plain;
	return names->plain && name_is_of(names->linkage, names->plain) ? names->plain
	                                                                : names->linkage;
}

static const char *name_find(struct lines *lines, struct namer *namer, const struct scope *scope)
{
	const struct die_names names = names_find(namer, scope->dwarf, scope->origin);
	const char *name = name_choose(&names);

	if (!name)
		return NULL;
	name_readable(name, namer->text);
	return strcmp(name, namer->text) != 0 ? text_pool_put(&lines->text, namer->text) : name;
}

static int origin_compare(const void *x, const void *y)
{
	const struct scope *a = *(struct scope *const *)x, *b = *(struct scope *const *)y;

	if (a->dwarf != b->dwarf)
		return a->dwarf < b->dwarf ? -1 : 1;
	return a->origin < b->origin ? -1 : a->origin > b->origin;
}

/* Many calls are of the same function. */
static int scopes_name(struct lines *lines)
{
	struct scope **sorted = calloc(lines->nr_scopes + 1, sizeof(struct scope *));
	struct namer *namer = calloc(1, sizeof(*namer));
	int err = sorted && namer ? 0 : -ENOMEM;
	size_t i;

	if (err)
		goto out;
	for (i = 0; i < lines->nr_scopes; i++)
		sorted[i] = &lines->scopes[i];
	qsort(sorted, lines->nr_scopes, sizeof(struct scope *), origin_compare);
	for (i = 0; i < lines->nr_scopes; i++)
		if (i && !origin_compare(&sorted[i], &sorted[i - 1]))
			sorted[i]->name = sorted[i - 1]->name;
		else
			sorted[i]->name = name_find(lines, namer, sorted[i]);
	for (i = 0; i < 2; i++)
		if (namer->open[i])
			dwarf_unit_close(&namer->units[i]);
out:
	free(sorted);
	free(namer);
	return err;
}

/* -- the whole --------------------------------------------------------------------------------- */

static bool range_touches(void *arg, uint64_t lo, uint64_t hi)
{
	struct unit_walk *walk = arg;
	size_t i = offset_from(walk->lines, lo);

	walk->touched = lo >= FIRST_CODE && i < walk->lines->n && walk->lines->offsets[i] < hi;
	return !walk->touched;
}

static int unit_read(struct lines *lines, size_t number)
{
	struct unit_walk walk = {.lines = lines, .number = (uint32_t)number + 1};
	int err = dwarf_unit_open(&walk.unit, &lines->main, lines->main.units[number]);

	if (err)
		return err == -ENOMEM ? err : 0;
	dwarf_die_ranges(&walk.unit, &walk.unit.root, range_touches, &walk);
	if (walk.touched) {
		err = line_table_read(&walk.table, &walk.unit, line_put, &walk);
		if (err != -ENOMEM) {
			functions_walk(&walk);
			err = 0;
		}
		line_table_fini(&walk.table);
	}
	dwarf_unit_close(&walk.unit);
	return err;
}

static int lines_read(struct lines *lines)
{
	size_t i;
	int err = 0;

	/* What an honest file asks of each offset: a row and a chain of calls. */
	lines->main.work += LINES_MAX_CHAIN * (uint64_t)lines->n;
	for (i = 0; i < lines->main.nr_units && !err; i++)
		err = unit_read(lines, i);
	if (!err && lines->no_memory)
		err = -ENOMEM;
	return err ? err : scopes_name(lines);
}

/* All of it is held in memory: at most a quarter of what the machine has. */
static size_t debug_max(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	size_t quarter = pages > 0 && size > 0 ? (size_t)pages / 4 * (size_t)size : MAX_DEBUG;

	return quarter < MAX_DEBUG ? quarter : MAX_DEBUG;
}

static int lines_open(struct lines *lines, struct elf_image *image)
{
	size_t max = debug_max();
	Elf *elf = elf_image_dwarf(image);
	int err = elf ? dwarf_open(&lines->main, elf, max) : -ENODATA;

	if (err)
		return err;
	if (image->alt && !dwarf_open(&lines->alt, image->alt, max))
		lines->main.alt = &lines->alt;
	lines->places = calloc(lines->n + 1, sizeof(*lines->places));
	return lines->places ? lines_read(lines) : -ENOMEM;
}

struct lines *lines_new(struct elf_image *image, const uint32_t *offsets, size_t n)
{
	struct lines *lines = calloc(1, sizeof(*lines));
	int err;

	if (!lines)
		return NULL;
	lines->offsets = offsets;
	lines->n = n;
	lines->text.left = MAX_TEXT;
	err = lines_open(lines, image);
	if (!err)
		return lines;
	lines_free(lines);
	errno = -err;
	return NULL;
}

void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	dwarf_close(&lines->main);
	dwarf_close(&lines->alt);
	text_pool_fini(&lines->text);
	free(lines->places);
	free(lines->scopes);
	free(lines);
}

size_t lines_chain(const struct lines *lines, size_t index, struct source chain[LINES_MAX_CHAIN])
{
	const struct place *place = &lines->places[index];
	struct source source = {.file = place->file, .line = place->line};
	const struct scope *scope = place->scope ? &lines->scopes[place->scope - 1] : NULL;
	size_t nr = 0;

	if (!scope && !place->file)
		return 0;
	for (; scope && scope->caller; scope = &lines->scopes[scope->caller - 1]) {
		source.function = scope->name;
		if (nr + 1 < LINES_MAX_CHAIN)
			chain[nr++] = source;
		source.file = scope->call_file;
		source.line = scope->call_line;
	}
	source.function = scope ? scope->name : NULL;
	chain[nr++] = source;
	return nr;
}
