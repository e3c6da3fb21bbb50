/* From the function that a probe names to its place in the program's file. */
#ifndef CLI_RECORD_PROBE_PLACE_H
#define CLI_RECORD_PROBE_PLACE_H

#include "perf/events/event.h"

/* Completes a probe in a file; others are complete. 0, or -errno with one line in why. */
int probe_place(struct event *event, char why[WHY_SIZE]);

#endif
