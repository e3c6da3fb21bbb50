#include "perf/events/event_pfm.h"

#include "perf/events/event_modifiers.h"
#include "perf/machine/machine.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The name of the switch by which libpfm4 encodes for CPUs other than this machine's. */
#define INACTIVE "LIBPFM_ENCODE_INACTIVE"

static bool is_generic(pfm_pmu_t pmu)
{
	return pmu == PFM_PMU_PERF_EVENT || pmu == PFM_PMU_PERF_EVENT_RAW;
}

/*
 * The library reads its switches from the environment, once, and offers no call for them. The
 * environment is put back at once: the target inherits it.
 */
static bool pfm_ready(void)
{
	const char *before = getenv(INACTIVE);
	int err;

	if (before)
		return pfm_initialize() == PFM_SUCCESS;
	setenv(INACTIVE, "1", 1);
	err = pfm_initialize();
	unsetenv(INACTIVE);
	return err == PFM_SUCCESS;
}

/* -- encoding ---------------------------------------------------------------------------------- */

static size_t attribute_count(const char *name)
{
	size_t nr = 0;

	for (; *name; name++)
		nr += *name == ':';
	return nr;
}

static bool pmu_of(int idx, pfm_pmu_info_t *pmu)
{
	pfm_event_info_t info = {.size = sizeof(info)};

	pmu->size = sizeof(*pmu);
	return pfm_get_event_info(idx, PFM_OS_PERF_EVENT_EXT, &info) == PFM_SUCCESS &&
	       pfm_get_pmu_info(info.pmu, pmu) == PFM_SUCCESS;
}

