#include "output/text/short_name.h"

#include "output/text/name_parts.h"
#include "output/text/text.h"

#include <stdbool.h>
#include <string.h>

#define MAX_LEVEL 64 /* brackets deeper in each other go together */

static bool fits(const char *name, unsigned width)
{
	return text_put(NULL, name, 0) <= width;
}

/* How deep brackets are in each other; -1: they do not match. */
static int deepest(const char *name)
{
	int depth = 0, most = 0;

	for (const char *at = name; *at && depth >= 0; at++) {
		size_t skip = name_signs(name, at);

		if (skip) {
			at += skip - 1;
			continue;
		}
		depth = name_depth_behind(depth, *at);
		most = depth > most ? depth : most;
	}
	return depth ? -1 : most;
}

/* Worth dots: longer than these, and no name itself. */
static bool can_go(const char *from, const char *to)
{
	static const char anonymous[] = "anonymous namespace";
	size_t size = (size_t)(to - from);

	return size > strlen(NAME_DOTS) &&
	       (size != strlen(anonymous) || strncmp(from, anonymous, size) != 0);
}

/* Puts dots for what is in brackets of this depth that open so. */
static void elide(char *name, int level, const char *openings)
{
	char *to = name;
	const char *inside = NULL; /* in the text as it is now */
	int depth = 0;

	for (const char *at = name; *at; at++) {
		size_t skip = name_signs(name, at);
		int next = skip ? depth : name_depth_behind(depth, *at);

		if (inside && next < level && can_go(inside, to)) {
			to = name + (inside - name);
			memcpy(to, NAME_DOTS, strlen(NAME_DOTS));
			to += strlen(NAME_DOTS);
		}
		if (next < level)
			inside = NULL;
		memmove(to, at, skip ? skip : 1);
		to += skip ? skip : 1;
		at += skip ? skip - 1 : 0;
		if (depth < level && next == level && strchr(openings, *at))
			inside = to;
		depth = next;
	}
	*to = 0;
}

/* In <type as trait>::name, as Rust says it, puts dots for what type and trait are in. */
static void cut_qualifiers(char *name)
{
	char *to = name + 1, *from = to; /* where the present one of them begins, as it is now */
	const char *at = to;
	int depth = 1;

	if (*name != '<' || !strstr(name, " as "))
		return;
	while (*at && depth) {
		size_t skip = name_signs(name, at);

		depth = skip ? depth : name_depth_behind(depth, *at);
		if (depth == 1 && at[0] == ':' && at[1] == ':' && to > from) {
			memcpy(from, NAME_DOTS, strlen(NAME_DOTS));
			to = from + strlen(NAME_DOTS);
			at += 2;
			continue;
		}
		if (depth == 1 && strchr(" &*[", *at))
			from = to + 1;
		memmove(to, at, skip ? skip : 1);
		to += skip ? skip : 1;
		at += skip ? skip : 1;
	}
	memmove(to, at, strlen(at) + 1);
}

/* Leaves out what a function takes, where its name ends with that. */
static void cut_arguments(char *name)
{
	size_t size = strlen(name);
	int depth = 0;

	if (name_ends_with(name, size, " const"))
		size -= strlen(" const");
	if (!name_ends_with(name, size, ")"))
		return;
	do
		depth += name[--size] == ')' ? 1 : name[size] == '(' ? -1 : 0;
	while (depth && size);
	if (size && !name_ends_with(name, size, "operator"))
		name[size] = 0;
}

static char *next_character(char *at)
{
	do
		at++;
	while ((*at & 0xc0) == 0x80);
	return at;
}

/* The first character between these from which on the name takes less columns than width. */
static char *find_end(char *from, char *last, unsigned width)
{
	while (from < last) {
		char *middle = from + (last - from) / 2;

		while (middle > from && (*middle & 0xc0) == 0x80)
			middle--;
		if (text_put(NULL, middle, 0) < width)
			last = middle;
		else
			from = next_character(middle);
	}
	return from;
}

/* Leaves out the beginning, but nothing of the last part. */
static void cut_front(char *name, unsigned width)
{
	char *last = NULL, *from = name;

	for (const char *part = name; (part = name_next_part(name, part));)
		last = name + (part - name);
	if (!last)
		last = strstr(name, "+0x"); /* the place in a module that stands for a name */
	if (!last || last - name < (int)strlen(NAME_DOTS))
		return;
	while (from - name < (int)strlen(NAME_DOTS))
		from = next_character(from);
	from = find_end(from, last, width);
	if (!strncmp(from, NAME_DOTS, strlen(NAME_DOTS)))
		from += strlen(NAME_DOTS);
	memcpy(name, NAME_DOTS, strlen(NAME_DOTS));
	memmove(name + strlen(NAME_DOTS), from, strlen(from) + 1);
}

/* The innermost first, but for the outermost: it tells most. */
static void elide_inner(char *name, unsigned width)
{
	int level = deepest(name);

	for (level = level < MAX_LEVEL ? level : MAX_LEVEL; level > 1 && !fits(name, width);
	     level--)
		elide(name, level, "(<");
}

static void elide_outermost(char *name, unsigned width, const char *openings)
{
	if (!fits(name, width))
		elide(name, 1, openings);
}

void short_arguments(char *name, unsigned width)
{
	if (deepest(name) < 0)
		return;
	elide_inner(name, width);
	elide_outermost(name, width, "(");
	elide_outermost(name, width, "<");
}

void short_name(char *name, unsigned width)
{
	if (deepest(name) < 0)
		return;
	if (!fits(name, width))
		cut_qualifiers(name);
	elide_inner(name, width);
	elide_outermost(name, width, "(");
	if (!fits(name, width))
		cut_arguments(name);
	elide_outermost(name, width, "<");
	if (!fits(name, width))
		cut_front(name, width);
}
