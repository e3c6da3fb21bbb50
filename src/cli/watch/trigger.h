/*
 * Decides when a condition comes true, from what its metrics are at each look. It comes true once
 * until it was false again; not more often than every TRIGGER_PAUSE_NS, and TRIGGER_MOST times.
 */
#ifndef CLI_WATCH_TRIGGER_H
#define CLI_WATCH_TRIGGER_H

#include "cli/watch/condition.h"

#define TRIGGER_PAUSE_NS ((uint64_t)60000000000)
#define TRIGGER_MOST     10
#define TRIGGER_LEAST_NR 20 /* values that a median is of */

enum reading_state {
	READING_UNKNOWN, /* neither above nor below anything */
	READING_SAME,    /* nothing new since the last look */
	READING_NEW,
};

/* A metric at one look. */
struct reading {
	enum reading_state state;
	double least, most; /* of the values since the last look; of most metrics there is one */
	double median;      /* of the values before these */
	uint64_t nr;        /* their number */
	double limit;       /* of what the program may use; 0: unknown */
};

struct trigger {
	const struct condition *condition;
	struct {
		bool holds;
		uint64_t since; /* ns */
		double value;   /* the last that was compared */
	} terms[CONDITION_MAX_TERMS];
	bool met;      /* it came true and was not false since */
	uint64_t last; /* ns, when it came true; 0: never */
	unsigned nr;   /* times that it did */
};

/* The condition must outlive the trigger. */
void trigger_init(struct trigger *trigger, const struct condition *condition);

/*
 * Takes a reading of each term at this time, in ns. Returns whether the condition comes true now.
 * may_fire: else it waits, and comes true later if it still holds then.
 */
bool trigger_step(struct trigger *trigger, uint64_t now, const struct reading *readings,
                  bool may_fire);

/* Returns the value of the first term at the last look. */
double trigger_value(const struct trigger *trigger);

#endif
