/*
 * PMUs as the kernel describes them in /sys/bus/event_source/devices: their formats (which bits of
 * the configuration a term fills) and their named events.
 */
#ifndef PERF_EVENTS_PMU_H
#define PERF_EVENTS_PMU_H

#include "perf/events/event.h"
#include "perf/machine/pmu_names.h"

#include <stddef.h>

/* Terms in one event, its alias included. */
#define PMU_TERMS_MAX 32

/*
 * Fills type, config*, and period or freq, from "PMU/term,term=value,.../" without what may
 * follow the second slash. A term is a format, a named event, config, config1, config2, period or
 * freq; without a value it is 1. 0, or -ENOENT, -EINVAL, -EACCES with one line in why.
 */
int pmu_encode(const char *root, const char *text, struct event *event, char why[WHY_SIZE]);

/*
 * Calls fn for the named events of all PMUs, as "PMU/event/". Stops with fn's result where that is
 * not 0.
 */
int pmu_walk(const char *root, int (*fn)(void *arg, const char *name, const char *pmu), void *arg);

/*
 * Writes the terms of an event of the CPU's own PMU: "event=0x3c". Returns false if the PMU has no
 * event of this name.
 */
bool pmu_event_terms(const char *root, const char *name, char *terms, size_t size);

#endif
