#include "output/views/function_choice.h"

#include "output/text/function_name.h"
#include "base/map64.h"
#include "output/text/name_parts.h"
#include "output/profile/profile.h"
#include "base/array.h"
#include "base/frame.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How well a name fits. */
enum rank {
	NOT_AT_ALL,
	AS_PART,
	AS_WORDS,
	AS_LAST_WORDS,
	WITHOUT_NUMBERS,   /* of lambdas and regions, which some tools do not print */
	WITHOUT_ARGUMENTS, /* which inlined functions may lack in traces, and people leave out */
	IN_ANOTHER_WRITING,
	IN_FULL,
};

/* A name as the user typed it, and its forms that are compared with names of the trace. */
struct wanted {
	const char *typed;
	bool any; /* whatever there is */
	bool has_arguments, has_numbers;
	char read[FUNCTION_NAME_SIZE];
	char forms[4][FUNCTION_NAME_SIZE]; /* by enum function_name_less */
	char text[FUNCTION_NAME_SIZE];     /* of a name that is compared */
};

static struct wanted *wanted_new(const char *typed)
{
	struct wanted *wanted = malloc(sizeof(*wanted));

	if (!wanted)
		return NULL;
	wanted->typed = typed;
	wanted->any = !strcmp(typed, NAME_DOTS);
	function_name_read(typed, wanted->read);
	wanted->has_arguments = function_name_has_arguments(wanted->read);
	for (unsigned less = 0; less < 4; less++)
		if (function_name_common(wanted->read, less, wanted->forms[less]) !=
		    wanted->forms[less])
			wanted->forms[less][0] = '\0';
	wanted->has_numbers = strcmp(wanted->forms[0], wanted->forms[FUNCTION_NO_NUMBERS]) != 0;
	return wanted;
}

static bool has_form(struct wanted *wanted, const char *name, unsigned less)
{
	return wanted->forms[less][0] &&
	       !strcmp(function_name_common(name, less, wanted->text), wanted->forms[less]);
}

/* Whether one of both alone says what the function takes. */
static bool lacks_arguments(const struct wanted *wanted, const char *name)
{
	return wanted->has_arguments != function_name_has_arguments(name);
}

static enum rank rank_in_common(struct wanted *wanted, const char *name)
{
	const bool lacks = lacks_arguments(wanted, name);

	if (has_form(wanted, name, 0))
		return IN_ANOTHER_WRITING;
	if (lacks && has_form(wanted, name, FUNCTION_NO_ARGUMENTS))
		return WITHOUT_ARGUMENTS;
	if (wanted->has_numbers)
		return NOT_AT_ALL;
	if (has_form(wanted, name, FUNCTION_NO_NUMBERS) ||
	    (lacks && has_form(wanted, name, FUNCTION_NO_ARGUMENTS | FUNCTION_NO_NUMBERS)))
		return WITHOUT_NUMBERS;
	return NOT_AT_ALL;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Where it ends in the name that has it here; dots stand for anything. NULL: the name has not. */
static const char *end_of(const char *at, const char *wanted)
{
	const char *dots = strstr(wanted, NAME_DOTS);
	size_t size = dots ? (size_t)(dots - wanted) : strlen(wanted);

	if (strncmp(at, wanted, size) != 0)
		return NULL;
	while (at && dots) {
		at += size;
		wanted = dots + strlen(NAME_DOTS);
		dots = strstr(wanted, NAME_DOTS);
		size = dots ? (size_t)(dots - wanted) : strlen(wanted);
		at = memmem(at, strlen(at), wanted, size);
	}
	return at ? at + size : NULL;
}

/* With dots it is the whole name where the name begins and ends like it. */
static bool is_whole(const char *name, const char *wanted)
{
	const char *last = wanted, *dots;
	size_t size = strlen(name);

	while ((dots = strstr(last, NAME_DOTS)))
		last = dots + strlen(NAME_DOTS);
	if (last == wanted)
		return !strcmp(name, wanted);
	return end_of(name, wanted) && !strcmp(name + size - strlen(last), last);
}

static enum rank rank_as_typed(const char *name, const char *wanted)
{
	size_t size = strlen(wanted);
	enum rank rank = NOT_AT_ALL;
	int depth = 0;

	if (is_whole(name, wanted))
		return IN_FULL;
	for (const char *at = name; *at; depth = name_depth_behind(depth, *at++)) {
		const char *end = end_of(at, wanted);

		if (!end)
			continue;
		if ((at != name && in_word(at[-1]) && in_word(*wanted)) ||
		    (in_word(*end) && (!size || in_word(wanted[size - 1]))))
			rank = rank > AS_PART ? rank : AS_PART;
		else if (!depth && !name_next_part(end, end))
			return AS_LAST_WORDS; /* and not before a closure in it */
		else
			rank = AS_WORDS;
	}
	return rank;
}

static enum rank rank_of(struct wanted *wanted, const char *name)
{
	enum rank rank = rank_as_typed(name, wanted->typed), other;

