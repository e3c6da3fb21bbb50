#include "symbolize/elf/readable.h"

#include "symbolize/elf/language_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name without its suffixes, and the meaning of the suffixes. */
struct name_parts {
	size_t size;
	const char *region; /* NULL: it is none */
	unsigned long number;
	bool numbered;
};

static const struct suffix {
	const char *text; /* after a dot; "": only a number */
	const char *region;
} suffixes[] = {
	{"cold", NULL},
	{"part", NULL},
	{"isra", NULL},
	{"constprop", NULL},
	{"lto_priv", NULL},
	{"localalias", NULL},
	{"llvm", NULL},
	{"__part", NULL},
	{"__uniq", NULL},
	{"specialized", NULL},
	{"_omp_fn", "omp region"},
	{"omp_outlined", "omp region"},
	{"omp_outlined_debug__", "omp region"},
	{"_omp_cpyfn", "omp copy"},
	{"_loopfn", "parallel loop"},
};

static bool is_digits(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return size > 0;
}

static const struct suffix *suffix_find(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strlen(suffixes[i].text) == size && !memcmp(suffixes[i].text, text, size))
			return &suffixes[i];
	return NULL;
}

/* The last dot of what is left; 0: none, or nothing before it. */
static size_t last_dot(const char *name, size_t size)
{
	while (size > 0 && name[size - 1] != '.')
		size--;
	return size ? size - 1 : 0;
}

/*
 * Takes off one suffix, with its number where it has one. False: there is none that is known. In
 * Go, pkg.cold is a function of a package: suffixes of C functions beside it have numbers.
 */
static bool suffix_take(const char *name, unsigned languages, struct name_parts *parts)
{
	size_t dot = last_dot(name, parts->size), number = parts->size, from;
	const struct suffix *suffix;

	if (!dot)
		return false;
	if (is_digits(name + dot + 1, number - dot - 1)) {
		number = dot;
		dot = last_dot(name, number);
		if (!dot)
			return false;
	} else if (languages & LANGUAGE_GO && strncmp(name, "_Z", 2) != 0) {
		return false;
	}
	from = dot + 1;
	suffix = suffix_find(name + from, number - from);
	if (!suffix)
		return false;
	if (suffix->region) {
		parts->region = suffix->region;
		parts->numbered = number < parts->size;
		if (parts->numbered)
			parts->number = strtoul(name + number + 1, NULL, 10);
	}
	parts->size = dot;
	return true;
}

/* Nested functions of C and Fortran have a number, and no other dot as names in Go have. */
static void number_take(const char *name, struct name_parts *parts)
{
	size_t dot = last_dot(name, parts->size);

	if (dot && is_digits(name + dot + 1, parts->size - dot - 1) && !memchr(name, '.', dot) &&
	    !memchr(name, '/', dot))
		parts->size = dot;
}

/*
 * Handles the names that clang before version 17 gives to outlined OpenMP regions, which do not
 * contain the function's name: ".omp_outlined.", ".omp_outlined..3", ".omp_outlined._debug__.3".
 * Returns false for any other name.
 */
static bool outlined_show(const char *name, char text[DEMANGLED_MAX])
{
	static const char *const prefixes[][2] = {
		{".omp_outlined.", "omp region"},
		{".omp_task_entry.", "omp task"},
		{".omp.reduction.reduction_func", "omp reduction"},
	};
	const char *rest = NULL;
	size_t i, size;

	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes) && !rest; i++)
		if (!strncmp(name, prefixes[i][0], strlen(prefixes[i][0])))
			rest = name + strlen(prefixes[i][0]);
	if (!rest)
		return false;
	if (!strncmp(rest, "_debug__", 8))
		rest += 8;
	size = strlen(rest);
	if (size && (rest[0] != '.' || !is_digits(rest + 1, size - 1)))
		return false;
	snprintf(text, DEMANGLED_MAX, "(%s%s%s)", prefixes[i - 1][1], size ? " " : "",
	         size ? rest + 1 : "");
	return true;
}