/* Appends the event's unit masks to why, as many as fit; without any, the modifiers of all. */
static void list_umasks(int idx, const pfm_event_info_t *info, char why[WHY_SIZE])
{
	pfm_event_attr_info_t attr = {.size = sizeof(attr)};
	size_t used = strlen(why);
	const char *join = "; try one of: ";

	for (int i = 0; i < info->nattrs; i++) {
		if (pfm_get_event_attr_info(idx, i, PFM_OS_PERF_EVENT_EXT, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		if (used + strlen(join) + strlen(attr.name) + strlen(", ...") >= WHY_SIZE) {
			snprintf(why + used, WHY_SIZE - used, ", ...");
			return;
		}
		used += (size_t)snprintf(why + used, WHY_SIZE - used, "%s%s", join, attr.name);
		join = ", ";
	}
	if (*join == ';')
		snprintf(why + used, WHY_SIZE - used, "; known modifiers are " MODIFIERS_KNOWN);
}

static void explain_attributes(const char *name, int err, char why[WHY_SIZE])
{
	pfm_event_info_t info = {.size = sizeof(info)};
	const char *colons = strstr(name, "::");
	size_t prefix = colons ? (size_t)(colons + 2 - name) : 0;
	char bare[EVENT_NAME_MAX];
	int idx;

	snprintf(bare, sizeof(bare), "%.*s", (int)(prefix + strcspn(name + prefix, ":")), name);
	snprintf(why, WHY_SIZE, "event '%s': %s", name,
	         err == PFM_ERR_UMASK && !strcmp(bare, name) ? "it needs a unit mask"
	                                                     : pfm_strerror(err));
	idx = pfm_find_event(bare);
	if (idx >= 0 && pfm_get_event_info(idx, PFM_OS_PERF_EVENT_EXT, &info) == PFM_SUCCESS)
		list_umasks(idx, &info, why);
}

static int refuse(const char *name, const char *reason, char why[WHY_SIZE])
{
	snprintf(why, WHY_SIZE, "event '%s': %s", name, reason);
	return -EINVAL;
}

/* The library looks for the kernel's events below /proc/sys. */
static int refuse_all(const char *name, char why[WHY_SIZE])
{
	const struct advice advice = machine_advise_proc();
	char line[WHY_SIZE - 128];

	advice_line(&advice, line, sizeof(line));
	return refuse(name, *line ? line : pfm_strerror(PFM_ERR_NOTSUPP), why);
}

/* libpfm4 leaves sampling to attr; here it is the event's, as are the sides of what has none. */
static int take_attr(struct event *event, const struct perf_event_attr *attr, bool is_present)
{
	bool software = attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT;

	event->attr = (struct perf_event_attr){
		.type = attr->type,
		.config = attr->config,
		.config1 = attr->config1,
		.config2 = attr->config2,
		.exclude_user = attr->exclude_user,
		.exclude_kernel = attr->exclude_kernel,
		.exclude_hv = attr->exclude_hv && !software,
		.exclude_guest = attr->exclude_guest && !software,
		.exclude_host = attr->exclude_host && !software,
		.precise_ip = attr->precise_ip,
		.pinned = attr->pinned,
		.exclusive = attr->exclusive,
	};
	event->modifiers = attr->exclude_user || attr->exclude_kernel;
	event->foreign = !is_present;
	event->period = attr->freq ? 0 : attr->sample_period;
	event->freq = attr->freq ? attr->sample_freq : 0;
	return 0;
}

int pfm_encode(const char *name, struct event *event, char why[WHY_SIZE])
{
	struct perf_event_attr attr = {0};
	pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof(arg), .cpu = -1};
	pfm_pmu_info_t pmu;
	int err;

	if (!pfm_ready())
		return -ENOENT;
	if (attribute_count(name) > PFM_ATTRIBUTES_MAX)
		return refuse(name, "it has too many attributes", why);
	err = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	if (err == PFM_ERR_NOTFOUND || err == PFM_ERR_NOINIT)
		return -ENOENT;
	if (err == PFM_SUCCESS && arg.cpu != -1)
		return refuse(name, "a CPU is not chosen with an event", why);
	if (err == PFM_SUCCESS && pmu_of(arg.idx, &pmu))
		return take_attr(event, &attr, pmu.is_present);
	if (err == PFM_ERR_NOTSUPP)
		return refuse_all(name, why);
	explain_attributes(name, err, why);
	return -EINVAL;
}

/* -- walking ----------------------------------------------------------------------------------- */

struct walk {
	bool umasks;
	int (*fn)(void *arg, const struct pfm_name *name);
	void *arg;
};

static int walk_umasks(const struct walk *walk, const char *pmu, int idx,
                       const pfm_event_info_t *info, unsigned *nr)
{
	pfm_event_attr_info_t attr = {.size = sizeof(attr)};
	char text[EVENT_NAME_MAX], description[1024];
	struct pfm_name name = {text, description, pmu};
	int stop = 0;

	for (int i = 0; i < info->nattrs && !stop; i++) {
		if (pfm_get_event_attr_info(idx, i, PFM_OS_PERF_EVENT_EXT, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		++*nr;
		if ((size_t)snprintf(text, sizeof(text), "%s::%s:%s", pmu, info->name, attr.name) >=
		    sizeof(text))
			continue; /* event_parse would not take it */
		snprintf(description, sizeof(description), "%s: %s", info->desc, attr.desc);
		stop = walk->fn(walk->arg, &name);
	}
	return stop;
}

static int walk_event(const struct walk *walk, const char *pmu, int idx)
{
	pfm_event_info_t info = {.size = sizeof(info)};
	char text[EVENT_NAME_MAX];
	unsigned nr_umasks = 0;
	int stop = 0;

	if (pfm_get_event_info(idx, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS)
		return 0;
	if (walk->umasks)
		stop = walk_umasks(walk, pmu, idx, &info, &nr_umasks);
	if (stop || nr_umasks ||
	    (size_t)snprintf(text, sizeof(text), "%s::%s", pmu, info.name) >= sizeof(text))
		return stop;
	return walk->fn(walk->arg, &(struct pfm_name){text, info.desc, pmu});
}

static int walk_pmu(const struct walk *walk, const pfm_pmu_info_t *pmu)
{
	int stop = 0;

	for (int idx = pmu->first_event; idx >= 0 && !stop; idx = pfm_get_event_next(idx))
		stop = walk_event(walk, pmu->name, idx);
	return stop;
}

int pfm_walk(const char *pmu, bool umasks, int (*fn)(void *arg, const struct pfm_name *name),
             void *arg)
{
	const struct walk walk = {umasks, fn, arg};
	pfm_pmu_info_t info = {.size = sizeof(info)};
	int stop = 0;

	if (!pfm_ready())
		return 0;
	for (unsigned i = 0; i < PFM_PMU_MAX && !stop; i++) {
		if (pfm_get_pmu_info(i, &info) != PFM_SUCCESS || is_generic(i))
			continue;
		if (pmu ? !strcasecmp(pmu, info.name) : info.is_present)
			stop = walk_pmu(&walk, &info);
	}
	return stop;
}

bool pfm_is_present(const char *pmu)
{
	pfm_pmu_info_t info = {.size = sizeof(info)};

	for (unsigned i = 0; pfm_ready() && i < PFM_PMU_MAX; i++)
		if (pfm_get_pmu_info(i, &info) == PFM_SUCCESS && !strcasecmp(pmu, info.name))
			return info.is_present;
	return false;
}

void pfm_pmus(void (*fn)(void *arg, const char *name), void *arg)
{
	pfm_pmu_info_t pmu = {.size = sizeof(pmu)};

	if (!pfm_ready())
		return;
	for (unsigned i = 0; i < PFM_PMU_MAX; i++)
		if (pfm_get_pmu_info(i, &pmu) == PFM_SUCCESS && !is_generic(i))
			fn(arg, pmu.name);
}
