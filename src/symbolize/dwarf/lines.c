#include "symbolize/dwarf/lines.h"

#include "base/array.h"
#include "symbolize/dwarf/dwarf_walk.h"
#include "symbolize/dwarf/line_table.h"
#include "symbolize/dwarf/own_code.h"
#include "symbolize/dwarf/scope_names.h"
#include "symbolize/dwarf/split_unit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_TEXT   ((size_t)64 << 20)
#define MAX_DEBUG  ((size_t)2 << 30)
#define MAX_SCOPES (1u << 22)
#define MAX_DEPTH  512 /* of calls in each other; deeper ones belong to the last */

struct place {
	const char *file;
	const uint8_t *md5;
	uint32_t line;
	uint32_t scope; /* the innermost: index + 1 */
	uint32_t unit;  /* whose it is: number + 1 */
};

/*
 * A function, or an inlined call in it. It becomes a scope with the first offset that is found in
 * it or in what is inlined there. Which entry is inside of which decides who called whom: the
 * ranges of a caller need not have all addresses of what it calls (a list of them that begins with
 * an empty one ends there).
 */
struct body {
	struct dwarf *dwarf;
	uint64_t origin, call_file; /* a number in the line table */
	uint32_t call_line;
	uint32_t scope; /* index + 1; 0: not yet */
	size_t depth;   /* of the entry */
	bool is_call;
	bool left_out; /* by the linker */
};

struct lines {
	const struct symbol_table *symbols;
	struct dwarf main, alt;
	struct split_files split;
	const uint32_t *offsets;
	size_t n;
	uint64_t base;        /* added to offsets: addresses */
	struct place *places; /* one an offset */
	struct scope *scopes;
	size_t nr_scopes;
	struct own_codes own;
	struct body bodies[MAX_DEPTH]; /* in each other, of the unit that is read */
	struct text_pool text;
	bool no_memory;
};

/* Whether this offset is the first that is not below an address. */
static bool is_offset_from(const struct lines *lines, size_t i, uint64_t addr)
{
	return i <= lines->n && (!i || lines->offsets[i - 1] < addr) &&
	       (i == lines->n || lines->offsets[i] >= addr);
}

/* Converts addresses to offsets; false: all of them are below. */
static bool to_offsets(const struct lines *lines, uint64_t *lo, uint64_t *hi)
{
	if (*hi <= lines->base)
		return false;
	*lo = *lo > lines->base ? *lo - lines->base : 0;
	*hi -= lines->base;
	return true;
}

/* The first offset that is not below an address. Mostly it is near the one before: *near. */
static size_t offset_from(const struct lines *lines, uint64_t addr, size_t *near)
{
	for (size_t step = 0; step < 4; step++)
		if (is_offset_from(lines, *near + step, addr))
			return *near += step;
	return *near = ARRAY_PARTITION(lines->offsets, lines->n, offset, *offset < addr);
}

/* -- lines ------------------------------------------------------------------------------------- */

/* A unit on its way through. */
struct unit_walk {
	struct lines *lines;
	struct dwarf_unit unit;         /* with the lines */
	const struct dwarf_unit *owner; /* with the functions */
	struct own_codes *own;
	uint32_t number; /* of the unit, from 1 */
	struct line_table table;
	size_t next;      /* an offset near which the next row or call may be */
	size_t nr_bodies; /* around the entry that is looked at, and itself */
	bool touched;
};

static const char *file_path(struct unit_walk *walk, uint64_t number, const uint8_t **md5)
{
	struct line_file *file = line_table_file(&walk->table, number);
	char path[PATH_MAX];

	*md5 = file ? file->md5 : NULL;
	if (!file || !file->name)
		return NULL;
	if (!file->path && line_table_path(&walk->table, file, path))
		file->path = text_pool_put(&walk->lines->text, path);
	if (!file->path) /* nor will it be made for another row */
		file->name = NULL;
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
	size_t i;

	if (!to_offsets(lines, &lo, &hi))
		return;
	for (i = offset_from(lines, lo, &walk->next); i < lines->n && lines->offsets[i] < hi; i++) {
		if (!dwarf_step(walk->unit.dwarf, 1))
			break;
		if (!place_claim(walk, &lines->places[i]))
			continue;
		lines->places[i].file = file_path(walk, file, &lines->places[i].md5);
		lines->places[i].line = line;
	}
	walk->next = i;
}

/* -- functions --------------------------------------------------------------------------------- */

/* Index + 1; 0: there is no room. */
static uint32_t scope_add(struct lines *lines, const struct scope *scope)
{
	if (lines->nr_scopes == MAX_SCOPES)
		return 0;
	if (ARRAY_ADD(lines->scopes, lines->nr_scopes, *scope)) {
		lines->no_memory = true;
		return 0;
	}
	return (uint32_t)lines->nr_scopes;
}

