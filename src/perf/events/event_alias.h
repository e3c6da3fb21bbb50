/*
 * Aliases: names for what people want to count, which every processor counts by other events of its
 * own. One that takes several events is their sum, each with its weight: of 8 double-precision
 * operations at once one instruction counts for 8. Every part can be asked for by its own name:
 *
 *	dp-flops		all parts: dp-flops:scalar, dp-flops:128b, dp-flops:256b ...
 *	dp-flops:256b:u		one of them, user side
 *	spr::dp-flops:256b	as on another processor, by libpfm4's name of it
 *
 * The codes are from the manufacturers' public tables (Intel: github.com/intel/perfmon; AMD: the
 * PPRs, as contributed to Linux; Arm: github.com/ARM-software/data; Fujitsu: github.com/fujitsu/
 * A64FX).
 */
#ifndef PERF_EVENTS_EVENT_ALIAS_H
#define PERF_EVENTS_EVENT_ALIAS_H

#include "perf/events/event.h"

#define ALIAS_PARTS_MAX EVENT_PARTS_MAX

struct alias_part {
	const char *name; /* NULL: behind the last one; "": the only one */
	uint64_t code;
	uint32_t scale;     /* units that one occurrence stands for */
	const char *vendor; /* what the manufacturer calls it */
};

struct alias {
	const char *name, *description; /* a row without a name ends the table */
	bool generic;   /* the kernel has an event of this name, which comes first */
	uint64_t usual; /* occurrences from sample to sample that suit most programs */
};

extern const struct alias event_aliases[];

/*
 * Returns the alias that a name begins with, up to its end or a colon and without a PMU; or NULL.
 */
const struct alias *alias_of(const char *name);

/*
 * Returns the parts of an alias on a processor, given by libpfm4's name of its PMU; NULL: this one.
 * Returns NULL, with one line in why, if the alias has none there.
 */
const struct alias_part *alias_parts(const struct alias *alias, const char *pmu,
                                     char why[WHY_SIZE]);

/*
 * Fills an event from "ALIAS", "ALIAS:PART" or these with a PMU before. 0; -ENOENT without a line
 * in why: this is no alias, or a generic event of the kernel's; -EINVAL with one.
 */
int alias_encode(const char *name, struct event *event, char why[WHY_SIZE]);

#endif
