#include "cli/counter_options.h"

#include "cli/say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- parsing ---------------------------------------------------------------------------------- */

static int add_counter(struct options *options, const char *name)
{
	char why[WHY_SIZE];

	if (options->nr_counters == COUNTERS_MAX) {
		say("too many counters at '%s'; at most 8 can be read with a sample", name);
		return -E2BIG;
	}
	if (event_parse(&options->counters[options->nr_counters], name, why)) {
		say("%s", why);
		return -EINVAL;
	}
	options->nr_counters++;
	return 0;
}

/* An alias may stand for several. */
static int add_all(struct options *options, const char *name)
{
	char parts[EVENT_PARTS_MAX][EVENT_NAME_MAX], why[WHY_SIZE];
	unsigned nr;
	int error = 0;

	if (event_expand(name, parts, &nr, why)) {
		say("%s", why);
		return -EINVAL;
	}
	for (unsigned i = 0; i < nr && !error; i++)
		error = add_counter(options, parts[i]);
	return error;
}

/* The end of the first event in a list: commas between slashes are a PMU's. */
static const char *event_end(const char *list)
{
	bool inside = false;

	for (; *list && (inside || *list != ','); list++)
		inside ^= *list == '/';
	return list;
}

int counter_options_add(struct options *options, const char *list)
{
	char name[EVENT_NAME_MAX];
	int error = 0;

	for (const char *end; *list && !error; list = *end ? end + 1 : end) {
		end = event_end(list);
		if ((size_t)(end - list) >= sizeof(name)) {
			say("no such counter: '%s'; adaptrace list shows those here", list);
			return -EINVAL;
		}
		memcpy(name, list, (size_t)(end - list));
		name[end - list] = '\0';
		error = add_all(options, name);
	}
	return error;
}

/* --- settling --------------------------------------------------------------------------------- */

/* Columns and formats know counters by their names. */
static int find_repeated(const struct options *options)
{
	for (unsigned i = 0; i < options->nr_counters; i++) {
		const char *name = options->counters[i].name;

		for (unsigned e = 0; e < options->nr_events; e++) {
			if (strcmp(name, options->events[e].name) != 0)
				continue;
			say("cannot count '%s'; it is sampled already", name);
			return -EEXIST;
		}
		for (unsigned j = 0; j < i; j++) {
			if (strcmp(name, options->counters[j].name) != 0)
				continue;
			say("cannot count '%s'; it is there twice", name);
			return -EEXIST;
		}
	}
	return 0;
}

static void settle_sides(struct options *options, struct event *counter)
{
	int error = event_probe(counter);

	if ((error != -EACCES && error != -EPERM) || !event_exclude_kernel(counter) ||
	    event_probe(counter))
		return;
	if (!options->user_only)
		say("not permitted to sample the kernel: counting in user code only (%s)",
		    counter->name);
	options->user_only = true;
}

int counter_options_settle(struct options *options)
{
	char why[WHY_SIZE];
	int error;

	if (!options->nr_counters)
		return 0;
	for (unsigned i = 0; i < options->nr_counters; i++)
		settle_sides(options, &options->counters[i]);
	error = find_repeated(options);
	if (error)
		return error;
	error = counters_probe(&options->events[0], options->counters, options->nr_counters, why);
	if (error)
		say("%s", why);
	return error;
}
