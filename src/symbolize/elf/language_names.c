#include "symbolize/elf/language_names.h"

#include "base/hex_digit.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* Longer ones remain as they are. Decoded, three letters may become twelve. */
#define NAME_MAX_SIZE 2048

static bool ends_with(const char *name, const char *end)
{
	const size_t size = strlen(name), end_size = strlen(end);

	return size > end_size && !strcmp(name + size - end_size, end);
}

static bool starts_with(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

/* "GHCziBase": two parts, both with a capital. */
static bool has_module_path(const char *name)
{
	for (const char *at = strstr(name, "zi"); at; at = strstr(at + 2, "zi"))
		if (at > name && isalnum((unsigned char)at[-1]) && isupper((unsigned char)at[2]))
			return true;
	return false;
}

unsigned language_of(const char *name)
{
	if (*name == 'c' && (starts_with(name, "caml_start") || starts_with(name, "caml_main")))
		return LANGUAGE_OCAML;
	if (starts_with(name, "caml") && isupper((unsigned char)name[4]))
		return ends_with(name, "code_begin") ? LANGUAGE_OCAML : 0;
	if (*name == '_' && (starts_with(name, "__gnat_") || starts_with(name, "_ada_")))
		return LANGUAGE_ADA;
	if (*name == 'r' && (!strcmp(name, "runtime.text") || !strcmp(name, "runtime.goexit") ||
	                     !strcmp(name, "runtime.main")))
		return LANGUAGE_GO;
	if (!strcmp(name, "hs_main") || !strcmp(name, "stg_ap_v_info"))
		return LANGUAGE_HASKELL;
	return *name != '_' && ends_with(name, "_info") && has_module_path(name) ? LANGUAGE_HASKELL
	                                                                         : 0;
}

/* --- Ada -------------------------------------------------------------------------------------- */

/*
 * libiberty makes room for one attribute of a stream, which gets longer, but reads several; and
 * calls what it cannot read <name>.
 */
static bool ada_is_safe(const char *name)
{
	for (const char *at = strchr(name, 'S'); at; at = strchr(at + 1, 'S'))
		if (at[1] && at[2] == '_')
			return false;
	return true;
}

static bool demangle_ada(const char *name, char text[DEMANGLED_MAX])
{
	const bool is_main = starts_with(name, "_ada_");
	char *made;
	bool known;

	if (!is_main && !(islower((unsigned char)*name) && strstr(name, "__")))
		return false;
	made = ada_is_safe(name) ? ada_demangle(name, 0) : NULL;
	known = made && *made && *made != '<' && strlen(made) < DEMANGLED_MAX;
	if (known)
		memcpy(text, made, strlen(made) + 1);
	free(made);
	return known;
}

/* --- OCaml ------------------------------------------------------------------------------------ */

/* "camlOc__fun" and "camlOc.fun" */
static bool is_unnamed(const char *name, size_t size)
{
	return size >= 9 &&
	       (!strncmp(name + size - 4, ".fun", 4) || !strncmp(name + size - 5, "__fun", 5));
}

/* "_123", which makes names distinct; what has no name but "fun" keeps it. */
static size_t ocaml_size(const char *name)
{
	size_t size = strlen(name), at;

	if (ends_with(name, "_code"))
		size -= strlen("_code");
	at = size;
	while (at && isdigit((unsigned char)name[at - 1]))
		at--;
	if (at == size || at < 2 || name[at - 1] != '_')
		return size;
	at--;
	return is_unnamed(name, at) ? size : at;
}

static bool demangle_ocaml(const char *name, char text[DEMANGLED_MAX])
{
	const size_t size = ocaml_size(name);
	bool in_module = true; /* whose name has a capital; that of a function has none */
	size_t used = 0;

	if (!starts_with(name, "caml") || !isupper((unsigned char)name[4]))
		return false;
	for (size_t i = 4; i < size; i++) {
		const int high = i + 2 < size ? hex_digit(name[i + 1]) : -1;
		const int low = high >= 0 ? hex_digit(name[i + 2]) : -1;

		if (name[i] == '$' && low >= 0 && high >= 2 && high < 8) {
			text[used++] = (char)(high * 16 + low);
			i += 2;
		} else if (in_module && i + 2 < size && name[i] == '_' && name[i + 1] == '_') {
			text[used++] = '.';
			in_module = isupper((unsigned char)name[i + 2]);
			i++;
		} else {
			in_module &= name[i] != '.' || isupper((unsigned char)name[i + 1]);
			text[used++] = name[i];
		}
	}
	text[used] = '\0';
	return memchr(text, '.', used) != NULL;
}

/* --- Haskell ---------------------------------------------------------------------------------- */

/* A letter behind a z, or behind a Z. */
static char z_letter(char before, char letter)
{
	static const char small[] = "a&b|c^d$e=g>h#i.l<m-n!p+q'r\\s/t*u_v%zz";
	static const char large[] = "L(R)M[N]C:ZZ";
	const char *pairs = before == 'z' ? small : large;

	for (; *pairs; pairs += 2)
		if (*pairs == letter)
			return pairs[1];
	return '\0';
}

/* "z25U" and "ze9U", characters by their numbers. The size; 0: it is none that can be printed. */
static size_t z_number(const char *at, const char *end, char *c)
{
	size_t size = 1;
	unsigned long value = 0;

	while (at + size < end && hex_digit(at[size]) >= 0 && size < 6)
		value = value * 16 + (unsigned)hex_digit(at[size++]);
	if (!isdigit((unsigned char)at[1]) || at + size >= end || at[size] != 'U' || value > 126 ||
	    value < 32)
		return 0;
	*c = (char)value;
	return size + 1;
}

/* "Z0T" and "Z3T" are "()" and "(,,)"; "H" for those with a hash. */
static size_t z_tuple(const char *at, const char *end, char *text, size_t *used)
{
	const bool is_tuple = at + 2 < end && *at == 'Z' && isdigit((unsigned char)at[1]) &&
	                      (at[2] == 'T' || at[2] == 'H');

	if (!is_tuple)
		return 0;
	text[(*used)++] = '(';
	if (at[2] == 'H')
		text[(*used)++] = '#';
	for (int i = 1; i < at[1] - '0'; i++)
		text[(*used)++] = ',';
	if (at[2] == 'H')
		text[(*used)++] = '#';
	text[(*used)++] = ')';
	return 3;
}

/* False: it is not encoded so. */
static bool z_decode(const char *at, const char *end, char *text, size_t *used)
{
	while (at < end) {
		char c = *at;
		size_t size = 1;

		if (c == 'z' || c == 'Z') {
			size = z_tuple(at, end, text, used);
			if (size) {
				at += size;
				continue;
			}
			size = c == 'z' ? z_number(at, end, &c) : 0;
			if (!size && at + 1 < end) {
				c = z_letter(*at, at[1]);
				size = c ? 2 : 0;
			}
		}
		if (!size || !(isalnum((unsigned char)*at) || (unsigned char)*at >= 0x80))
			return false;
		text[(*used)++] = c;
		at += size;
	}
	return true;
}

/* The size without what GHC says of the code; 0: it says nothing. */
static size_t haskell_size(const char *name)
{
	static const char *const suffixes[] = {"_con_info", "_static_info", "_info", "_con_entry",
	                                       "_entry",    "_slow",        "_fast", "_ret"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (ends_with(name, suffixes[i]))
			return strlen(name) - strlen(suffixes[i]);
	return 0;
}

/* package_Module_function, or Module_function of the program itself. */
static bool demangle_haskell(const char *name, char text[DEMANGLED_MAX])
{
	const char *end = name + haskell_size(name), *parts[4];
	size_t nr = 0, used = 0, first;

	for (const char *at = name; at < end && nr < 4; at++)
		if (at == name || at[-1] == '_')
			parts[nr++] = at;
	if (nr < 2 || nr > 3)
		return false;
	first = nr == 3 &&
	        !(isupper((unsigned char)*parts[0]) && islower((unsigned char)*parts[1]));
	if (!isupper((unsigned char)*parts[first]))
		return false;
	for (size_t i = first; i < nr; i++) {
		if (i > first)
			text[used++] = '.';
		if (!z_decode(parts[i], i + 1 < nr ? parts[i + 1] - 1 : end, text, &used))
			return false;
	}
	text[used] = '\0';
	return true;
}

/* --- all -------------------------------------------------------------------------------------- */

bool language_demangle(const char *name, unsigned languages, char text[DEMANGLED_MAX])
{
	if (strnlen(name, NAME_MAX_SIZE + 1) > NAME_MAX_SIZE)
		return false;
	return (languages & LANGUAGE_OCAML && demangle_ocaml(name, text)) ||
	       (languages & LANGUAGE_HASKELL && demangle_haskell(name, text)) ||
	       (languages & LANGUAGE_ADA && demangle_ada(name, text));
}
