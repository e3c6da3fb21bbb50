/*
 * The metrics of conditions, read from a recording at each look.
 *
 * Rates and shares are those of one second, which ends a little before the last word of the
 * recorder: samples of later times may still be on their way. A look reads them at each of several
 * moments since the last look, so that what is between two looks counts.
 */
#ifndef CLI_WATCH_METRICS_H
#define CLI_WATCH_METRICS_H

#include "cli/watch/condition.h"
#include "cli/watch/trigger.h"

#define METRICS_MAX_SHARES 30

struct metrics;
struct watched;
struct trace;

/* NULL with errno; E2BIG: the conditions have more shares than METRICS_MAX_SHARES. */
struct metrics *metrics_new(const struct condition *conditions, unsigned nr);
void metrics_free(struct metrics *metrics);

/* Returns the first event of a term that is not recorded; NULL: there is none. */
const char *metrics_missing_event(const struct metrics *metrics, const struct trace *trace);

/* Whether a term is of calls, and none are recorded. */
bool metrics_lack_calls(const struct metrics *metrics, const struct trace *trace);

/* Reads all of them, from the recording as it was at the last update. 0, -ENOMEM, -EBADMSG. */
int metrics_read(struct metrics *metrics, struct watched *watched);
/* Returns the number of moments since the last look, at least 1. */
unsigned metrics_moments(const struct metrics *metrics);
/* Lets the readings be those of a moment; each is to be chosen once, in order. Returns its time. */
uint64_t metrics_choose(struct metrics *metrics, unsigned moment);
/* Returns the readings of a condition's terms. */
const struct reading *metrics_readings(const struct metrics *metrics, unsigned condition);

#endif
