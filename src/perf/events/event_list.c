#include "perf/events/event.h"

#include "perf/events/event_alias.h"
#include "perf/events/event_pfm.h"
#include "perf/events/pmu.h"
#include "perf/events/tracepoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct listing {
	const char *pattern; /* NULL: all */
	int (*fn)(void *arg, const struct event_info *info);
	void *arg;
	bool tracepoint_tried, tracepoint_available;
};

static bool matches(const struct listing *list, const char *name, const char *description)
{
	return !list->pattern || strcasestr(name, list->pattern) ||
	       strcasestr(description, list->pattern);
}

static void try_event(const struct event *event, struct event_info *info)
{
	struct event user = *event;
	int err = event_probe(event);

	if ((err == -EACCES || err == -EPERM) && event_exclude_kernel(&user)) {
		err = event_probe(&user);
		info->user_only = !err;
	}
	info->available = !err;
}

static void try_tracepoint(struct listing *list, const struct event *event, struct event_info *info)
{
	if (!list->tracepoint_tried) {
		list->tracepoint_tried = true;
		list->tracepoint_available = !event_probe(event);
	}
	info->available = list->tracepoint_available;
}

/* Shows an event unless event_parse() refuses its name. A source of NULL is the kernel. */
static int show_as(struct listing *list, const char *name, const char *description,
                   const char *means, const char *source)
{
	struct event event;
	struct event_info info = {
		.description = description,
		.means = means,
		.source = source,
		.event = &event,
	};
	char why[WHY_SIZE];

	if (!matches(list, name, description) || event_parse(&event, name, why))
		return 0;
	if (!source)
		info.source = event.attr.type == PERF_TYPE_SOFTWARE ? "software" : "hardware";
	if (event.attr.type == PERF_TYPE_TRACEPOINT)
		try_tracepoint(list, &event, &info);
	else
		try_event(&event, &info);
	return list->fn(list->arg, &info);
}

static int show(struct listing *list, const char *name, const char *description, const char *source)
{
	return show_as(list, name, description, "", source);
}

/* "FP_ARITH_INST_RETIRED.SCALAR (r3c7)", "4 for each ..." */
static void describe_part(const struct alias_part *part, char *text, size_t size)
{
	if (part->scale > 1)
		snprintf(text, size, "%u for each %s (r%llx)", part->scale, part->vendor,
		         (unsigned long long)part->code);
	else
		snprintf(text, size, "%s (r%llx)", part->vendor, (unsigned long long)part->code);
}

/*
 * Describes the hardware event that the kernel uses on this processor for one of its generic names;
 * "" if that is unknown.
 */
static void describe_generic(const char *name, char *means, size_t size)
{
	const struct alias *alias = alias_of(name);
	const struct alias_part *parts;
	char why[WHY_SIZE];

	*means = '\0';
	parts = alias && alias->generic ? alias_parts(alias, NULL, why) : NULL;
	if (parts)
		describe_part(parts, means, size);
	else if (!pmu_event_terms(PMU_ROOT, name, means, size))
		*means = '\0';
}

static int show_generic(struct listing *list)
{
	char means[WHY_SIZE];
	int stop = 0;

	for (const struct event_generic *g = event_generics; g->name && !stop; g++) {
		describe_generic(g->name, means, sizeof(means));
		stop = show_as(list, g->name, g->description, means, NULL);
	}
	return stop;
}

/* Shows the parts of an alias; with a PMU, those that it has on the PMU's processor. */
static int show_parts(struct listing *list, const char *pmu, const struct alias *alias,
                      const struct alias_part *parts)
{
	char name[2 * EVENT_NAME_MAX], means[WHY_SIZE];
	int stop = 0;

	for (; parts->name && !stop; parts++) {
		snprintf(name, sizeof(name), "%s%s%s%s%s", pmu, *pmu ? "::" : "", alias->name,
		         *parts->name ? ":" : "", parts->name);
		describe_part(parts, means, sizeof(means));
		stop = show_as(list, name, alias->description, means, "alias");
	}
	return stop;
}

/* Shows an alias that this processor does not have, with the reason. */
static int show_missing(struct listing *list, const struct alias *alias, const char *why)
{
	struct event event = {.scale = 1, .foreign = true};
	const struct event_info info = {
		.description = alias->description,
		.means = why,
		.source = "alias",
		.event = &event,
		.unknown = true,
	};

	if (!matches(list, alias->name, alias->description))
		return 0;
	snprintf(event.name, sizeof(event.name), "%s", alias->name);
	return list->fn(list->arg, &info);
}

static int show_aliases(struct listing *list)
{
	const struct alias_part *parts;
	char why[WHY_SIZE];
	int stop = 0;

	for (const struct alias *alias = event_aliases; alias->name && !stop; alias++) {
		if (alias->generic)
			continue;
		parts = alias_parts(alias, NULL, why);
		stop = parts ? show_parts(list, "", alias, parts) : show_missing(list, alias, why);
	}
	return stop;
}

static int show_pfm(void *arg, const struct pfm_name *name)
{
	return show(arg, name->text, name->description, name->pmu);
}

static int show_pmu(void *arg, const char *name, const char *pmu)
{
	return show(arg, name, "", pmu);
}

static int show_tracepoint(void *arg, const char *name)
{
	return show(arg, name, "", "tracepoint");
}

static int show_aliases_of(struct listing *list, const char *pmu)
{
	const struct alias_part *parts;
	char why[WHY_SIZE];
	int stop = 0;

	for (const struct alias *alias = event_aliases; alias->name && !stop; alias++) {
		parts = alias_parts(alias, pmu, why);
		stop = parts ? show_parts(list, pmu, alias, parts) : 0;
	}
	return stop;
}

/* Shows the events of one PMU ("skx::FP"), which need not be this machine's. */
static int list_one_pmu(struct listing *list, int pmu_size)
{
	char pmu[EVENT_NAME_MAX];
	int stop;

	snprintf(pmu, sizeof(pmu), "%.*s", pmu_size, list->pattern);
	stop = show_aliases_of(list, pmu);
	return stop ? stop : pfm_walk(pmu, true, show_pfm, list);
}

int event_list(const char *pattern, int (*fn)(void *arg, const struct event_info *info), void *arg)
{
	struct listing list = {.pattern = pattern, .fn = fn, .arg = arg};
	const char *colons = pattern ? strstr(pattern, "::") : NULL;
	struct tracefs tracefs;
	int stop;

	if (colons)
		return list_one_pmu(&list, (int)(colons - pattern));
	stop = show_generic(&list);
	if (!stop)
		stop = show_aliases(&list);
	if (!stop)
		stop = pfm_walk(NULL, true, show_pfm, &list);
	if (!stop)
		stop = pmu_walk(PMU_ROOT, show_pmu, &list);
	if (!stop && !tracefs_open(&tracefs)) {
		stop = tracepoint_walk(tracefs.root, show_tracepoint, &list);
		tracefs_close(&tracefs);
	}
	return stop;
}
