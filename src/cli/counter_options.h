/* The option --counters of record. */
#ifndef CLI_COUNTER_OPTIONS_H
#define CLI_COUNTER_OPTIONS_H

#include "cli/session.h"

/* Adds the events of a list with commas. Both say what is wrong, if not 0. */
int counter_options_add(struct options *options, const char *list);

/*
 * When the sampled events are settled: whether the counters are permitted, and are there together
 * with the first of these. Counts user code only where the kernel's side is not permitted, and says
 * so.
 */
int counter_options_settle(struct options *options);

#endif
