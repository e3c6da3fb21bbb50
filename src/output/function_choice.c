#include "output/function_choice.h"

#include "output/map64.h"
#include "output/name_parts.h"
#include "output/profile.h"
#include "symbolize/array.h"
#include "symbolize/frame.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How well a name fits. */
enum rank { NOT_AT_ALL, AS_PART, AS_WORDS, AS_LAST_WORDS, IN_FULL };

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

static enum rank rank_of(const char *name, const char *wanted)
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

static void forget(struct function_choice *choice)
{
	for (size_t i = 0; i < choice->nr; i++)
		free(choice->names[i]);
	choice->nr = 0;
}

static int add_name(struct function_choice *choice, const char *name, const char *wanted)
{
	enum rank rank = rank_of(name, wanted);
	char **grown;

	if (rank == NOT_AT_ALL || rank < choice->rank)
		return 0;
	if (rank > choice->rank)
		forget(choice);
	choice->rank = rank;
	grown = array_grow(choice->names, choice->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	choice->names = grown;
	choice->names[choice->nr] = strdup(name);
	return choice->names[choice->nr++] ? 0 : -ENOMEM;
}

/* Whether a string of the trace comes for the first time: many functions may have one name. */
static bool is_new(struct map64 *known, uint32_t string)
{
	uint32_t before = known->nr;

	return !string || map64_number(known, string) == before;
}

static int add_symbols(struct function_choice *choice, const struct trace *trace,
                       const char *wanted)
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
                       const char *wanted)
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

/* What samples have an address of alone, or not even that: "[anon]+0x7f12", "[truncated]". */
static int add_nameless(struct function_choice *choice, const struct trace *trace,
                        const char *wanted)
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
                         const char *wanted, bool inlined)
{
	int err;

	*choice = (struct function_choice){0};
	err = add_symbols(choice, trace, wanted);
	if (!err && inlined)
		err = add_inlined(choice, trace, wanted);
	if (!err && !choice->nr)
		err = add_nameless(choice, trace, wanted);
	if (!err)
		remove_doubles(choice);
	return err;
}

void function_choice_fini(struct function_choice *choice)
{
	for (size_t i = 0; i < choice->nr; i++)
		free(choice->names[i]);
	free(choice->names);
	*choice = (struct function_choice){0};
}