	if (rank == IN_FULL)
		return rank;
	/* A place in a function that has no name is no place in a named one. */
	other = strstr(name, "+0x") ? NOT_AT_ALL : rank_as_typed(name, wanted->read);
	rank = other > rank ? other : rank;
	other = rank_in_common(wanted, name);
	return other > rank ? other : rank;
}

static void forget(struct function_choice *choice)
{
	for (size_t i = 0; i < choice->nr; i++)
		free(choice->names[i]);
	choice->nr = 0;
}

static int add_ranked(struct function_choice *choice, char *name, enum rank rank)
{
	if (rank == NOT_AT_ALL || rank < choice->rank) {
		free(name);
		return 0;
	}
	if (rank > choice->rank)
		forget(choice);
	choice->rank = rank;
	if (!ARRAY_ADD(choice->names, choice->nr, name))
		return 0;
	free(name);
	return -ENOMEM;
}

/* A part that a compiler made of a function stands for the function, unless it is meant itself. */
static int add_name(struct function_choice *choice, const char *name, struct wanted *wanted)
{
	size_t whole = function_name_whole(name);
	char *text = whole ? strndup(name, whole) : strdup(name);
	enum rank rank;

	if (!text)
		return -ENOMEM;
	rank = wanted->any ? IN_FULL : rank_of(wanted, text);
	if (whole && rank == NOT_AT_ALL) {
		free(text);
		text = strdup(name);
		if (!text)
			return -ENOMEM;
		rank = rank_of(wanted, name);
	}
	return add_ranked(choice, text, rank);
}

/* Whether a string of the trace comes for the first time: many functions may have one name. */
static bool is_new(struct map64 *known, uint32_t string)
{
	uint32_t before = known->nr;

	return !string || map64_number(known, string) == before;
}

static int add_symbols(struct function_choice *choice, const struct trace *trace,
                       struct wanted *wanted)
{
	struct map64 known = {0};
	const struct trace_symbol *symbol;
	char *text = malloc(FRAME_TEXT_SIZE);
	int err = text ? 0 : -ENOMEM;

	for (uint32_t i = 0; (symbol = trace_symbol(trace, i)) && !err; i++)
		if (is_new(&known, symbol->name))
			err = add_name(
				choice,
				frame_symbol(trace,
			                     frame_make((uint16_t)symbol->module, symbol->lo),
			                     text),
				wanted);
	map64_fini(&known);
	free(text);
	return err;
}

static int add_inlined(struct function_choice *choice, const struct trace *trace,
                       struct wanted *wanted)
{
	const struct trace_source *source;
	struct map64 known = {0};
	int err = 0;

	for (uint32_t i = 0; (source = trace_source(trace, i)) && !err; i++)
		if (source->function && is_new(&known, source->function))
			err = add_name(choice, trace_string(trace, source->function), wanted);
	map64_fini(&known);
	return err;
}

/*
 * Adds names of frames without a symbol, such as "[anon]+0x7f12" or "[truncated]". Only a profile
 * has them.
 */
static int add_nameless(struct function_choice *choice, const struct trace *trace,
                        struct wanted *wanted)
{
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL};
	char *text = malloc(FRAME_TEXT_SIZE);
	int err = text ? 0 : -ENOMEM;

	for (; trace_event(trace, config.event) && !err; config.event++) {
		struct profile *profile = profile_new(trace, &config);

		if (!profile)
			err = -errno;
		for (uint32_t i = 0; profile && !err && i < profile->names.nr; i++)
			err = add_name(choice, frame_name_symbol(&profile->names, i, text), wanted);
		profile_free(profile);
	}
	free(text);
	return err;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void remove_doubles(struct function_choice *choice)
{
	size_t nr = 0;

	ARRAY_SORT(choice->names, choice->nr, compare_names);
	for (size_t i = 0; i < choice->nr; i++) {
		if (nr && !strcmp(choice->names[nr - 1], choice->names[i]))
			free(choice->names[i]);
		else
			choice->names[nr++] = choice->names[i];
	}
	choice->nr = nr;
}

int function_choice_init(struct function_choice *choice, const struct trace *trace,
                         const char *typed, bool inlined)
{
	struct wanted *wanted = wanted_new(typed);
	int err = wanted ? 0 : -ENOMEM;

	*choice = (struct function_choice){0};
	if (!err)
		err = add_symbols(choice, trace, wanted);
	if (!err && inlined)
		err = add_inlined(choice, trace, wanted);
	if (!err && (!choice->nr || (choice->rank < IN_FULL && strcmp(typed, wanted->read) != 0)))
		err = add_nameless(choice, trace, wanted);
	if (!err)
		remove_doubles(choice);
	free(wanted);
	return err;
}

void function_choice_fini(struct function_choice *choice)
{
	for (size_t i = 0; i < choice->nr; i++)
		free(choice->names[i]);
	free(choice->names);
	*choice = (struct function_choice){0};
}
