#include "cli/record/probe_place.h"

#include "base/suggest.h"
#include "symbolize/elf/find_function.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void offer(void *suggest, const char *name)
{
	suggest_offer(suggest, name);
}

int probe_place(struct event *event, char why[WHY_SIZE])
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
