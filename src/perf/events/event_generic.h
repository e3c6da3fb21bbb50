/*
 * The names that the kernel itself gives to events, as perf users know them.
 */
#ifndef PERF_EVENTS_EVENT_GENERIC_H
#define PERF_EVENTS_EVENT_GENERIC_H

struct event_generic {
	const char *name; /* as perf writes it; case does not matter to event_parse */
	const char *description;
};

/* Software first, then hardware, then caches; a row without a name ends it. */
extern const struct event_generic event_generics[];

#endif
