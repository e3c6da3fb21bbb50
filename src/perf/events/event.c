#include "perf/events/event.h"

#include "perf/events/event_alias.h"
#include "perf/events/event_modifiers.h"
#include "perf/events/event_pfm.h"
#include "perf/events/event_place.h"
#include "base/suggest.h"
#include "perf/events/pmu.h"
#include "perf/events/tracepoint.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <stddef.h>

/* -- names that nobody knows ------------------------------------------------------------------- */

static int offer_pfm(void *arg, const struct pfm_name *name)
{
	struct suggest *suggest = arg;

	/* a name without a PMU gets proposals without one */
	return suggest_offer(suggest, strstr(suggest->wanted, "::") ? name->text
	                                                            : strstr(name->text, "::") + 2);
}

struct pmu_search {
	struct suggest suggest;
	const char *wanted;
	bool found;
};

static void match_pmu(void *arg, const char *name)
{
	struct pmu_search *search = arg;

	suggest_offer(&search->suggest, name);
	search->found |= !strcasecmp(name, search->wanted);
}

/* Explains an unknown name with a PMU before it: either the PMU or the event is unknown. */
static void explain_qualified(const char *name, int pmu_size, char why[WHY_SIZE])
{
	char pmu[EVENT_NAME_MAX], ending[WHY_SIZE / 2];
	struct pmu_search search = {.wanted = pmu};
	struct suggest *suggest = &search.suggest;

	snprintf(pmu, sizeof(pmu), "%.*s", pmu_size, name);
	suggest_init(suggest, pmu);
	pfm_pmus(match_pmu, &search);
	if (!search.found) {
		suggest_print(suggest, "; try a raw code, rNNNN", ending, sizeof(ending));
		snprintf(why, WHY_SIZE, "event '%s': libpfm4 knows no PMU '%s' here%s", name, pmu,
		         ending);
		return;
	}
	suggest_init(suggest, name);
	pfm_walk(pmu, false, offer_pfm, suggest);
	suggest_print(suggest, "; adaptrace list PMU:: shows its events", ending, sizeof(ending));
	snprintf(why, WHY_SIZE, "unknown event '%s'%s", name, ending);
}

static void explain_bare(const char *name, char why[WHY_SIZE])
{
	struct suggest suggest;
	char ending[WHY_SIZE / 2];

	suggest_init(&suggest, name);
	for (const struct event_generic *g = event_generics; g->name; g++)
		suggest_offer(&suggest, g->name);
	for (const struct alias *alias = event_aliases; alias->name; alias++)
		suggest_offer(&suggest, alias->name);
	pfm_walk(NULL, false, offer_pfm, &suggest);
	suggest_print(&suggest,
	              strchr(name, '@') ? "; what HPCToolkit writes EVENT@N is EVENT:period=N here"
	                                : "; adaptrace list shows what there is",
	              ending, sizeof(ending));
	snprintf(why, WHY_SIZE, "unknown event '%s'%s", name, ending);
}

/* Returns where unit masks and modifiers begin. */
static char *parts_of(char *name)
{
	char *colons = strstr(name, "::"), *event = colons ? colons + 2 : name;

	return event + strcspn(event, ":");
}

static void explain_unknown(char *name, char why[WHY_SIZE])
{
	const char *colons = strstr(name, "::");

	*parts_of(name) = '\0';
	if (colons)
		explain_qualified(name, (int)(colons - name), why);
	else
		explain_bare(name, why);
}

/* -- parsing ----------------------------------------------------------------------------------- */

static int check_text(const char *text, char why[WHY_SIZE])
{
	size_t size = strlen(text);

	if (!size)
		snprintf(why, WHY_SIZE,
		         "an event needs a name; adaptrace list shows what there is");
	else if (size >= EVENT_NAME_MAX)
		snprintf(why, WHY_SIZE, "event '%.32s...': names have at most %d letters", text,
		         EVENT_NAME_MAX - 1);
	else
		for (; isgraph((unsigned char)*text); text++)
			if (!text[1])
				return 0;
	if (size && size < EVENT_NAME_MAX)
		snprintf(why, WHY_SIZE, "an event's name has no blanks or control characters");
	return -EINVAL;
}

static int encode_tracepoint(const char *name, struct event *event, char why[WHY_SIZE])
{
	struct tracefs tracefs;
	int err = tracefs_open(&tracefs);

	err = tracepoint_encode(tracefs.root, err, name, event, why);
	tracefs_close(&tracefs);
	return err;
}

