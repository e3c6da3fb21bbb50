/* The bins of a trace that hold records of one use, list after list, for walks over them. */
#ifndef TRACE_BIN_POSITIONS_H
#define TRACE_BIN_POSITIONS_H

#include "trace/trace_file.h"

/* The position of a bin: lists come one after the other, and bins of a list are in order. */
struct bin_position {
	uint32_t list; /* kind << 8 | level */
	uint32_t sequence;
	const struct bin *bin;
};

struct bin_positions {
	struct bin_position *positions;
	size_t nr;
};

/*
 * kind may be TRACE_ALL_EVENTS. Returns 0 or -ENOMEM. bin_positions_fini() must be called in either
 * case.
 */
int bin_positions_find(struct bin_positions *positions, const struct trace *trace, enum bin_use use,
                       uint32_t kind);
void bin_positions_fini(struct bin_positions *positions);

/* Returns the number of lists. */
uint32_t bin_positions_lists(const struct bin_positions *positions);

/* Returns the end of the list that begins at a position. */
const struct bin_position *bin_positions_list_end(const struct bin_positions *positions,
                                                  const struct bin_position *first);

#endif
