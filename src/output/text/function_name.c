#include "output/text/function_name.h"

#include "output/text/name_parts.h"
#include "output/text/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- parts and copies ------------------------------------------------------------------------- */

/*
 * The size without a mark as readable.h puts it behind the name of a part: " (omp region 3)". Older
 * versions of clang do not say of which function it is: then nothing is left.
 */
static size_t without_region(const char *name, size_t size)
{
	static const char *const marks[] = {"omp region", "omp copy", "parallel loop", "omp task",
	                                    "omp reduction"};
	size_t end = size;

	if (!name_ends_with(name, size, ")"))
		return size;
	end--;
	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end + 1 < size && end && name[end - 1] == ' ')
		end--;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		size_t begin = end - strlen(marks[i]);

		if (name_ends_with(name, end, marks[i]) && begin && name[begin - 1] == '(')
			return begin == 1 ? 0 : name[begin - 2] == ' ' ? begin - 2 : size;
	}
	return size;
}

/* The size without any " [clone .avx2]", as the demangler writes copies. */
static size_t without_clones(const char *name, size_t size)
{
	static const char clone[] = " [clone ";

	while (name_ends_with(name, size, "]")) {
		size_t at = size;

		while (at && name[at - 1] != '[')
			at--;
		if (at < 3 || strncmp(name + at - 2, clone, strlen(clone)) != 0)
			break;
		size = at - 2;
	}
	return size;
}

