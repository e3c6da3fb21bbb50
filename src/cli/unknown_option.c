#include "cli/unknown_option.h"

#include "cli/say.h"
#include "perf/event_suggest.h"

#include <argp.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAMES 128 /* of options, those of other profilers included; more than there are */

/* Of getopt_long(), beside letters. */
enum { NAME = 256, HELP };

struct options {
	char letters[3 * MAX_NAMES + 8];
	struct option names[MAX_NAMES + 1];
	size_t nr_letters;
	unsigned nr_names;
};

static const struct argp_option helps[] = {
	{"help", '?', NULL, 0, "", 0}, {"usage", HELP, NULL, 0, "", 0}, {0}};

static bool is_end(const struct argp_option *option)
{
	return !option->key && !option->name && !option->doc;
}

static void add_letter(struct options *options, int key, int has_argument)
{
	if (key <= ' ' || key > '~')
		return;
	options->letters[options->nr_letters++] = (char)key;
	while (has_argument--)
		options->letters[options->nr_letters++] = ':';
}

static void add(struct options *options, const struct argp_option *from)
{
	for (; !is_end(from) && options->nr_names < MAX_NAMES; from++) {
		int has_argument = !from->arg ? 0 : from->flags & OPTION_ARG_OPTIONAL ? 2 : 1;

		add_letter(options, from->key, has_argument);
		if (from->name)
			options->names[options->nr_names++] =
				(struct option){from->name, has_argument, NULL,
			                        from >= helps && from < helps + 2 ? HELP : NAME};
	}
}

static bool begins_a_name(const struct options *options, const char *word)
{
	for (unsigned i = 0; i < options->nr_names; i++)
		if (!strncmp(options->names[i].name, word, strlen(word)))
			return true;
	return false;
}

/* With the hyphens before them. */
static void suggest_names(struct suggest *suggest, const struct argp *argp)
{
	for (const struct argp_option *o = argp->options; o && !is_end(o); o++)
		if (o->name)
			suggest_offer(suggest, o->name);
	for (unsigned i = 0; i < suggest->nr; i++) {
		char *name = suggest->best[i].name;

		memmove(name + 2, name, SUGGEST_NAME_MAX - 2);
		memcpy(name, "--", 2);
		name[SUGGEST_NAME_MAX - 1] = 0;
	}
}

static void say_unknown(const struct argp *argp, const char *command, const char *option)
{
	char otherwise[64], ending[4 * SUGGEST_NAME_MAX];
	struct suggest suggest;

	suggest_init(&suggest, option + 2);
	if (option[1] == '-')
		suggest_names(&suggest, argp);
	snprintf(otherwise, sizeof(otherwise), "; 'adaptrace help %s' lists them", command);
	suggest_print(&suggest, otherwise, ending, sizeof(ending));
	say("no option %s here%s", option, ending);
}

/* What getopt_long() stopped at; false: it is known, but wrong in another way. */
static bool is_unknown(const struct options *options, const char *word, char option[64])
{
	if (strncmp(word, "--", 2) != 0) {
		snprintf(option, 64, "-%c", optopt);
		return optopt != 0;
	}
	snprintf(option, 64, "%.*s", (int)strcspn(word, "="), word);
	return optopt == 0 && !begins_a_name(options, option + 2);
}

bool unknown_option(const struct argp *argp, const struct argp_option *more, int argc, char **argv,
                    bool in_order)
{
	struct options options = {.letters = "+:", .nr_letters = in_order ? 2 : 1};
	char option[64], **words = malloc(((size_t)argc + 1) * sizeof(*words));
	bool unknown = false;
	int found = 0;

	if (!words)
		return false;
	if (!in_order)
		options.letters[0] = ':';
	add(&options, helps);
	add(&options, argp->options);
	add(&options, more);
	memcpy(words, argv, ((size_t)argc + 1) * sizeof(*words)); /* they will be sorted */
	opterr = optind = 0;
	while (found != -1 && found != HELP && found != 'h' && found != '?' && found != ':') {
		optopt = 0;
		found = getopt_long(argc, words, options.letters, options.names, NULL);
	}
	if (found == '?')
		unknown = is_unknown(&options, words[optind - 1], option);
	if (unknown)
		say_unknown(argp, argv[0], option);
	free(words);
	return unknown;
}
