#include "cli/record_counters.h"

#include "cli/say.h"

#include <errno.h>
#include <string.h>

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
	int err = event_probe(counter);

	if ((err != -EACCES && err != -EPERM) || !event_exclude_kernel(counter) ||
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
	int err;

	if (!options->nr_counters)
		return 0;
	for (unsigned i = 0; i < options->nr_counters; i++)
		settle_sides(options, &options->counters[i]);
	err = find_repeated(options);
	if (err)
		return err;
	err = counters_probe(&options->events[0], options->counters, options->nr_counters, why);
	if (err)
		say("%s", why);
	return err;
}
