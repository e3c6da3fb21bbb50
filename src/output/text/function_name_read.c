#include "output/text/function_name.h"

#include "output/text/name_parts.h"
#include "symbolize/elf/language_names.h"
#include "symbolize/elf/readable.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A name on its way: what is before and behind it goes, and suffixes come together. */
struct typed {
	const char *at;
	size_t size;
	char suffixes[256];
};

static bool starts_with(const struct typed *typed, const char *text)
{
	return typed->size > strlen(text) && !strncmp(typed->at, text, strlen(text));
}

/* 'f', <f>, <f>:, "[.] f" */
static void take_off_frame(struct typed *typed)
{
	while (typed->size && isspace((unsigned char)typed->at[typed->size - 1]))
		typed->size--;
	while (typed->size && isspace((unsigned char)*typed->at)) {
		typed->at++;
		typed->size--;
	}
	if (starts_with(typed, "[.] ") || starts_with(typed, "[k] ")) {
		typed->at += 4;
		typed->size -= 4;
	}
	if (typed->size > 3 && *typed->at == '<' && name_ends_with(typed->at, typed->size, ">:"))
		typed->size--;
	if (typed->size > 2 &&
	    ((*typed->at == '\'' && name_ends_with(typed->at, typed->size, "'")) ||
	     (*typed->at == '<' &&
	      name_behind_bracket(typed->at, '<', '>') == typed->at + typed->size))) {
		typed->at++;
		typed->size -= 2;
	}
}

static size_t number_size(const char *at)
{
	if (!strncmp(at, "0x", 2))
		return 2 + strspn(at + 2, "0123456789abcdefABCDEF");
	return strspn(at, "0123456789");
}

/* f+0x12, f+0x12/0x40, f + 18: where in the function. */
static void take_off_place(struct typed *typed)
{
	size_t plus = typed->size, end;

	while (plus && typed->at[plus - 1] != '+')
		plus--;
	if (plus < 2)
		return;
	end = plus + (typed->at[plus] == ' ');
	if (!number_size(typed->at + end))
		return;
	end += number_size(typed->at + end);
	if (typed->at[end] == '/')
		end += 1 + number_size(typed->at + end + 1);
	if (end < typed->size)
		return;
	typed->size = plus - 1;
	typed->size -= typed->at[typed->size - 1] == ' ';
}

/* memcpy@@GLIBC_2.14; but not memcpy@plt, which is other code. */
static void take_off_version(struct typed *typed)
{
	const char *at = memchr(typed->at, '@', typed->size);

	if (at && at > typed->at && !memchr(typed->at, ' ', typed->size) &&
	    strncmp(at, "@plt", strlen("@plt")) != 0)
		typed->size = (size_t)(at - typed->at);
}

/* " [clone .cold]" and " (.cold)", as the demanglers of GNU and LLVM write suffixes. */
static bool take_off_suffix(struct typed *typed)
{
	static const char *const before[] = {" [clone ", " ("}, *const behind[] = {"]", ")"};
	char more[sizeof(typed->suffixes)];

	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		size_t size = strlen(before[i]), at = typed->size - size;

		if (typed->size < size || !name_ends_with(typed->at, typed->size, behind[i]))
			continue;
		while (at && strncmp(typed->at + at, before[i], size) != 0)
			at--;
		if (!at || typed->at[at + size] != '.')
			continue;
		if (snprintf(more, sizeof(more), "%.*s%s", (int)(typed->size - 1 - at - size),
		             typed->at + at + size, typed->suffixes) >= (int)sizeof(more))
			return false;
		memcpy(typed->suffixes, more, sizeof(more));
		typed->size = at;
		return true;
	}
	return false;
}

/* The end of older names in Rust: "::h0123456789abcdef". */
static void take_off_hash(struct typed *typed)
{
	enum { HASH = 16 };
	const char *at = typed->at + typed->size - HASH;

	if (typed->size > HASH + 3 && !strncmp(at - 3, "::h", 3) &&
	    strspn(at, "0123456789abcdef") >= HASH)
		typed->size -= HASH + 3;
}

void function_name_read(const char *name, char text[FUNCTION_NAME_SIZE])
{
	struct typed typed = {.at = name, .size = strnlen(name, FUNCTION_NAME_SIZE / 2)};
	char base[FUNCTION_NAME_SIZE];
	unsigned languages;

	take_off_frame(&typed);
	take_off_place(&typed);
	while (take_off_suffix(&typed))
		continue;
	take_off_version(&typed);
	take_off_hash(&typed);
	snprintf(base, sizeof(base), "%.*s%s", (int)typed.size, typed.at, typed.suffixes);
	if (name_ends_with(base, strlen(base), "(void)"))
		base[strlen(base) - strlen("(void)")] = '\0';
	languages = LANGUAGE_OCAML | LANGUAGE_HASKELL;
	if (!strcmp(base, name) && !strchr(name, '.'))
		languages |= LANGUAGE_ADA; /* or C: the name is sought as it was typed, too */
	name_readable_in(base, languages, text);
}
