#include "symbolize/dwarf/scope_names.h"
#include "base/array.h"
#include "symbolize/dwarf/dwarf_unit.h"
#include "symbolize/elf/readable.h"
#include "symbolize/dwarf/scope_path.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_HOPS  8         /* from an entry to the one that has its name */
#define MAX_STEPS (1 << 24) /* to read what names are in: some 0.1 s */

/* Every unit names the same functions again, and linkers store equal strings once. */
#define NR_RECENT (1u << 14)

struct recent_name {
	const char *name, *readable;
	bool is_c;
};

/* Units that were looked into last: names are looked up in the order of their entries. */
struct namer {
	struct dwarf_unit units[2];
	bool open[2];
	const struct scope_naming *by;
	struct scope_path path;
	struct recent_name recent[NR_RECENT]; /* by where the name is */
	char text[DEMANGLED_MAX];
};

static const struct dwarf_unit *unit_around(struct namer *namer, unsigned slot, struct dwarf *dwarf,
                                            uint64_t offset)
{
	struct dwarf_unit *unit = &namer->units[slot];
	size_t n;

	if (namer->open[slot] && unit->dwarf == dwarf && offset >= unit->first &&
	    offset < unit->end)
		return unit;
	n = ARRAY_PARTITION(dwarf->units, dwarf->nr_units, start, *start <= offset);
	if (namer->open[slot])
		dwarf_unit_close(unit);
	namer->open[slot] = n && !dwarf_unit_open(unit, dwarf, dwarf->units[n - 1]);
	return namer->open[slot] ? unit : NULL;
}

/* The names of an entry and those that it refers to, the first of each type; or NULL. */
struct die_names {
	const char *linkage, *plain;
	struct dwarf *dwarf; /* where the plain one is */
	uint64_t unit, offset;
	bool is_c; /* its unit */
};

/* Names of other languages may look like one of C: a__b is a.b in Ada alone. */
static bool is_c_or_cxx(const struct dwarf_unit *unit)
{
	switch (unit->root.attrs[DIE_LANGUAGE].value) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	default:
		return false;
	}
}

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
		if (!dwarf_die_read(unit, &cursor, &die) || !die.tag)
			break;
		if (!names.linkage)
			names.linkage = dwarf_die_string(unit, &die, DIE_LINKAGE_NAME);
		if (!names.plain && (names.plain = dwarf_die_string(unit, &die, DIE_NAME))) {
			names.dwarf = dwarf;
			names.unit = unit->offset;
			names.offset = offset;
			names.is_c = is_c_or_cxx(unit);
		}
		if (!dwarf_die_origin(unit, &die, &dwarf, &offset))
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

/* A function's own name is not shown where there is a symbol. */
static const char *name_keep(struct namer *namer, const char *name)
{
	return namer->by->copy ? text_pool_put(namer->by->text, name) : name;
}

static const char *name_make_readable(struct namer *namer, const char *name, bool is_c)
{
	struct recent_name *recent =
		&namer->recent[(uintptr_t)name * 0x9e3779b97f4a7c15 >> (64 - 14)];

	if (recent->name == name && recent->is_c == is_c)
		return recent->readable;
	name_readable_in(name, is_c ? 0 : namer->by->symbols->languages, namer->text);
	recent->name = name;
	recent->is_c = is_c;
	recent->readable = namer->by->copy || strcmp(name, namer->text) != 0
	                           ? text_pool_put(namer->by->text, namer->text)
	                           : name;
	return recent->readable;
}

static bool is_class(const struct dwarf_die *die)
{
	return die->tag == DW_TAG_class_type || die->tag == DW_TAG_structure_type ||
	       die->tag == DW_TAG_union_type;
}

/* Appends to the namer's text; *used is more than that has room for then if it is too long. */
static void text_append(struct namer *namer, size_t *used, const char *name, const char *behind)
{
	const size_t size = sizeof(namer->text);

	if (*used < size && strnlen(name, size) < size)
		*used += (size_t)snprintf(namer->text + *used, size - *used, "%s%s", name, behind);
	else
		*used = size;
}

/* A linkage name contains the scopes around the function, so it replaces the text so far. */
static void append_function(struct namer *namer, size_t *used, uint64_t offset)
{
	const struct die_names names = names_find(namer, namer->path.unit.dwarf, offset);

	if (names.linkage) {
		name_readable_in(names.linkage, namer->by->symbols->languages, namer->text);
		*used = strlen(namer->text);
	}
	if (names.linkage || names.plain)
		text_append(namer, used, names.linkage ? "" : names.plain, "::");
}

static void append_scope(struct namer *namer, size_t *used, unsigned i, bool is_call)
{
	const struct dwarf_die *die = &namer->path.around[i];
	const char *name = dwarf_die_string(&namer->path.unit, die, DIE_NAME);
	char unnamed[32] = "{unnamed}";

	if (is_call) /* as linkers' names have them, but for what they take */
		snprintf(unnamed, sizeof(unnamed), "{lambda#%u}", namer->path.nth[i]);

	if (die->tag == DW_TAG_namespace)
		text_append(namer, used, name ? name : "(anonymous namespace)", "::");
	else
		text_append(namer, used, name ? name : unnamed, "::");
}

