/*
 * Events: what can be sampled, by the names people know, through libpfm4.
 */
#ifndef PERF_EVENT_H
#define PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_unit {
	EVENT_NS,    /* a clock: periods and weights are nanoseconds */
	EVENT_COUNT, /* occurrences */
};

#define EVENT_NAME_MAX 128

/* An event as asked for. attr holds type, config*, exclude_* and precise_ip; nothing else is set. */
struct event {
	char name[EVENT_NAME_MAX]; /* as written, modifiers included */
	enum event_unit unit;
	struct perf_event_attr attr;
	bool modifiers;	 /* the name itself says :u or :k */
	uint64_t period; /* 0: not given with the event */
};

#define WHY_SIZE 512

/*
 * Understands cpu-clock, task-clock, cycles, page-faults, everything that libpfm4 knows on this
 * machine, rNNNN raw codes, and tracepoints as subsystem:name; with the modifiers :u and :k.
 * 0, or -EINVAL, -ENOENT, -EACCES with one line for the user in why: what is wrong, then the way
 * out ("unknown event 'cycels'; did you mean 'cycles'?").
 */
int event_parse(struct event *event, const char *text, char why[WHY_SIZE]);

/* Whether this machine and user can open the event now: 0, or the kernel's -errno. */
int event_probe(const struct event *event);

/* One line for the user: why opening the event fails with this -errno here, and the way out. */
void event_explain(const struct event *event, int error, char why[WHY_SIZE]);

/* An event that list shows. */
struct event_info {
	const char *name;	 /* what -e takes */
	const char *description; /* one line, may be empty */
	const char *source;	 /* "software", "hardware", "tracepoint", or a PMU's name */
	bool available;		 /* can be opened now, by this user */
};

/*
 * Calls fn for every event whose name or description contains pattern, in any case (NULL: all).
 * Stops with fn's result where that is not 0. The strings live until fn returns.
 */
int event_list(const char *pattern, int (*fn)(void *arg, const struct event_info *info),
	       void *arg);

#endif
