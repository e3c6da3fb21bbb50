#include "output/views/diff_names.h"

#include "output/text/function_name.h"
#include "base/array.h"
#include "base/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A name of a function; strings are the traces'. */
struct known_name {
	const char *module, *name; /* module: "" where it makes no difference */
	const char *common;        /* what it is called on both sides; NULL: as it is */
	char *form;                /* of the level that is looked at */
	unsigned sides;            /* a bit for each */
};

#define BOTH_SIDES ((1u << DIFF_SIDES) - 1)

/* --- names ------------------------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b)
{
	const struct known_name *x = a, *y = b;

	return strcmp(x->module, y->module) ?: strcmp(x->name, y->name);
}

static int add_name(struct diff_names *names, const struct trace *trace, uint64_t frame,
                    uint32_t symbol, unsigned side)
{
	const struct known_name known = {
		.module = names->by_module ? frame_module_text(trace, frame) : "",
		.name = trace_string(trace, symbol),
		.sides = 1u << side,
	};

	return symbol ? ARRAY_ADD(names->known, names->nr, known) : 0;
}

/*
 * Adds all names of a run's profile, and those of the trace's other symbols: they show whether a
 * name belongs to several functions.
 */
static int add_run(struct diff_names *names, const struct profile *profile, unsigned side)
{
	const struct trace *trace = profile->trace;
	const struct trace_symbol *symbol;
	int err = 0;

	for (uint32_t i = 0; i < profile->names.nr && !err; i++) {
		const struct frame_name *name = &profile->names.names[i];

		err = add_name(names, trace, name->frame, name->symbol, side);
	}
	for (uint32_t i = 0; (symbol = trace_symbol(trace, i)) && !err; i++)
		err = add_name(names, trace, frame_make((uint16_t)symbol->module, symbol->lo),
		               symbol->name, side);
	return err;
}

static void unite_equal(struct diff_names *names)
{
	size_t nr = 0;

	ARRAY_SORT(names->known, names->nr, compare_names);
	for (size_t i = 0; i < names->nr; i++) {
		if (nr && !compare_names(&names->known[nr - 1], &names->known[i]))
			names->known[nr - 1].sides |= names->known[i].sides;
		else
			names->known[nr++] = names->known[i];
	}
	names->nr = nr;
}

/* --- what they have in common ----------------------------------------------------------------- */

static bool is_one_sided(const struct known_name *known)
{
	return known->sides != BOTH_SIDES && !known->common;
}

/* Whether each side has a name that the other one lacks. */
static bool may_match(const struct diff_names *names)
{
	unsigned sides = 0;

	for (size_t i = 0; i < names->nr; i++)
		if (is_one_sided(&names->known[i]))
			sides |= names->known[i].sides;
	return sides == BOTH_SIDES;
}

static int make_forms(struct diff_names *names, unsigned less)
{
	char *text = malloc(FUNCTION_NAME_SIZE);
	int err = text ? 0 : -ENOMEM;

	for (size_t i = 0; i < names->nr && !err; i++) {
		struct known_name *known = &names->known[i];

		free(known->form);
		known->form = strdup(function_name_common(known->name, less, text));
		err = known->form ? 0 : -ENOMEM;
	}
	free(text);
	return err;
}

static int compare_forms(const void *a, const void *b)
{
	const struct known_name *x = *(struct known_name *const *)a;
	const struct known_name *y = *(struct known_name *const *)b;

	return strcmp(x->module, y->module) ?: strcmp(x->form, y->form);
}

/* The names first[0] … first[nr - 1] have a form in common. */
static void match(struct known_name **first, size_t nr)
{
	struct known_name *x = first[0], *y = first[nr - 1];

	if (nr != 2 || !is_one_sided(x) || !is_one_sided(y) || x->sides == y->sides)
		return;
	x->common = y->common = strlen(x->name) > strlen(y->name) ? x->name : y->name;
}

static int match_level(struct diff_names *names, unsigned less)
{
	struct known_name **order = calloc(names->nr + 1, sizeof(*order));
	int err = order ? make_forms(names, less) : -ENOMEM;

	for (size_t i = 0; i < names->nr && !err; i++)
		order[i] = &names->known[i];
	if (!err)
		ARRAY_SORT(order, names->nr, compare_forms);
	for (size_t i = 0, next; i < names->nr && !err; i = next) {
		for (next = i + 1; next < names->nr; next++)
			if (compare_forms(&order[i], &order[next]))
				break;
		match(order + i, next - i);
	}
	free(order);
	return err;
}

int diff_names_init(struct diff_names *names, const struct diff_runs runs[DIFF_SIDES],
                    unsigned keys)
{
	static const unsigned levels[] = {0, FUNCTION_NO_ARGUMENTS, FUNCTION_NO_NUMBERS,
	                                  FUNCTION_NO_ARGUMENTS | FUNCTION_NO_NUMBERS};
	int err = 0;

	*names = (struct diff_names){.by_module = keys & PROFILE_BY_MODULE};
	if (!(keys & PROFILE_BY_SYMBOL))
		return 0;
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (unsigned run = 0; run < runs[side].nr && !err; run++)
			err = add_run(names, runs[side].profiles[run], side);
	unite_equal(names);
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels) && !err; i++)
		if (may_match(names))
			err = match_level(names, levels[i]);
	return err;
}

void diff_names_fini(struct diff_names *names)
{
	for (size_t i = 0; i < names->nr; i++)
		free(names->known[i].form);
	free(names->known);
	*names = (struct diff_names){0};
}

const char *diff_names_common(const struct diff_names *names, const char *module, const char *name)
{
	const struct known_name wanted = {.module = names->by_module ? module : "", .name = name};
	const struct known_name *found =
		names->nr ? bsearch(&wanted, names->known, names->nr, sizeof(wanted), compare_names)
			  : NULL;

	return found && found->common ? found->common : name;
}
