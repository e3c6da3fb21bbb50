/* The bins of a trace that hold records of one use, list after list; for walks over them. */
#ifndef TRACE_TRACE_PLACES_H
#define TRACE_TRACE_PLACES_H

#include "trace/trace_file.h"

/* Where a bin stands among all: lists come one after the other, each in order. */
struct bin_place {
	uint32_t list; /* kind << 8 | level */
	uint32_t sequence;
	const struct bin *bin;
};

struct places {
	struct bin_place *places;
	size_t nr;
};

/* kind: or TRACE_ALL_EVENTS. 0 or -ENOMEM; to be given to places_fini() in either case. */
int places_find(struct places *places, const struct trace *trace, enum bin_use use, uint32_t kind);
void places_fini(struct places *places);

/* How many lists there are. */
uint32_t places_lists(const struct places *places);

/* The end of the list that begins at a place. */
const struct bin_place *places_list_end(const struct places *places, const struct bin_place *first);

#endif
