#include "symbolize/elf/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* libiberty refuses what is longer than 1,024, for fear for the stack; templates often are. */
#define MANGLED_MAX       4096
#define MANGLED_UNLIMITED 1024

struct output {
	jmp_buf full;
	char *text;
	size_t size;
};

/* The only way to stop libiberty, which keeps all it needs on the stack while it calls this. */
static void output_append(const char *text, size_t size, void *arg)
{
	struct output *output = arg;

	if (size >= DEMANGLED_MAX - output->size)
		longjmp(output->full, 1);
	if (size)
		memcpy(output->text + output->size, text, size);
	output->size += size;
}

typedef int demangler_fn(const char *name, int options, demangle_callbackref callback, void *arg);

static bool demangle_as(demangler_fn *fn, int options, const char *name, char *text)
{
	struct output output = {.text = text};

	if (setjmp(output.full) ||
	    !fn(name, DMGL_PARAMS | DMGL_ANSI | options, output_append, &output))
		return false;
	text[output.size] = '\0';
	return true;
}

/*
 * libiberty limits the length of C++ names, and the depth of Rust names, in which a part may refer
 * to itself.
 */
static bool demangle_long(const char *name, char *text)
{
	const bool unlimited = strlen(name) > MANGLED_UNLIMITED;

	return demangle_as(cplus_demangle_v3_callback, unlimited ? DMGL_NO_RECURSE_LIMIT : 0, name,
	                   text);
}

static unsigned nr_substitutions(const char *name)
{
	unsigned nr = 0;

	for (; *name; name++)
		if (*name == 'S')
			nr += name[1 + strspn(name + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")] ==
			      '_';
	return nr;
}

/* So many references can make 16,384 parts: that many are searched in less than a millisecond. */
#define SUBSTITUTIONS_SAFE 14

/*
 * Whether an expression can begin so: operators, of those with two small letters. Where none can,
 * as in "spirit" or "specific", libiberty gives the name up, if it does not read it as a word.
 */
static bool begins_expression(const char *at)
{
	static const char operators[] =
		" aa ad an at aw az cc cl cm co cv da dc de di dl ds dt dv dx eo eq fp ge gs gt il"
		" ix le li ls lt mc mi ml mm na ne ng nt nw nx on oo or pl pm pp ps pt qu rc rm rq"
		" rs sc so sp sr ss st sz te ti tl tr tw ";
	const char pair[] = {' ', at[0], at[0] ? at[1] : '\0', ' ', '\0'};

	if (!islower((unsigned char)pair[1]) || !islower((unsigned char)pair[2]))
		return true;
	return strstr(operators, pair) != NULL;
}

/*
 * Each reference to an earlier part may double what a name stands for. That ends when the output
 * is full, except where libiberty looks through a part for a parameter pack and prints nothing:
 * 500 bytes keep it busy for years. Such a name is tried with operators of the same form that only
 * print; few real ones come to this.
 */
static bool packs_are_bounded(const char *name, char *text)
{
	static const char pairs[][2][3] = {
		{"Dp", "VK"}, /* pack expansion of a type: volatile const */
		{"sp", "ng"}, /* of an expression: minus */
		{"sZ", "sz"}, /* sizeof...: sizeof */
		{"sP", "s?"}, /* sizeof... of captured arguments: has no like; fails */
	};
	char printing[MANGLED_MAX + 1], *at;
	bool found = false;
	size_t i;

	if (nr_substitutions(name) <= SUBSTITUTIONS_SAFE)
		return true;
	memcpy(printing, name, strlen(name) + 1);
	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		for (at = printing; (at = strstr(at, pairs[i][0])); at += 2) {
			if (pairs[i][0][1] == 'p' && pairs[i][0][0] == 's' &&
			    !begins_expression(at + 2))
				continue;
			memcpy(at, pairs[i][1], 2);
			found = true;
		}
	if (!found)
		return true;
	return demangle_long(printing, text);
}

/*
 * libiberty keeps 16 bytes on the stack for each template under each reference to a parameter or an
 * earlier part, both of which it may count twice.
 */
#define STACK_MAX ((size_t)2 << 20)

static bool fits_stack(const char *name)
{
	size_t templates = 0, references = 0;

	for (; *name; name++) {
		templates += *name == 'I';
		references += (*name == 'R' || *name == 'O') && (name[1] == 'T' || name[1] == 'S');
	}
	return templates * references * 64 <= STACK_MAX;
}

static bool demangle_cpp(const char *name, char *text)
{
	return fits_stack(name) && packs_are_bounded(name, text) && demangle_long(name, text);
}

/*
 * The number of lifetimes that a binder binds, as "G", digits to the base of 62 and "_" behind what
 * has one; NULL: none follows with more than 61.
 */
static char *find_many_lifetimes(char *name, size_t *digits)
{
	while ((name = strchr(name, 'G'))) {
		char before = *(name - 1);

		*digits = strspn(++name, "0123456789abcdefghijklmnopqrstuvwxyz"
		                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		if (*digits > 1 && name[*digits] == '_' && (before == 'F' || before == 'D'))
			return name;
	}
	return NULL;
}

/*
 * libiberty makes a name for each lifetime, which ends when the output is full, except where
 * nothing is printed of it: 30 letters keep it busy for years. No real binder has as many, but
 * hashes and identifiers may look so; of hashes nothing is printed.
 */
static bool demangle_rust(const char *name, char *text)
{
	char few[MANGLED_MAX + 1], *at = few;
	bool changed = false;
	size_t digits;

	memcpy(few, name, strlen(name) + 1);
	while ((at = find_many_lifetimes(at, &digits))) {
		memset(at, '0', digits);
		at += digits;
		changed = true;
	}
	return demangle_as(rust_demangle_callback, 0, few, text) &&
	       !(changed && strstr(text, "G00"));
}

/*
 * "_D", the length of the first part of a path, and its letters. Each reference to an earlier part,
 * with a Q, may double what a name stands for, and libiberty does not limit what it makes of it.
 */
#define D_MAX            1024
#define D_MAX_REFERENCES 12

static bool is_d(const char *name)
{
	size_t size = strlen(name);
	unsigned references = 0;

	if (strncmp(name, "_D", 2) || !isdigit((unsigned char)name[2]) || size > D_MAX)
		return false;
	for (const char *at = name; *at; at++)
		references += *at == 'Q';
	return references <= D_MAX_REFERENCES;
}

static bool demangle_d(const char *name, char *text)
{
	char *made = is_d(name) ? dlang_demangle(name, DMGL_PARAMS) : NULL;
	const size_t size = made ? strnlen(made, DEMANGLED_MAX) : DEMANGLED_MAX;

	if (size < DEMANGLED_MAX)
		memcpy(text, made, size + 1);
	free(made);
	return size < DEMANGLED_MAX;
}

const char *demangle(const char *name, char text[DEMANGLED_MAX])
{
	if (!strncmp(name, "_D", 2))
		return strnlen(name, D_MAX + 1) <= D_MAX && demangle_d(name, text) ? text : NULL;
	if ((strncmp(name, "_Z", 2) && strncmp(name, "_R", 2)) ||
	    strnlen(name, MANGLED_MAX + 1) > MANGLED_MAX)
		return NULL;
	/* Rust first: its older names are C++ names too, with a hash for a last part. */
	if ((name[1] == 'R' || strstr(name, "17h")) && demangle_rust(name, text))
		return text;
	return name[1] == 'Z' && demangle_cpp(name, text) ? text : NULL;
}
