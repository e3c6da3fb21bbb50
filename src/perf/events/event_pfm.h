/*
 * libpfm4: names to codes, for this machine's CPU and for every other that the library knows.
 * The one place that calls it.
 */
#ifndef PERF_EVENTS_EVENT_PFM_H
#define PERF_EVENTS_EVENT_PFM_H

#include "perf/events/event.h"

/* Unit masks and other attributes of one name: more is nonsense, and libpfm4 counts to 64. */
#define PFM_ATTRIBUTES_MAX 16

/*
 * Fills attr, foreign, modifiers, and period or freq where the name gives them. 0; -ENOENT without
 * a line in why: no such event; -EINVAL with one: the event exists, its attributes are wrong.
 */
int pfm_encode(const char *name, struct event *event, char why[WHY_SIZE]);

/* Tells whether the library knows a PMU of that name and finds it in this machine. */
bool pfm_is_present(const char *pmu);

/* A name for pfm_encode(). The strings are valid until the callback returns. */
struct pfm_name {
	const char *text; /* PMU::EVENT or PMU::EVENT:UMASK */
	const char *description;
	const char *pmu;
};

/*
 * Calls fn for the events of the PMU of that name, or, with NULL, of the CPU's own PMUs: without
 * the generic names, which every machine has. With umasks: once for every unit mask of an event
 * that has some. Stops with fn's result where that is not 0.
 */
int pfm_walk(const char *pmu, bool umasks, int (*fn)(void *arg, const struct pfm_name *name),
             void *arg);

/* Calls fn with the name of every PMU that the library knows, the generic one left out. */
void pfm_pmus(void (*fn)(void *arg, const char *name), void *arg);

#endif