/* libpfm4 comes first: with unit masks some of its names look like tracepoints. */
static int encode_name(char *name, struct event *event, char why[WHY_SIZE])
{
	char why_tracepoint[WHY_SIZE];
	int err = alias_encode(name, event, why);

	if (err != -ENOENT)
		return err;
	err = pfm_encode(name, event, why);
	if (!err)
		return 0;
	if (tracepoint_looks_so(name)) {
		bool known = err != -ENOENT;

		if (!encode_tracepoint(name, event, known ? why_tracepoint : why))
			return 0;
		if (!known)
			return -ENOENT;
	} else if (err == -ENOENT) {
		explain_unknown(name, why);
	}
	return err;
}

static int parse_name(char *name, struct event_modifiers *modifiers, struct event *event,
                      char why[WHY_SIZE])
{
	int err = modifiers_take(modifiers, parts_of(name), why);

	return err ? err : encode_name(name, event, why);
}

/* Takes the modifiers behind a name that has no other parts. */
static int take_all_modifiers(struct event_modifiers *modifiers, const char *name, char *parts,
                              char why[WHY_SIZE])
{
	int err = modifiers_take(modifiers, parts, why);

	if (err || !*parts)
		return err;
	snprintf(why, WHY_SIZE, "event '%s': unknown modifier '%s'; known are " MODIFIERS_KNOWN,
	         name, parts);
	return -EINVAL;
}

/* "cpu/event=1/u" as well as "cpu/event=1/:u". */
static int parse_pmu(char *name, struct event_modifiers *modifiers, struct event *event,
                     char why[WHY_SIZE])
{
	char *end = strrchr(name, '/') + 1, parts[EVENT_NAME_MAX + 1];
	int err;

	if (strchr(name, '/') + 1 == end)
		return pmu_encode(PMU_ROOT, name, event,
		                  why); /* fails, and explains what is missing */
	snprintf(parts, sizeof(parts), "%s%s", *end && *end != ':' ? ":" : "", end);
	*end = '\0';
	err = take_all_modifiers(modifiers, name, parts, why);
	return err ? err : pmu_encode(PMU_ROOT, name, event, why);
}

static int parse_place(char *name, struct event_modifiers *modifiers, struct event *event,
                       char why[WHY_SIZE])
{
	char parts[EVENT_NAME_MAX];
	const char *end;
	int err;

	place_looks_so(name, &end);
	snprintf(parts, sizeof(parts), "%s", end);
	name[end - name] = '\0';
	err = take_all_modifiers(modifiers, name, parts, why);
	return err ? err : place_encode(PMU_ROOT, name, event, why);
}

static enum event_unit unit_of(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
	                                            attr->config == PERF_COUNT_SW_TASK_CLOCK)
	               ? EVENT_NS
	               : EVENT_COUNT;
}

const char *event_name_end(const char *names)
{
	const bool in_file = place_is_in_file(names);
	bool inside = false;

	for (; *names && (inside || in_file || *names != ','); names++)
		inside ^= *names == '/';
	return names;
}

int event_parse(struct event *event, const char *text, char why[WHY_SIZE])
{
	struct event_modifiers modifiers;
	char name[EVENT_NAME_MAX];
	const char *place_end;
	int err;

	memset(event, 0, sizeof(*event));
	event->scale = 1;
	why[0] = '\0';
	err = check_text(text, why);
	if (err)
		return err;
	memcpy(name, text, strlen(text) + 1);
	err = (place_looks_so(name, &place_end) ? parse_place
	       : strchr(name, '/')              ? parse_pmu
	                                        : parse_name)(name, &modifiers, event, why);
	if (!err)
		err = modifiers_apply(&modifiers, event, why);
	memcpy(event->name, text, strlen(text) + 1);
	event->unit = unit_of(&event->attr);
	return err;
}

/* -- names that stand for several -------------------------------------------------------------- */

/* Where modifiers go: behind the alias, before nothing else. */
static int put_part(char part[EVENT_NAME_MAX], const char *text, size_t bare, const char *name,
                    const char *modifiers, char why[WHY_SIZE])
{
	if (snprintf(part, EVENT_NAME_MAX, "%.*s:%s%s", (int)bare, text, name, modifiers) <
	    EVENT_NAME_MAX)
		return 0;
	snprintf(why, WHY_SIZE, "event '%s': its name is too long", text);
	return -EINVAL;
}

