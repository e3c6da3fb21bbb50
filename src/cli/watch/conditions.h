/* The conditions that somebody watches a recording for, and what is done when one comes true. */
#ifndef CLI_WATCH_CONDITIONS_H
#define CLI_WATCH_CONDITIONS_H

#include "cli/watch/condition.h"
#include "cli/watch/steering.h"
#include "cli/watch/trigger.h"
#include "record/config.h"

#define CONDITIONS_LOOK_NS ((uint64_t)100000000)

struct metrics;
struct watched;

/* All zero: none are given. */
struct conditions {
	struct condition list[CONFIG_MAX_CONDITIONS];
	struct trigger triggers[CONFIG_MAX_CONDITIONS];
	unsigned nr;
	struct metrics *metrics; /* NULL: not begun */
	struct steering *steering;
};

/* Adds one from the command line. What is wrong with it ends the program. */
void conditions_add(struct conditions *conditions, const char *text);
/* The same, but it adds none. */
void conditions_check(const char *text);
void conditions_fini(struct conditions *conditions);

/* Begins to watch a recording, through `steering`. 0 or -errno after reporting why not. */
int conditions_begin(struct conditions *conditions, struct steering *steering);

/*
 * Looks at a recording that has been updated, and acts. 0, or -errno, after reporting it if it is
 * -EINVAL: an event of a condition is not recorded.
 */
int conditions_look(struct conditions *conditions, struct watched *watched);

#endif