static uint32_t body_scope(struct unit_walk *walk, const struct body *body, uint32_t caller)
{
	struct scope scope = {.dwarf = body->dwarf, .origin = body->origin, .caller = caller};

	if (body->is_call) {
		scope.call_file = file_path(walk, body->call_file, &scope.call_md5);
		scope.call_line = body->call_line;
	}
	return scope_add(walk->lines, &scope);
}

/* The scope of the innermost body, which those around it are made scopes for. */
static uint32_t scope_enter(struct unit_walk *walk)
{
	struct body *bodies = walk->lines->bodies;
	size_t i = walk->nr_bodies - 1;
	uint32_t caller = 0;

	while (i && !bodies[i].scope && bodies[i].is_call)
		i--;
	for (; i < walk->nr_bodies; i++) {
		if (!bodies[i].scope)
			bodies[i].scope = body_scope(walk, &bodies[i], caller);
		if (!bodies[i].scope)
			break;
		caller = bodies[i].scope;
	}
	return caller;
}

/* Entries come after those around them: the last one to claim an offset is the innermost. */
static bool range_claim(void *arg, uint64_t lo, uint64_t hi)
{
	struct unit_walk *walk = arg;
	struct lines *lines = walk->lines;
	size_t i;

	if (dwarf_is_left_out(lo) || !to_offsets(lines, &lo, &hi))
		return true;
	for (i = offset_from(lines, lo, &walk->next); i < lines->n && lines->offsets[i] < hi; i++) {
		if (!dwarf_step(walk->owner->dwarf, 1))
			return false;
		if (place_claim(walk, &lines->places[i]))
			lines->places[i].scope = scope_enter(walk);
	}
	return true;
}

static void own_code_enter(struct unit_walk *walk, const struct dwarf_die *die,
                           const struct dwarf *dwarf, uint64_t origin)
{
	struct own_code code = {.dwarf = dwarf, .origin = origin};

	if (!dwarf_die_begin(walk->owner, die, &code.lo))
		return;
	code.lo -= walk->lines->base;
	if (own_codes_add(walk->own, &code))
		walk->lines->no_memory = true;
}

/*
 * Tells whether the linker dropped the function that the innermost body belongs to. Inlined calls
 * are dropped together with the function around them.
 */
static bool is_left_out(const struct unit_walk *walk, const struct dwarf_function *function)
{
	const struct body *body = &walk->lines->bodies[walk->nr_bodies - 1];
	uint64_t begin;

	if (!body->is_call && function->has_attrs &&
	    dwarf_die_begin(walk->owner, &function->die, &begin))
		return dwarf_is_left_out(begin);
	return walk->nr_bodies > 1 && body[-1].left_out;
}

static void body_enter(struct unit_walk *walk, const struct dwarf_function *function)
{
	const struct dwarf_die *die = &function->die;
	struct body *bodies = walk->lines->bodies, *body;
	struct dwarf *dwarf;
	uint64_t origin;

	if (walk->nr_bodies == MAX_DEPTH)
		return;
	body = &bodies[walk->nr_bodies++];
	*body = (struct body){
		.dwarf = walk->owner->dwarf,
		.origin = die->offset,
		.is_call = die->tag == DW_TAG_inlined_subroutine,
		.depth = function->depth,
	};
	body->left_out = is_left_out(walk, function);
	if (!function->has_attrs || body->left_out)
		return;
	body->call_file = die->attrs[DIE_CALL_FILE].value;
	body->call_line = (uint32_t)die->attrs[DIE_CALL_LINE].value;
	if (dwarf_die_origin(walk->owner, die, &dwarf, &origin)) {
		if (body->is_call) {
			body->dwarf = dwarf;
			body->origin = origin;
		} else {
			own_code_enter(walk, die, dwarf, origin);
		}
	}
	dwarf_die_ranges(walk->owner, die, range_claim, walk);
}

/* Removes the bodies that do not contain the next function. */
static void bodies_leave(struct unit_walk *walk, size_t around)
{
	while (walk->nr_bodies && walk->lines->bodies[walk->nr_bodies - 1].depth >= around)
		walk->nr_bodies--;
}

static void functions_walk(struct unit_walk *walk)
{
	struct dwarf_function function;
	struct dwarf_walk entries;

	dwarf_walk_start(&entries, walk->owner);
	while (dwarf_walk_next(&entries, &function)) {
		bodies_leave(walk, function.around);
		body_enter(walk, &function);
	}
}

static int name_scopes(struct lines *lines, size_t first, struct own_codes *own, bool copy)
{
	own_codes_seal(own);
	return scopes_name(lines->scopes + first, lines->nr_scopes - first,
	                   &(struct scope_naming){&lines->text, copy, own, lines->symbols});
}

