/* The option --counters of record. */
#ifndef CLI_RECORD_COUNTERS_H
#define CLI_RECORD_COUNTERS_H

#include "record/config.h"

/*
 * When the sampled events are settled: whether the counters are permitted, and are there together
 * with the first of these. Counts user code only where the kernel's side is not permitted, and says
 * so, or what is wrong, if not 0.
 */
int record_settle_counters(struct record_config *config);

#endif