/*
 * Builds a qualified name for a C++ function that has no linkage name because only inlined copies
 * of it are left. Lambdas are the most common case: all of them are called operator(). The result
 * is in the namer's text. Returns false if the name stays unqualified.
 */
static bool name_qualify(struct namer *namer, const struct die_names *names)
{
	const bool is_call = !strncmp(names->plain, "operator()", strlen("operator()"));
	const struct scope_path *path = &namer->path;
	bool in_scope = false;
	size_t used = 0;

	if (!scope_path_find(&namer->path, names->dwarf, names->unit, names->offset))
		return false;
	for (unsigned i = 0; i < path->nr; i++) {
		const struct dwarf_die *around = &path->around[i];

		if (around->tag == DW_TAG_subprogram) {
			append_function(namer, &used, around->offset);
		} else if (around->tag == DW_TAG_namespace || is_class(around)) {
			append_scope(namer, &used, i, is_call);
			in_scope = true;
		}
	}
	text_append(namer, &used, names->plain, "");
	return in_scope && used < sizeof(namer->text);
}

static const char *name_find(struct namer *namer, struct scope *scope)
{
	struct die_names names = names_find(namer, scope->dwarf, scope->origin);
	const char *name;

	if (scope->caller && names.plain && !names.linkage)
		names.linkage = own_codes_symbol(namer->by->own, namer->by->symbols, scope->dwarf,
		                                 scope->origin, names.plain);
	scope->is_c = names.is_c;
	name = name_choose(&names);
	if (!name)
		return NULL;
	if (scope->caller && !names.linkage && name_qualify(namer, &names))
		return text_pool_put(namer->by->text, namer->text);
	return scope->caller ? name_make_readable(namer, name, names.is_c) : name_keep(namer, name);
}

static bool same_origin(const struct scope *a, const struct scope *b)
{
	return a->dwarf == b->dwarf && a->origin == b->origin && !a->caller == !b->caller;
}

struct origin {
	uint64_t key;
	struct scope *scope;
};

/* One pass of a radix sort. False: all had the same digit, and nothing was moved. */
static bool digit_sort(const struct origin *from, struct origin *to, size_t n, unsigned shift)
{
	size_t starts[256] = {0}, sum = 0, count, i;

	for (i = 0; i < n; i++)
		starts[from[i].key >> shift & 255]++;
	if (starts[from[0].key >> shift & 255] == n)
		return false;
	for (i = 0; i < 256; i++) {
		count = starts[i];
		starts[i] = sum;
		sum += count;
	}
	for (i = 0; i < n; i++)
		to[starts[from[i].key >> shift & 255]++] = from[i];
	return true;
}

/*
 * In the order of their entries, file by file: those without a name, nr of them, in the first or
 * the second half of the array. So each unit is looked into once.
 */
static struct origin *scopes_sort(struct scope *scopes, size_t n, struct origin *origins,
                                  size_t *nr)
{
	struct origin *from = origins, *to = origins + n, *swap;
	const struct dwarf *first = NULL;
	unsigned shift;
	size_t i;

	*nr = 0;
	for (i = 0; i < n; i++) {
		if (!scopes[i].dwarf)
			continue;
		first = first ? first : scopes[i].dwarf;
		from[(*nr)++] = (struct origin){
			.key = scopes[i].origin | (uint64_t)(scopes[i].dwarf != first) << 63,
			.scope = &scopes[i],
		};
	}
	for (shift = 0; shift < 64 && *nr; shift += 8) {
		if (!digit_sort(from, to, *nr, shift))
			continue;
		swap = from;
		from = to;
		to = swap;
	}
	return from;
}

static void scope_share_name(struct scope *scope, const struct scope *of)
{
	scope->name = of->name;
	scope->is_c = of->is_c;
}

int scopes_name(struct scope *scopes, size_t n, const struct scope_naming *naming)
{
	struct origin *origins = calloc(2 * n + 1, sizeof(*origins)), *sorted;
	struct namer *namer = calloc(1, sizeof(*namer));
	int err = origins && namer ? 0 : -ENOMEM;
	size_t nr, i;

	if (err)
		goto out;
	namer->by = naming;
	namer->path.left = MAX_STEPS;
	sorted = scopes_sort(scopes, n, origins, &nr);
	for (i = 0; i < nr; i++)
		if (i && same_origin(sorted[i].scope, sorted[i - 1].scope))
			scope_share_name(sorted[i].scope, sorted[i - 1].scope);
		else
			sorted[i].scope->name = name_find(namer, sorted[i].scope);
	for (i = 0; i < nr; i++)
		sorted[i].scope->dwarf = NULL;
	for (i = 0; i < 2; i++)
		if (namer->open[i])
			dwarf_unit_close(&namer->units[i]);
	scope_path_close(&namer->path);
out:
	free(origins);
	free(namer);
	return err;
}
