#include "perf/events/pmu.h"

#include "base/suggest.h"
#include "base/text_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TERMS_SIZE 512

/* The state of encoding one event. */
struct encoding {
	const char *root, *text, *pmu;
	struct event *event;
	unsigned nr_terms;
	char *why;
};

/* Tells whether a file is an event. NAME.scale, NAME.unit and the like beside an event are not. */
static int entry_is_event(const struct dirent *entry)
{
	return pmu_is_name(entry->d_name) && !strchr(entry->d_name, '.');
}

/* -- bits -------------------------------------------------------------------------------------- */

static __u64 *config_word(struct perf_event_attr *attr, const char *name, size_t size)
{
	if (size == strlen("config") && !memcmp(name, "config", size))
		return &attr->config;
	if (size == strlen("config1") && !memcmp(name, "config1", size))
		return &attr->config1;
	if (size == strlen("config2") && !memcmp(name, "config2", size))
		return &attr->config2;
	return NULL;
}

/* Parses "4" or "0-7" at the start of the text. Returns what follows, or NULL if it is neither. */
static const char *parse_range(const char *text, unsigned long *low, unsigned long *high)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	*low = *high = strtoul(text, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*high = strtoul(end + 1, &end, 10);
	return *low <= *high && *high < 64 ? end : NULL;
}

static __u64 low_bits(unsigned nr)
{
	return nr < 64 ? ((__u64)1 << nr) - 1 : ~(__u64)0;
}

/*
 * Puts the value where a format says, its lowest bits into the first range:
 * "config:0-7,32-35" makes 0xabc into config bits 0-7 = 0xbc and 32-35 = 0xa.
 */
static int format_put(struct perf_event_attr *attr, const char *format, uint64_t value)
{
	size_t name = strcspn(format, ":");
	__u64 *word = config_word(attr, format, name);
	const char *text = format + name;

	if (!word)
		return -EINVAL;
	if (!*text) {
		*word = value;
		return 0;
	}
	do {
		unsigned long low, high;
		unsigned nr;
		__u64 mask;

		text = parse_range(text + 1, &low, &high);
		if (!text)
			return -EINVAL;
		nr = (unsigned)(high - low + 1);
		mask = low_bits(nr);
		*word = (*word & ~(mask << low)) | (value & mask) << low;
		value = mask == ~(__u64)0 ? 0 : value >> nr;
	} while (*text == ',');
	return *text ? -EINVAL : value ? -ERANGE : 0;
}

/* -- terms ------------------------------------------------------------------------------------- */

static int explain_pmu(const struct encoding *e)
{
	struct suggest suggest;
	char ending[WHY_SIZE / 2];

	suggest_init(&suggest, e->pmu);
	text_folder_walk(e->root, pmu_entry_is_name, suggest_offer, &suggest);
	suggest_print(&suggest, "; adaptrace list shows what there is", ending, sizeof(ending));
	snprintf(e->why, WHY_SIZE, "event '%s': this machine has no PMU '%s'%s", e->text, e->pmu,
	         ending);
	return -ENOENT;
}

static int explain_term(const struct encoding *e, const char *term)
{
	struct suggest suggest;
	char path[PATH_MAX], ending[WHY_SIZE / 2];

	suggest_init(&suggest, term);
	for (int i = 0; i < 2; i++)
		if (pmu_path(path, e->root, e->pmu, i ? "events" : "format", ""))
			text_folder_walk(path, i ? entry_is_event : pmu_entry_is_name,
			                 suggest_offer, &suggest);
	suggest_print(&suggest, "; config=0x... always works", ending, sizeof(ending));
	snprintf(e->why, WHY_SIZE, "event '%s': PMU '%s' has no term '%s'%s", e->text, e->pmu, term,
	         ending);
	return -ENOENT;
}

static int refuse(const struct encoding *e, const char *term, const char *reason)
{
	snprintf(e->why, WHY_SIZE, "event '%s', term '%s': %s", e->text, term, reason);
	return -EINVAL;
}

/* Applies a term that every PMU has. Returns 1 if it is one, else 0. */
static int put_common(const struct encoding *e, const char *term, uint64_t value)
{
	__u64 *word = config_word(&e->event->attr, term, strlen(term));

	if (word)
		*word = value;
	else if (!strcmp(term, "period"))
		e->event->period = value;
	else if (!strcmp(term, "freq"))
		e->event->freq = value;
	else
		return 0;
	return 1;
}

/* Applies a term that is a format. Returns -ENOENT without a line in why if there is none. */
static int put_format(const struct encoding *e, const char *term, uint64_t value)
{
	char path[PATH_MAX], format[256];
	int err;

	if (!pmu_path(path, e->root, e->pmu, "format", term) ||
	    text_file_read(path, format, sizeof(format)))
		return -ENOENT;
	err = format_put(&e->event->attr, format, value);
	if (err == -ERANGE)
		return refuse(e, term, "the value does not fit the bits of the PMU");
	return err ? refuse(e, term, "the kernel describes bits that are not understood") : 0;
}