/* Compares with the names of processors and their features that target_clones may have. */
static bool is_target(const char *text, size_t size)
{
	static const char *const begins[] = {"default", "arch_", "avx", "sse", "ssse", "bmi"};

	if (strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") < size)
		return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(text, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/*
 * The size without ".avx2", ".default" or ".arch_haswell", as C functions have them. Names with
 * another dot, slash or colon are of other languages.
 */
static size_t without_target(const char *name, size_t size)
{
	size_t dot = 0, last;

	while (dot < size && text_is_word(name[dot]))
		dot++;
	if (!dot || dot == size || name[dot] != '.')
		return size;
	last = size;
	while (last && isdigit((unsigned char)name[last - 1]))
		last--;
	if (last > dot + 1 && last < size && name[last - 1] == '.')
		size = last - 1; /* "f.avx2.0" is local */
	return is_target(name + dot + 1, size - dot - 1) ? dot : size;
}

/* The size without what tells copies apart. */
static size_t without_copies(const char *name, size_t size)
{
	return without_target(name, without_clones(name, size));
}

size_t function_name_whole(const char *name)
{
	const size_t size = strlen(name);
	size_t whole = without_region(name, without_copies(name, size));

	return whole < size ? whole : 0;
}

/* --- the common form: words ------------------------------------------------------------------- */

struct form {
	const char *name, *at, *end; /* end: of the name without marks */
	char *text;
	size_t used;
	unsigned less;
	int depth; /* of all brackets */
};

static void put(struct form *form, const char *text, size_t size)
{
	if (form->used + size >= FUNCTION_NAME_SIZE)
		size = FUNCTION_NAME_SIZE - 1 - form->used;
	memcpy(form->text + form->used, text, size);
	form->used += size;
}

static void put_text(struct form *form, const char *text)
{
	put(form, text, strlen(text));
}

static bool at_text(const struct form *form, const char *text)
{
	return !strncmp(form->at, text, strlen(text));
}

static size_t word_size(const char *at)
{
	size_t size = 0;

	while (text_is_word(at[size]))
		size++;
	return size;
}

/* "long unsigned int", as DWARF has it, is "unsigned long". False: there is no such type here. */
static bool take_integer(struct form *form)
{
	static const char *const words[] = {"unsigned", "long", "short", "int", "char"};
	enum { UNSIGNED, LONG, SHORT, INT, CHAR, NR };
	unsigned nr[NR] = {0}, i;
	const char *at = form->at, *end = at;

	for (;;) {
		size_t size = word_size(at);

		for (i = 0; i < NR; i++)
			if (strlen(words[i]) == size && !memcmp(at, words[i], size))
				break;
		if (i == NR)
			break;
		nr[i]++;
		end = at + size;
		at = *end == ' ' ? end + 1 : "";
	}
	if (!nr[UNSIGNED] && !nr[LONG] && !nr[SHORT])
		return false;
	form->at = end;
	put_text(form, nr[UNSIGNED] ? "unsigned " : "");
	put_text(form, nr[LONG] > 1 ? "long long" : nr[LONG] ? "long" : nr[SHORT] ? "short" : "");
	put_text(form, nr[LONG] || nr[SHORT] ? "" : nr[CHAR] ? "char" : "int");
	return true;
}

/* Namespaces that a library puts around its own names, and that people do not write. */
static bool take_inline_namespace(struct form *form)
{
	static const char *const names[] = {"__cxx11::", "__1::", "__debug::", "_V2::", "__8::"};

	if (form->used < 2 || memcmp(form->text + form->used - 2, "::", 2) != 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (at_text(form, names[i])) {
			form->at += strlen(names[i]);
			return true;
		}
	return false;
}

/* "[abi:cxx11]", and of Rust's crates "[8787f43e282added]". */
static bool take_tag(struct form *form)
{
	const char *at = form->at;
	size_t size;

	if (*at != '[' || !form->used)
		return false;
	size = !strncmp(at, "[abi:", 5) ? strcspn(at, "]") : 1 + strspn(at + 1, "0123456789abcdef");
	if (at[size] != ']' || size < 5)
		return false;
	form->at += size + 1;
	return true;
}

/* Compilers write integer arguments of templates as 3ul or as (unsigned long)3: both become 3. */
static bool take_literal(struct form *form)
{
	const char *at = form->at, before = form->used ? form->text[form->used - 1] : '\0';
	size_t size;

	if ((before != '<' && before != ',') || form->depth < 1)
		return false;
	if (*at == '(') {
		size = strcspn(at, ")<>,");
		if (at[size] != ')' ||
		    !(isdigit((unsigned char)at[size + 1]) || at[size + 1] == '-'))
			return false;
		at += size + 1;
	}
	size = *at == '-';
	if (!isdigit((unsigned char)at[size]))
		return false;
	while (isdigit((unsigned char)at[size]))
		size++;
	put(form, at, size);
	form->at = at + size + strspn(at + size, "uUlL");
	return true;
}

/* --- the common form: lambdas ----------------------------------------------------------------- */

static void put_closure(struct form *form, const char *word, const char *mark, const char *digits,
                        unsigned more)
{
	char text[64];

	put_text(form, word);
	if (digits && !(form->less & FUNCTION_NO_NUMBERS)) {
		snprintf(text, sizeof(text), "%s%lu", mark, strtoul(digits, NULL, 10) + more);
		put_text(form, text);
	}
	put_text(form, "}");
}

/* "{lambda(int)#1}", "{lambda#1}", and of Rust "{closure#0}", "{{closure}}". */
static bool take_braces(struct form *form)
{
	const char *end = name_behind_bracket(form->at, '{', '}'), *number = NULL;
	const bool lambda = at_text(form, "{lambda");

	if (!end || (!lambda && !at_text(form, "{closure") && !at_text(form, "{{closure")))
		return false;
	for (const char *at = form->at; at < end; at++)
		if (*at == '#')
			number = at + 1;
	put_closure(form, lambda ? "{lambda" : "{closure", "#", number, 0);
	form->at = end;
	return true;
}

/* "$_0" by clang, which counts in all functions of a file. */
static bool take_dollar(struct form *form)
{
	size_t size = strspn(form->at + 2, "0123456789");

	if (!size || form->used < 2 || form->text[form->used - 1] != ':')
		return false;
	put_closure(form, "{lambda", "$", form->at + 2, 0);
	form->at += 2 + size;
	return true;
}

/* "'lambda'(int)" and "'lambda0'(int)" for #1 and #2, by LLVM; "<lambda(int)>" by gdb. */
static bool take_quoted(struct form *form)
{
	const char *at = form->at + strlen("'lambda"), *digits = at, *end;

	if (at_text(form, "<lambda(")) {
		end = name_behind_bracket(form->at, '<', '>');
		if (!end)
			return false;
		put_closure(form, "{lambda", "", NULL, 0);
		form->at = end;
		return true;
	}
	at += strspn(at, "0123456789");
	if (*at != '\'')
		return false;
	if (at == digits)
		put_closure(form, "{lambda", "#", "1", 0);
	else
		put_closure(form, "{lambda", "#", digits, 2);
	end = at[1] == '(' ? name_behind_bracket(at + 1, '(', ')') : NULL;
	form->at = end ? end : at + 1;
	return true;
}

static bool take_lambda(struct form *form)
{
	if (*form->at == '{')
		return take_braces(form);
	if (at_text(form, "$_"))
		return take_dollar(form);
	if (at_text(form, "'lambda") || at_text(form, "<lambda("))
		return take_quoted(form);
	return false;
}

/* --- the common form: the whole --------------------------------------------------------------- */

/* In brackets, a space counts between two words alone. */
static bool is_idle_space(const struct form *form)
{
	char before = form->used ? form->text[form->used - 1] : '\0';

	if (*form->at != ' ')
		return false;
	return form->depth > 0 && !(text_is_word(before) && text_is_word(form->at[1]));
}

static void take_character(struct form *form)
{
	char c = *form->at++;

	put(form, &c, 1);
	if (strchr("(<{[", c))
		form->depth++;
	else if (strchr(")>}]", c))
		form->depth--;
}

/* The text of a name with the words that all would write. */
static void put_words(struct form *form)
{
	while (form->at < form->end) {
		const bool begins = form->at == form->name || !text_is_word(form->at[-1]);
		size_t signs = name_signs(form->name, form->at);

		if (signs) {
			put(form, form->at, signs);
			form->at += signs;
		} else if (is_idle_space(form)) {
			form->at++;
		} else if (!take_lambda(form) && !take_tag(form) && !take_literal(form) &&
		           !(begins && (take_integer(form) || take_inline_namespace(form)))) {
			take_character(form);
		}
	}
	form->text[form->used] = '\0';
}

/* Where what a function takes begins and ends in its name; qualifiers follow. */
struct arguments {
	size_t begin, end;
};

static size_t without_qualifiers(const char *name, size_t size)
{
	static const char *const words[] = {" const", " volatile", " &&", " &", "&&", "&"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (name_ends_with(name, size, words[i])) {
			size -= strlen(words[i]);
			i = (size_t)-1;
		}
	return size;
}

static bool find_arguments(const char *name, size_t size, struct arguments *arguments)
{
	size_t end = without_qualifiers(name, size), begin = end;
	int depth = 0;

	if (!name_ends_with(name, end, ")"))
		return false;
	do
		depth += name[--begin] == ')' ? 1 : name[begin] == '(' ? -1 : 0;
	while (depth && begin);
	*arguments = (struct arguments){begin, end};
	return begin && !depth && name[begin - 1] != ':' && name[begin - 1] != ' ' &&
	       !name_ends_with(name, begin, "operator");
}

/* A thunk is no function that returns one. */
static bool is_of_another(const char *name)
{
	return strstr(name, " thunk to ") || strstr(name, " function for ") ||
	       strstr(name, " clone for ");
}

/* Finds where the name itself begins: the return type stands before the names of templates. */
static size_t name_begin(const char *name, size_t end)
{
	size_t begin = 0;
	int depth = 0;

	for (size_t i = 0; i < end; i++) {
		size_t signs = name_signs(name, name + i);

		if (signs || !strncmp(name + i, "operator ", strlen("operator ")))
			break;
		depth += strchr("(<{[", name[i]) ? 1 : strchr(")>}]", name[i]) ? -1 : 0;
		if (!depth && name[i] == ' ' && i && name[i - 1] != ')')
			begin = i + 1;
	}
	return begin < end && !is_of_another(name) ? begin : 0;
}

/*
 * Leaves out what the functions take that others are in: "f(int)::g" becomes "f::g". Not all:
 * "f()::g" alone, since some leave these brackets out.
 */
static void cut_inner_arguments(char *name, bool all)
{
	char *to = name;
	int depth = 0;

	for (const char *at = name; *at;) {
		const char *end = NULL;
		size_t signs = name_signs(name, at);

		if (!signs && *at == '(' && !depth && at > name && at[-1] != ':')
			end = name_behind_bracket(at, '(', ')');
		if (end && !strncmp(end, " const::", strlen(" const::")))
			end += strlen(" const");
		if (end && end[0] == ':' && end[1] == ':' && (all || end == at + 2)) {
			at = end;
			continue;
		}
		if (!signs)
			depth += strchr("<{[", *at) ? 1 : strchr(">}]", *at) ? -1 : 0;
		signs = signs ? signs : 1;
		memmove(to, at, signs);
		to += signs;
		at += signs;
	}
	*to = '\0';
}

static void cut_signature(char *text, unsigned less)
{
	size_t size = strlen(text), begin;
	struct arguments arguments;

	if (find_arguments(text, size, &arguments)) {
		begin = name_begin(text, arguments.begin);
		if (less & FUNCTION_NO_ARGUMENTS)
			text[arguments.begin] = '\0';
		memmove(text, text + begin, strlen(text + begin) + 1);
	}
	cut_inner_arguments(text, less & FUNCTION_NO_ARGUMENTS);
}

/* "std::string" is written in full, or not. */
static void shorten_strings(char *text)
{
	static const char *const longs[] = {
		"std::basic_string<char,std::char_traits<char>,std::allocator<char>>",
		"std::basic_string<char>",
	};
	static const char string[] = "std::string";

	for (size_t i = 0; i < sizeof(longs) / sizeof(*longs); i++)
		for (char *at = text; (at = strstr(at, longs[i])); at += strlen(string)) {
			const char *rest = at + strlen(longs[i]);

			memcpy(at, string, strlen(string));
			memmove(at + strlen(string), rest, strlen(rest) + 1);
		}
}

/* Without its number, a region is " (omp region". */
static void put_region(struct form *form, const char *mark, size_t size)
{
	if (form->less & FUNCTION_NO_NUMBERS && size) {
		size--;
		while (size && isdigit((unsigned char)mark[size - 1]))
			size--;
		size -= size && mark[size - 1] == ' ';
	}
	put(form, mark, size);
}

const char *function_name_common(const char *name, unsigned less, char text[FUNCTION_NAME_SIZE])
{
	const size_t size = strnlen(name, FUNCTION_NAME_SIZE / 2);
	struct form form = {.name = name, .at = name, .text = text, .less = less};
	size_t clones = without_copies(name, size), region = without_region(name, clones);

	if (size == FUNCTION_NAME_SIZE / 2)
		return name;
	form.end = name + region;
	put_words(&form);
	cut_signature(text, less);
	shorten_strings(text);
	form.used = strlen(text);
	put_region(&form, name + region, clones - region);
	if (!(less & FUNCTION_NO_NUMBERS))
		put_text(&form, name + clones);
	text[form.used] = '\0';
	return text;
}

bool function_name_has_arguments(const char *name)
{
	size_t whole = function_name_whole(name);
	struct arguments arguments;

	return find_arguments(name, whole ? whole : strlen(name), &arguments);
}

/* A part has the name that linkers know, with what the function takes; an inlined one may not. */
static bool is_part_of(const char *name, size_t whole, const char *function)
{
	char part[FUNCTION_NAME_SIZE], forms[2][FUNCTION_NAME_SIZE] = {""};

	if (!whole || whole >= sizeof(part) || function_name_has_arguments(function))
		return false;
	memcpy(part, name, whole);
	part[whole] = '\0';
	return !strcmp(function_name_common(part, FUNCTION_NO_ARGUMENTS, forms[0]),
	               function_name_common(function, FUNCTION_NO_ARGUMENTS, forms[1]));
}

bool function_name_is_in(const char *name, const char *function)
{
	size_t size = strlen(function), whole;

	if (!strcmp(name, function))
		return true;
	whole = function_name_whole(name);
	if (whole == size && !strncmp(name, function, size))
		return whole;
	return is_part_of(name, whole, function);
}
