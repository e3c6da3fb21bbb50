#include "perf/event.h"

#include "perf/event_generic.h"
#include "perf/event_pfm.h"
#include "perf/pmu.h"
#include "perf/tracepoint.h"

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

/* A source of NULL is the kernel's own. What event_parse does not take is not shown. */
static int show(struct listing *list, const char *name, const char *description, const char *source)
{
	struct event event;
	struct event_info info = {name, description, source, &event};
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

static int show_generic(struct listing *list)
{
	int stop = 0;

	for (const struct event_generic *g = event_generics; g->name && !stop; g++)
		stop = show(list, g->name, g->description, NULL);
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

/* "skx::FP": of the one PMU, which need not be this machine's. */
static int list_one_pmu(struct listing *list, int pmu_size)
{
	char pmu[EVENT_NAME_MAX];

	snprintf(pmu, sizeof(pmu), "%.*s", pmu_size, list->pattern);
	return pfm_walk(pmu, true, show_pfm, list);
}

int event_list(const char *pattern, int (*fn)(void *arg, const struct event_info *info), void *arg)
{
	struct listing list = {.pattern = pattern, .fn = fn, .arg = arg};
	const char *colons = pattern ? strstr(pattern, "::") : NULL;
	const char *root;
	int stop, error;

	if (colons)
		return list_one_pmu(&list, colons - pattern);
	stop = show_generic(&list);
	if (!stop)
		stop = pfm_walk(NULL, true, show_pfm, &list);
	if (!stop)
		stop = pmu_walk(PMU_ROOT, show_pmu, &list);
	root = tracepoint_root(&error);
	if (!stop && root)
		stop = tracepoint_walk(root, show_tracepoint, &list);
	return stop;
}
