/* A trace of an image: of what a killed recorder left, or one at work holds. */
#ifndef CLI_IMAGE_TRACE_H
#define CLI_IMAGE_TRACE_H

#include "trace/live/tables.h"

/* Whether its recorder got beyond setting up, which leaves no more than its intention. */
bool image_trace_has_begun(const struct tables *tables);

/*
 * Writes it, with the names that can be had now, and tells how large `what` is. alive: processes
 * are still who they were; else what they made at run time has no names. False: told why.
 */
bool image_trace_write(const char *output, struct tables *tables, bool alive, const char *what);

#endif