/* A skeleton's functions are in another file, which is closed again: they are named at once. */
static int split_walk(struct unit_walk *walk)
{
	struct lines *lines = walk->lines;
	const size_t first = lines->nr_scopes;
	struct own_codes own = {0};
	struct split_unit split;
	int err = split_unit_open(&split, &lines->split, &walk->unit);

	if (err)
		return err;
	walk->owner = &split.unit;
	walk->own = &own;
	functions_walk(walk);
	err = name_scopes(lines, first, &own, true);
	own_codes_fini(&own);
	split_unit_close(&split);
	return err;
}

static int bodies_read(struct unit_walk *walk)
{
	int err = dwarf_unit_is_skeleton(&walk->unit) ? split_walk(walk) : -ENOENT;

	if (err != -ENOENT)
		return err;
	walk->owner = &walk->unit;
	walk->own = &walk->lines->own;
	functions_walk(walk);
	return 0;
}

/* -- the whole --------------------------------------------------------------------------------- */

static bool range_touches(void *arg, uint64_t lo, uint64_t hi)
{
	struct unit_walk *walk = arg;
	size_t i;

	if (dwarf_is_left_out(lo) || !to_offsets(walk->lines, &lo, &hi))
		return true;
	i = offset_from(walk->lines, lo, &walk->next);
	walk->touched = i < walk->lines->n && walk->lines->offsets[i] < hi;
	return !walk->touched;
}

/* Version 2 has no way to say that a unit's code is in several pieces: it names one or none. */
static bool may_touch(const struct dwarf_unit *unit)
{
	return unit->version == 2 && unit->root.tag == DW_TAG_compile_unit &&
	       unit->root.attrs[DIE_STMT_LIST].form;
}

static int unit_read(struct lines *lines, size_t number)
{
	struct unit_walk walk = {.lines = lines, .number = (uint32_t)number + 1};
	int err = dwarf_unit_open(&walk.unit, &lines->main, lines->main.units[number]);

	if (err)
		return err == -ENOMEM ? err : 0;
	dwarf_die_ranges(&walk.unit, &walk.unit.root, range_touches, &walk);
	if (walk.touched || may_touch(&walk.unit)) {
		err = line_table_read(&walk.table, &walk.unit, line_put, &walk);
		if (err != -ENOMEM)
			err = bodies_read(&walk);
		line_table_fini(&walk.table);
	}
	dwarf_unit_close(&walk.unit);
	return err;
}

static int lines_read(struct lines *lines)
{
	size_t i;
	int err = 0;

	/* Allow the steps that a valid file needs for each offset: a row and a chain of calls. */
	lines->main.work += LINES_MAX_CHAIN * (uint64_t)lines->n;
	for (i = 0; i < lines->main.nr_units && !err; i++)
		err = unit_read(lines, i);
	if (!err && lines->no_memory)
		err = -ENOMEM;
	return err ? err : name_scopes(lines, 0, &lines->own, false);
}

/*
 * Debug information is held in memory as a whole, so at most a quarter of the machine's memory may
 * be used for it.
 */
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
	int err;

	split_files_init(&lines->split, image, max);
	err = elf ? dwarf_open(&lines->main, elf, max) : -ENODATA;
	if (err)
		return err;
	if (image->alt && !dwarf_open(&lines->alt, image->alt, max))
		lines->main.alt = &lines->alt;
	lines->places = calloc(lines->n + 1, sizeof(*lines->places));
	return lines->places ? lines_read(lines) : -ENOMEM;
}

struct lines *lines_new(struct elf_image *image, const struct symbol_table *symbols,
                        const uint32_t *offsets, size_t n)
{
	struct lines *lines = calloc(1, sizeof(*lines));
	int err;

	if (!lines)
		return NULL;
	lines->symbols = symbols;
	lines->base = module_address(image->module, 0);
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
	split_files_fini(&lines->split);
	dwarf_close(&lines->main);
	dwarf_close(&lines->alt);
	text_pool_fini(&lines->text);
	free(lines->places);
	free(lines->scopes);
	own_codes_fini(&lines->own);
	free(lines);
}

uint64_t lines_split_missing(const struct lines *lines)
{
	return lines->split.nr_missing;
}

size_t lines_chain(const struct lines *lines, size_t index, struct source chain[LINES_MAX_CHAIN])
{
	const struct place *place = &lines->places[index];
	struct source source = {.file = place->file, .md5 = place->md5, .line = place->line};
	const struct scope *scope = place->scope ? &lines->scopes[place->scope - 1] : NULL;
	size_t nr = 0;

	if (!scope && !place->file)
		return 0;
	for (; scope && scope->caller; scope = &lines->scopes[scope->caller - 1]) {
		source.function = scope->name;
		source.is_c = scope->is_c;
		if (nr + 1 < LINES_MAX_CHAIN)
			chain[nr++] = source;
		source.file = scope->call_file;
		source.md5 = scope->call_md5;
		source.line = scope->call_line;
	}
	source.function = scope ? scope->name : NULL;
	source.is_c = scope && scope->is_c;
	chain[nr++] = source;
	return nr;
}
