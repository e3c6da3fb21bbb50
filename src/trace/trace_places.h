/* The bins of a trace that hold records of one use, list after list, for walks over them. */
#ifndef TRACE_TRACE_PLACES_H
#define TRACE_TRACE_PLACES_H

#include "trace/trace_file.h"

/* The position of a bin: lists come one after the other, and bins of a list are in order. */
struct bin_place {
	uint32_t list; /* kind << 8 | level */
	uint32_t sequence;
	const struct bin *bin;
};

struct places {
	struct bin_place *places;
	size_t nr;
};

/*
 * kind may be TRACE_ALL_EVENTS. Returns 0 or -ENOMEM. places_fini() must be called in either case.
 */
int places_find(struct places *places, const struct trace *trace, enum bin_use use, uint32_t kind);
void places_fini(struct places *places);

/* Returns the number of lists. */
uint32_t places_lists(const struct places *places);

/* Returns the end of the list that begins at a place. */
const struct bin_place *places_list_end(const struct places *places, const struct bin_place *first);

#endif
