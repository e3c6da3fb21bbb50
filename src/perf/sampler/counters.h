/*
 * Counters: events that the kernel reads with every sample of another one, their leader. They are
 * one group: on the hardware's counters together or not at all, so that what one counted belongs to
 * what the others did. Where others want the same hardware the whole group has to wait, leader and
 * samples included, and says for how much of its time it ran.
 */
#ifndef PERF_SAMPLER_COUNTERS_H
#define PERF_SAMPLER_COUNTERS_H

#include "perf/events/event.h"

#define COUNTERS_MAX 8

/* An event as a member of a leader's group: it counts, and does not sample. */
struct perf_event_attr counter_attr(const struct event *event);

/*
 * Whether this machine counts all of them together, by trying. 0, or -errno with one line in why:
 * one of them cannot be opened, they are too many, or the group is never let on the hardware. Takes
 * a millisecond, or 20 where it is not let on.
 */
int counters_probe(const struct event *leader, const struct event *counters, unsigned nr,
                   char why[WHY_SIZE]);

/* Whether inherited events may have counters: Linux 6.12 and later. */
bool counters_inheritable(void);

#endif
