/*
 * Conditions on a recording, and what to do when one comes true:
 *
 *     METRIC OP VALUE [for DURATION] {and METRIC OP VALUE [for DURATION]}: ACTION {, ACTION}
 *
 *     share(spin_lock*) > 20% for 2s: snapshot
 *     time(step) > 1.5*median: detail=5, mark=slow
 *
 * A pure parser of such a text; trigger.h says when a condition comes true.
 */
#ifndef CLI_WATCH_CONDITION_H
#define CLI_WATCH_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONDITION_MAX_TERMS   8
#define CONDITION_MAX_ACTIONS 8
#define CONDITION_MAX_TEXT    256 /* bytes, as the recorder takes */

enum metric_type {
	METRIC_RATE,  /* name: an event; occurrences a second, or ns of a clock */
	METRIC_SHARE, /* name: a pattern; share of the samples in functions that match, 0 to 1 */
	METRIC_RATIO, /* name, other: events; occurrences of the first for one of the second */
	METRIC_MPI,   /* share of the ranks' time that they spent in MPI */
	METRIC_TIME,  /* name: a region; seconds that each of its visits took */
	METRIC_VALUE, /* name: of ADAPTRACE_VALUE(); each number that the program gave */
	METRIC_RSS,   /* bytes */
	METRIC_CPU,   /* CPUs in use */
	NR_METRICS
};

enum bound_type {
	BOUND_NUMBER,
	BOUND_MEDIAN, /* so many times the median of the metric so far */
	BOUND_LIMIT,  /* so much of what the program may use */
};

struct condition_term {
	enum metric_type metric;
	const char *name, *other; /* NULL: the metric has none */
	bool below;               /* the operator is <, else > */
	enum bound_type bound_type;
	double bound;    /* a share where a percentage was given */
	uint64_t for_ns; /* how long it must hold */
};

enum condition_action_type {
	ACTION_SNAPSHOT,
	ACTION_DETAIL, /* seconds, hz */
	ACTION_PAUSE,  /* seconds */
	ACTION_STOP,
	ACTION_MARK, /* text; NULL: the condition's */
	ACTION_RUN,  /* text: for the shell */
};

struct condition_action {
	enum condition_action_type type;
	double seconds, hz; /* 0: not given */
	const char *text;
};

struct condition {
	char *text;    /* as it was given */
	char *strings; /* of terms and actions */
	struct condition_term terms[CONDITION_MAX_TERMS];
	struct condition_action actions[CONDITION_MAX_ACTIONS];
	unsigned nr_terms, nr_actions;
};

/*
 * Returns NULL, or what is wrong at *at, an offset into the text. condition_fini() must be called
 * in either case.
 */
const char *condition_parse(struct condition *condition, const char *text, size_t *at);
void condition_fini(struct condition *condition);

/* Whether the condition does this when it comes true. */
bool condition_has_action(const struct condition *condition, enum condition_action_type type);

#endif
