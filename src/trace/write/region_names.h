/*
 * Names of OpenMP regions, which the recorder knows by their code alone: the function that they are
 * in and their line.
 */
#ifndef TRACE_WRITE_REGION_NAMES_H
#define TRACE_WRITE_REGION_NAMES_H

#include "trace/live/tables.h"
#include "trace/write/trace_symbols.h"

/* Adds the frames of OpenMP regions to those that names are looked up for. */
void region_names_add_frames(struct frame_set *frames, const struct tables *tables);

/*
 * Sets *regions to a copy of the trace's regions in which OpenMP regions have the names of their
 * code, as far as it has a symbol; NULL: the trace has none of them. To be freed. 0 or -ENOMEM.
 */
int region_names_init(struct trace_region **regions, struct trace_names *names,
                      const struct tables *tables);

#endif