/* "__module_MOD_name", as gfortran writes it. Names in Fortran have no capital letters. */
static void gfortran_show(char *text)
{
	char *middle = strstr(text, "_MOD_"), *at;

	if (strncmp(text, "__", 2) != 0 || !middle || middle < text + 3 || !middle[5])
		return;
	for (at = text; at < middle; at++)
		if (isupper((unsigned char)*at))
			return;
	memmove(text, text + 2, (size_t)(middle - text) - 2);
	memcpy(middle - 2, "::", 2);
	memmove(middle, middle + 5, strlen(middle + 5) + 1);
}

/* Names in Fortran have no capital letters, and Intel's compiler writes "module_mp_name_". */
static bool intel_show(char *text)
{
	char *middle = strstr(text, "_mp_");
	size_t size = strlen(text);

	if (!middle || middle == text || text[size - 1] != '_' || middle + 5 >= text + size)
		return false;
	for (const char *at = text; *at; at++)
		if (!islower((unsigned char)*at) && !isdigit((unsigned char)*at) && *at != '_')
			return false;
	text[size - 1] = '\0';
	memcpy(middle, "::", 2);
	memmove(middle + 2, middle + 4, strlen(middle + 4) + 1);
	return true;
}

/*
 * "_QMmodulePname", as flang writes it: M, S and F stand before the names of modules, submodules
 * and functions around, P before the function's own.
 */
static bool flang_show(char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	char shown[DEMANGLED_MAX];
	const char *at = text + 2;
	size_t used = 0, size;

	if (strncmp(text, "_Q", 2) != 0)
		return false;
	for (; strchr("MSF", *at) && *at; at += 1 + size) {
		size = strspn(at + 1, letters);
		if (*at == 'F')
			continue;
		if (!size || used + size + 2 > DEMANGLED_MAX / 2)
			return false;
		memcpy(shown + used, at + 1, size);
		memcpy(shown + used + size, "::", 2);
		used += size + 2;
	}
	size = strspn(at + 1, letters);
	if (*at != 'P' || !size || size >= DEMANGLED_MAX / 2 || at[1 + size])
		return false;
	memcpy(shown + used, at + 1, size + 1);
	memcpy(text, shown, used + size + 1);
	return true;
}

bool name_is_of(const char *linkage, const char *name)
{
	static const char *const programs[] = {"MAIN__", "MAIN_", "_QQmain"};
	size_t size = strnlen(name, DEMANGLED_MAX);

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (!strcmp(linkage, programs[i]))
			return true;
	return size && !strncmp(linkage, name, size) && !strcmp(linkage + size, "_");
}

void name_readable(const char *name, char text[DEMANGLED_MAX])
{
	name_readable_in(name, 0, text);
}

void name_readable_in(const char *name, unsigned languages, char text[DEMANGLED_MAX])
{
	char base[DEMANGLED_MAX];
	struct name_parts parts = {.size = strnlen(name, DEMANGLED_MAX - 1)};
	size_t used;

	if (parts.size < DEMANGLED_MAX - 1 && outlined_show(name, text))
		return;
	while (suffix_take(name, languages, &parts))
		continue;
	number_take(name, &parts);
	memcpy(base, name, parts.size);
	base[parts.size] = '\0';
	if (!demangle(base, text) && !language_demangle(base, languages, text)) {
		memcpy(text, base, parts.size + 1);
		if (!flang_show(text) && !intel_show(text))
			gfortran_show(text);
	}
	if (!parts.region)
		return;
	used = strlen(text);
	if (parts.numbered)
		snprintf(text + used, DEMANGLED_MAX - used, " (%s %lu)", parts.region,
		         parts.number);
	else
		snprintf(text + used, DEMANGLED_MAX - used, " (%s)", parts.region);
}
