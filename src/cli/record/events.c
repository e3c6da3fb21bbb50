#include "cli/record/events.h"

#include "cli/say.h"
#include "base/suggest.h"
#include "symbolize/elf/find_function.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>

static void offer(void *suggest, const char *name)
{
	suggest_offer(suggest, name);
}

/* Completes a probe in a file; others are complete. Returns 0, or -errno with one line in why. */
static int probe_place(struct event *event, char why[WHY_SIZE])
{
	struct suggest suggest;
	char ending[WHY_SIZE / 2];
	uint64_t offset;
	int err;

	if (!event->function[0])
		return 0;
	suggest_init(&suggest, event->function);
	err = function_find(event->probe, event->function, &offset, offer, &suggest);
	if (!err) {
		event_resolve(event, offset);
		return 0;
	}
	suggest_print(&suggest, "; nm shows what there is", ending, sizeof(ending));
	snprintf(why, WHY_SIZE, "event '%.*s': %s%s", EVENT_NAME_MAX, event->name,
	         err == -ENOENT && !access(event->probe, F_OK) ? "no such function in the file"
	                                                       : strerror(-err),
	         err == -ENOENT && !access(event->probe, F_OK) ? ending : "");
	return err;
}

static int too_many(const char *name, const char *most)
{
	say("too many at '%s'; at most %s", name, most);
	return -E2BIG;
}

/* Puts an event, or a counter, where there is room for it. */
static int add_event(struct event *events, unsigned *nr, const char *name)
{
	char why[WHY_SIZE];

	if (event_parse(&events[*nr], name, why) || probe_place(&events[*nr], why)) {
		say("%s", why);
		return -EINVAL;
	}
	++*nr;
	return 0;
}

static int add_sampled(struct record_config *config, const char *name)
{
	if (config->nr_events == SAMPLER_MAX_EVENTS)
		return too_many(name, "16 events can be sampled at once");
	return add_event(config->events, &config->nr_events, name);
}

static int add_spare(struct record_config *config, const char *name)
{
	if (config->nr_spares == SAMPLER_MAX_EVENTS)
		return too_many(name, "16 events can be opened at once");
	return add_event(config->spares, &config->nr_spares, name);
}

static int add_counter(struct record_config *config, const char *name)
{
	if (config->nr_counters == COUNTERS_MAX)
		return too_many(name, "8 counters can be read with a sample");
	return add_event(config->counters, &config->nr_counters, name);
}

static int add_parts(struct record_config *config, const char *name,
                     int (*add)(struct record_config *config, const char *name))
{
	char parts[EVENT_PARTS_MAX][EVENT_NAME_MAX], why[WHY_SIZE];
	unsigned nr;
	int err = 0;

	if (event_expand(name, parts, &nr, why)) {
		say("%s", why);
		return -EINVAL;
	}
	for (unsigned i = 0; !err && i < nr; i++)
		err = add(config, parts[i]);
	return err;
}

static int add_list(struct record_config *config, const char *list,
                    int (*add)(struct record_config *config, const char *name))
{
	char name[EVENT_NAME_MAX];
	int err = 0;

	if (*list == '{') {
		say("'%s' is a group; -e EVENT --counters EVENT,... reads others with every sample "
		    "of the first",
		    list);
		return -EINVAL;
	}
	do {
		const char *end = event_name_end(list);

		if ((size_t)(end - list) >= sizeof(name)) {
			say("no such event: '%s'; adaptrace list shows those here", list);
			return -EINVAL;
		}
		memcpy(name, list, (size_t)(end - list));
		name[end - list] = '\0';
		err = add_parts(config, name, add);
		list = *end ? end + 1 : end;
	} while (*list && !err);
	return err;
}

int record_add_events(struct record_config *config, const char *list)
{
	return add_list(config, list, add_sampled);
}

int record_add_counters(struct record_config *config, const char *list)
{
	return add_list(config, list, add_counter);
}

int record_add_spares(struct record_config *config, const char *list)
{
	return add_list(config, list, add_spare);
}
