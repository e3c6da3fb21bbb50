#include "cli/wrong_option.h"

#include "cli/say.h"
#include "base/suggest.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MORE "; see 'adaptrace help %s'"

/* The option that matches a name or the beginning of one; several may match. */
struct search {
	const struct argp_option *found;
	bool exact, several;
};

static bool is_end(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc;
}

static void search_name(struct search *search, const struct argp_option *o, const char *name,
                        size_t size)
{
	for (; !is_end(o); o++) {
		if (search->exact || !o->name || strncmp(o->name, name, size) != 0)
			continue;
		search->several = search->found;
		search->exact = !o->name[size];
		search->found = o;
	}
}

static const struct argp_option *find_letter(const struct argp_option *o, char letter)
{
	for (; !is_end(o); o++)
		if (o->key == letter)
			return o;
	return NULL;
}

static const struct argp_option *inner_options(const struct argp_state *state)
{
	static const struct argp_option none[] = {{0}};
	const struct argp_child *children = state->root_argp->children;

	return children && children->argp ? children->argp->options : none;
}

/* Offers the names of options, which are suggested with their hyphens. */
static void suggest_names(struct suggest *suggest, const struct argp_option *o)
{
	for (; !is_end(o); o++)
		if (o->name)
			suggest_offer(suggest, o->name);
	for (unsigned i = 0; i < suggest->nr; i++) {
		char *name = suggest->best[i].name;

		memmove(name + 2, name, SUGGEST_NAME_MAX - 2);
		memcpy(name, "--", 2);
		name[SUGGEST_NAME_MAX - 1] = 0;
	}
}

/* Reports an unknown option. Options of other profilers are never suggested. */
static _Noreturn void tell_unknown(const struct argp_state *state, const char *option,
                                   const char *command)
{
	char otherwise[64], ending[4 * SUGGEST_NAME_MAX];
	struct suggest suggest;

	suggest_init(&suggest, option + 2);
	if (option[1] == '-')
		suggest_names(&suggest, state->root_argp->options);
	snprintf(otherwise, sizeof(otherwise), "; 'adaptrace help %s' lists them", command);
	suggest_print(&suggest, otherwise, ending, sizeof(ending));
	say_usage("no option %s here%s", option, ending);
}

static bool needs_value(const struct argp_option *o)
{
	return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

/* "--name" or "--name=value"; a value that is missing could only be behind the last word. */
static void tell_name(const struct argp_state *state, const char *word, const char *command)
{
	struct search search = {0};
	char option[64];
	int size = (int)strcspn(word, "=");

	search_name(&search, state->root_argp->options, word + 2, (size_t)size - 2);
	search_name(&search, inner_options(state), word + 2, (size_t)size - 2);
	if (!search.found) {
		snprintf(option, sizeof(option), "%.*s", size, word);
		tell_unknown(state, option, command);
	}
	if (search.several && !search.exact)
		say_usage("%.*s is short for several options" MORE, size, word, command);
	if (word[size] && !search.found->arg)
		say_usage("option %.*s takes no value" MORE, size, word, command);
	if (!word[size] && state->next == state->argc && needs_value(search.found))
		say_usage("option %s needs a value" MORE, word, command);
}

/* "-a", "-abc" or "-ovalue" */
static void tell_letters(const struct argp_state *state, const char *word, const char *command)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const struct argp_option *o = find_letter(state->root_argp->options, *letter);

		if (!o)
			o = find_letter(inner_options(state), *letter);
		if (!o)
			tell_unknown(state, (char[]){'-', *letter, 0}, command);
		if (needs_value(o) && !letter[1] && state->next == state->argc)
			say_usage("option -%c needs a value" MORE, *letter, command);
		if (o->arg)
			return;
	}
}

static void tell_word(const struct argp_state *state, int at, const char *command)
{
	const char *word = at > 0 && at < state->argc ? state->argv[at] : "";

	if (word[0] != '-' || !word[1])
		return;
	if (word[1] != '-')
		tell_letters(state, word, command);
	else if (word[2])
		tell_name(state, word, command);
}

/* While letters follow the wrong one, its word is still the next. */
void wrong_option_tell(const struct argp_state *state, const char *command)
{
	tell_word(state, state->next - 1, command);
	tell_word(state, state->next, command);
}
