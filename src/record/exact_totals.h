/*
 * Exact totals of event 0 by command and thread, counted by the kernel, for comparison with the
 * sampled ones. They exist with inherited events only. Short tasks get fewer samples than their
 * share, and the exact totals show how many are missing.
 */
#ifndef RECORD_EXACT_TOTALS_H
#define RECORD_EXACT_TOTALS_H

#include "record/session.h"

/* Stores the exact totals in the tables. Call it at the end, while the tasks are still known. */
void exact_total(struct session *session);

#endif
