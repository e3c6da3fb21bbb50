/*
 * Completes the options of record for this machine: the events, the sides of them that are
 * permitted, and the place of the trace.
 */
#ifndef CLI_RECORD_SETTLE_H
#define CLI_RECORD_SETTLE_H

#include "record/config.h"

/* Returns 0, or another value after reporting an error. */
int record_settle(struct record_config *config);

#endif