static int put_terms(struct encoding *e, char *terms, bool from_alias);

/* Named events are terms themselves, of formats alone: so this cannot go deeper. */
static int put_alias(struct encoding *e, const char *term)
{
	char path[PATH_MAX], terms[TERMS_SIZE];

	if (!pmu_path(path, e->root, e->pmu, "events", term) ||
	    text_file_read(path, terms, sizeof(terms)))
		return explain_term(e, term);
	return put_terms(e, terms, true);
}

static int put_term(struct encoding *e, char *term, bool from_alias)
{
	char *value = strchr(term, '=');
	uint64_t number = 1;
	int err;

	if (++e->nr_terms > PMU_TERMS_MAX)
		return refuse(e, term, "there are too many terms before it");
	if (value) {
		*value++ = '\0';
		/* "ldlat=?": an alias leaves it to the user, in a term that follows */
		if (from_alias && !strcmp(value, "?"))
			return 0;
		if (!text_number(value, &number))
			return refuse(e, term, "the value is no number");
	}
	if (!pmu_is_name(term))
		return refuse(e, term, "this is not the name of one");
	if (put_common(e, term, number))
		return 0;
	err = put_format(e, term, number);
	if (err != -ENOENT)
		return err;
	return value || from_alias ? explain_term(e, term) : put_alias(e, term);
}

static int put_terms(struct encoding *e, char *terms, bool from_alias)
{
	char *rest = terms, *term;
	int err = 0;

	while (!err && (term = strsep(&rest, ",")))
		if (*term)
			err = put_term(e, term, from_alias);
	return err;
}

static int encode(struct encoding *e, char *terms)
{
	char path[PATH_MAX];
	int64_t type;
	int err;

	if (!pmu_is_name(e->pmu) || !pmu_path(path, e->root, e->pmu, NULL, "type"))
		return explain_pmu(e);
	err = text_file_number(path, &type);
	if (err || type < 0 || type > UINT32_MAX)
		return explain_pmu(e);
	e->event->attr.type = (uint32_t)type;
	err = put_terms(e, terms, false);
	if (!err && e->event->period && e->event->freq)
		return refuse(e, "freq", "there is a period already");
	return err;
}

int pmu_encode(const char *root, const char *text, struct event *event, char why[WHY_SIZE])
{
	struct encoding e = {.root = root, .text = text, .event = event, .why = why};
	char copy[EVENT_NAME_MAX], *terms, *end;

	snprintf(copy, sizeof(copy), "%s", text);
	e.pmu = copy;
	terms = strchr(copy, '/');
	end = terms ? strchr(terms + 1, '/') : NULL;
	if (!end || end[1]) {
		snprintf(why, WHY_SIZE, "event '%s' is not of the form PMU/terms/", text);
		return -EINVAL;
	}
	*terms++ = '\0';
	*end = '\0';
	return encode(&e, terms);
}

/* -- walking ----------------------------------------------------------------------------------- */

struct walk {
	const char *root, *pmu;
	int (*fn)(void *arg, const char *name, const char *pmu);
	void *arg;
};

static int walk_event(void *arg, const char *event)
{
	const struct walk *walk = arg;
	char name[EVENT_NAME_MAX];

	if ((size_t)snprintf(name, sizeof(name), "%s/%s/", walk->pmu, event) >= sizeof(name))
		return 0;
	return walk->fn(walk->arg, name, walk->pmu);
}

static int walk_pmu(void *arg, const char *pmu)
{
	struct walk walk = *(const struct walk *)arg;
	char path[PATH_MAX];

	walk.pmu = pmu;
	if (!pmu_path(path, walk.root, pmu, "events", ""))
		return 0;
	return text_folder_walk(path, entry_is_event, walk_event, &walk);
}

int pmu_walk(const char *root, int (*fn)(void *arg, const char *name, const char *pmu), void *arg)
{
	struct walk walk = {.root = root, .fn = fn, .arg = arg};

	return text_folder_walk(root, pmu_entry_is_name, walk_pmu, &walk);
}

bool pmu_event_terms(const char *root, const char *name, char *terms, size_t size)
{
	static const char *const pmus[] = {"cpu", "cpu_core", "armv8_pmuv3_0", "armv8_pmuv3"};
	char path[PATH_MAX];

	for (size_t i = 0; pmu_is_name(name) && i < sizeof(pmus) / sizeof(*pmus); i++)
		if (pmu_path(path, root, pmus[i], "events", name) &&
		    !text_file_read(path, terms, size))
			return true;
	return false;
}
