#include "cli/record/counters.h"

#include "cli/say.h"

#include <errno.h>
#include <string.h>

/* Columns and formats know counters by their names. */
static int find_repeated(const struct record_config *config)
{
	for (unsigned i = 0; i < config->nr_counters; i++) {
		const char *name = config->counters[i].name;

		for (unsigned e = 0; e < config->nr_events; e++) {
			if (strcmp(name, config->events[e].name) != 0)
				continue;
			say("cannot count '%s'; it is sampled already", name);
			return -EEXIST;
		}
		for (unsigned j = 0; j < i; j++) {
			if (strcmp(name, config->counters[j].name) != 0)
				continue;
			say("cannot count '%s'; it is there twice", name);
			return -EEXIST;
		}
	}
	return 0;
}

static void settle_sides(struct record_config *config, struct event *counter)
{
	int err = event_probe(counter);

	if ((err != -EACCES && err != -EPERM) || !event_exclude_kernel(counter) ||
	    event_probe(counter))
		return;
	if (!config->user_only)
		say("not permitted to sample the kernel: counting in user code only (%s)",
		    counter->name);
	config->user_only = true;
}

int record_settle_counters(struct record_config *config)
{
	char why[WHY_SIZE];
	int err;

	if (!config->nr_counters)
		return 0;
	for (unsigned i = 0; i < config->nr_counters; i++)
		settle_sides(config, &config->counters[i]);
	err = find_repeated(config);
	if (err)
		return err;
	err = counters_probe(&config->events[0], config->counters, config->nr_counters, why);
	if (err)
		say("%s", why);
	return err;
}
