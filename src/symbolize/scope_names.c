#include "symbolize/scope_names.h"
#include "symbolize/dwarf_unit.h"
#include "symbolize/readable.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_HOPS 8 /* from an entry to the one that has its name */

/* Every unit names the same functions again, and linkers store equal strings once. */
#define NR_RECENT (1u << 14)

struct recent_name {
	const char *name, *readable;
};

/* Units that were looked into last: names are looked up in the order of their entries. */
struct namer {
	struct dwarf_unit units[2];
	bool open[2];
	struct text_pool *pool;
	bool copy;
	struct recent_name recent[NR_RECENT]; /* by where the name is */
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
		if (!dwarf_die_read(unit, &cursor, &die) || !die.tag)
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

/* A function's own name is not shown where there is a symbol. */
static const char *name_keep(struct namer *namer, const char *name)
{
	return namer->copy ? text_pool_put(namer->pool, name) : name;
}

static const char *name_make_readable(struct namer *namer, const char *name)
{
	struct recent_name *recent =
		&namer->recent[(uintptr_t)name * 0x9e3779b97f4a7c15 >> (64 - 14)];

	if (recent->name == name)
		return recent->readable;
	name_readable(name, namer->text);
	recent->name = name;
	recent->readable = namer->copy || strcmp(name, namer->text) != 0
	                           ? text_pool_put(namer->pool, namer->text)
	                           : name;
	return recent->readable;
}

static const char *name_find(struct namer *namer, const struct scope *scope)
{
	const struct die_names names = names_find(namer, scope->dwarf, scope->origin);
	const char *name = name_choose(&names);

	if (!name)
		return NULL;
	return scope->caller ? name_make_readable(namer, name) : name_keep(namer, name);
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

int scopes_name(struct scope *scopes, size_t n, struct text_pool *text, bool copy)
{
	struct origin *origins = calloc(2 * n + 1, sizeof(*origins)), *sorted;
	struct namer *namer = calloc(1, sizeof(*namer));
	int err = origins && namer ? 0 : -ENOMEM;
	size_t nr, i;

	if (err)
		goto out;
	namer->pool = text;
	namer->copy = copy;
	sorted = scopes_sort(scopes, n, origins, &nr);
	for (i = 0; i < nr; i++)
		if (i && same_origin(sorted[i].scope, sorted[i - 1].scope))
			sorted[i].scope->name = sorted[i - 1].scope->name;
		else
			sorted[i].scope->name = name_find(namer, sorted[i].scope);
	for (i = 0; i < nr; i++)
		sorted[i].scope->dwarf = NULL;
	for (i = 0; i < 2; i++)
		if (namer->open[i])
			dwarf_unit_close(&namer->units[i]);
out:
	free(origins);
	free(namer);
	return err;
}
