/* The part of a trace that a view is about, and how much of it is wanted. */
#ifndef OUTPUT_VIEWS_QUERY_H
#define OUTPUT_VIEWS_QUERY_H

#include "output/profile/profile_view.h"

#define VIEW_MAX_KEYS 16 /* more than there are */

struct view_query {
	uint32_t event; /* TRACE_ALL_EVENTS: every one has its own table */
	enum profile_keys keys[VIEW_MAX_KEYS];
	unsigned nr_keys;                  /* columns, in this order */
	bool by_total;                     /* rows go by total, not by self */
	bool per_thread;                   /* a table for every thread */
	bool tree;                         /* call paths from the roots down, instead of a table */
	const struct selection *selection; /* NULL: the whole run */
	uint64_t interval;                 /* ns that it covers, for JSON of a live view; 0: none */
	uint32_t limit;                    /* rows of a table; UINT32_MAX: all */
	bool all;                          /* small branches of trees, too */
	bool fold;                         /* leave out rows whose total is within its error */
	double least;       /* share below which rows and branches are left out; 0: the default */
	uint32_t max_depth; /* of trees; 0: to their leaves */
	uint32_t phase;     /* number of the loop that is folded, from 1; 0: the program's steps */
	const char
		*function; /* full name of the function whose callers, callees or code are shown */
	enum profile_direction direction;
	bool annotate;      /* the function's code */
	bool no_inline;     /* attribute inlined functions to the function that contains them */
	bool self_alone;    /* neither totals nor call paths are wanted */
	bool sampled_alone; /* nor what exact totals of commands say */
};

/* Whether the query asks for trees, callers or callees. */
static inline bool query_has_trees(const struct view_query *query)
{
	return query->tree || query->direction != PROFILE_ALL;
}

#endif