int event_expand(const char *text, char parts[EVENT_PARTS_MAX][EVENT_NAME_MAX], unsigned *nr,
                 char why[WHY_SIZE])
{
	const struct alias *alias = alias_of(text);
	const struct alias_part *part = NULL;
	char name[EVENT_NAME_MAX], *rest;
	struct event_modifiers modifiers;
	size_t bare;
	int err = check_text(text, why);

	if (err)
		return err;
	memcpy(parts[0], text, strlen(text) + 1);
	*nr = 1;
	if (!alias || (alias->generic && !strstr(text, "::")))
		return 0;
	memcpy(name, text, strlen(text) + 1);
	rest = parts_of(name);
	bare = (size_t)(rest - name);
	err = modifiers_take(&modifiers, rest, why);
	if (err || *rest)
		return err; /* one part is asked for, or there is an error that event_parse tells */
	name[bare] = '\0';
	if (strstr(name, "::"))
		*strstr(name, "::") = '\0';
	part = alias_parts(alias, strstr(text, "::") ? name : NULL, why);
	if (!part)
		return -EINVAL;
	for (*nr = 0; part->name && *part->name && !err; part++)
		err = put_part(parts[(*nr)++], text, bare, part->name, text + bare, why);
	*nr += !*nr;
	return err;
}

/* -- giving up the kernel side ----------------------------------------------------------------- */

/* Tells whether an event happens in the kernel only. */
static bool is_kernel_only(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_TRACEPOINT ||
	       (attr->type == PERF_TYPE_SOFTWARE &&
	        (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
	         attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
	         attr->config == PERF_COUNT_SW_CGROUP_SWITCHES));
}

bool event_exclude_kernel(struct event *event)
{
	size_t size = strlen(event->name);
	const char *tail = size && event->name[size - 1] == '/' ? "u" : ":u";

	if (event->modifiers || event->attr.exclude_kernel || is_kernel_only(&event->attr) ||
	    size + strlen(tail) >= sizeof(event->name))
		return false;
	memcpy(event->name + size, tail, strlen(tail) + 1);
	event->attr.exclude_kernel = 1;
	event->modifiers = true;
	return true;
}

const struct event_generic event_generics[] = {
	{"cpu-clock", "time on a CPU, by its high-resolution timer"},
	{"task-clock", "time on a CPU, counted by the task"},
	{"page-faults", "page faults, of both kinds"},
	{"minor-faults", "page faults that needed no input"},
	{"major-faults", "page faults that read from a disk or another device"},
	{"context-switches", "switches away from the task"},
	{"cpu-migrations", "moves of the task to another CPU"},
	{"cgroup-switches", "switches to a task of another control group"},

	{"cycles", "CPU cycles, at whatever clock rate it runs"},
	{"instructions", "retired instructions"},
	{"branches", "retired branch instructions"},
	{"branch-misses", "mispredicted branches"},
	{"cache-references", "accesses to the last cache level, as the CPU defines them"},
	{"cache-misses", "accesses that the last cache level missed"},
	{"bus-cycles", "cycles of the bus"},
	{"ref-cycles", "cycles at a constant rate, whatever the clock rate"},
	{"stalled-cycles-frontend", "cycles in which no instruction was issued"},
	{"stalled-cycles-backend", "cycles in which no instruction retired"},

	{"L1-dcache-loads", "loads from the first-level data cache"},
	{"L1-dcache-load-misses", "loads that the first-level data cache missed"},
	{"L1-dcache-stores", "stores to the first-level data cache"},
	{"L1-dcache-store-misses", "stores that the first-level data cache missed"},
	{"L1-dcache-prefetches", "prefetches into the first-level data cache"},
	{"L1-dcache-prefetch-misses", "prefetches that the first-level data cache missed"},
	{"L1-icache-loads", "fetches from the first-level instruction cache"},
	{"L1-icache-load-misses", "fetches that the first-level instruction cache missed"},
	{"LLC-loads", "loads from the last-level cache"},
	{"LLC-load-misses", "loads that the last-level cache missed"},
	{"LLC-stores", "stores to the last-level cache"},
	{"LLC-store-misses", "stores that the last-level cache missed"},
	{"LLC-prefetches", "prefetches into the last-level cache"},
	{"LLC-prefetch-misses", "prefetches that the last-level cache missed"},
	{"dTLB-loads", "address translations for loads"},
	{"dTLB-load-misses", "translations for loads that the TLB missed"},
	{"dTLB-stores", "address translations for stores"},
	{"dTLB-store-misses", "translations for stores that the TLB missed"},
	{"iTLB-loads", "address translations for instruction fetches"},
	{"iTLB-load-misses", "translations for instruction fetches that the TLB missed"},
	{"branch-loads", "branches seen by the branch predictor"},
	{"branch-load-misses", "branches that the branch predictor missed"},
	{"node-loads", "loads from the memory of the own node"},
	{"node-load-misses", "loads from the memory of another node"},
	{"node-stores", "stores to the memory of the own node"},
	{"node-store-misses", "stores to the memory of another node"},
	{NULL, NULL},
};
