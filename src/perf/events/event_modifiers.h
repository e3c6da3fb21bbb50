/* Parses the modifiers behind an event's name: ":u", ":ukpp", ":period=1000". */
#ifndef PERF_EVENTS_EVENT_MODIFIERS_H
#define PERF_EVENTS_EVENT_MODIFIERS_H

#include "perf/events/event.h"

#define MODIFIERS_KNOWN "u, k, h, p, period=N and freq=N"

struct event_modifiers {
	bool user, kernel, hypervisor; /* none of them: the name does not say */
	uint8_t precise;
	uint64_t period, freq;
};

/*
 * Takes the modifiers out of the parts behind a name and keeps the order of the others, which are
 * unit masks of the event: ":u:ANY:p" becomes ":ANY", and ":u:p" becomes "". `parts` is empty or
 * starts with a colon. Returns 0, or -EINVAL with one line in why.
 */
int modifiers_take(struct event_modifiers *modifiers, char *parts, char why[WHY_SIZE]);

/*
 * Applies modifiers to an event that is otherwise complete. Returns 0, or -EINVAL with one line in
 * why.
 */
int modifiers_apply(const struct event_modifiers *modifiers, struct event *event,
                    char why[WHY_SIZE]);

#endif
