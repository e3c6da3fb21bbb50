#include "perf/events/event_modifiers.h"

#include "base/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PRECISE_MAX 3u

/* Takes letters of modifiers. Returns 1 if the part is one, else 0. */
static int take_letters(struct event_modifiers *m, const char *part)
{
	struct event_modifiers new = *m;

	for (; *part; part++) {
		if (*part == 'u')
			new.user = true;
		else if (*part == 'k')
			new.kernel = true;
		else if (*part == 'h')
			new.hypervisor = true;
		else if (*part == 'p' && new.precise < PRECISE_MAX)
			new.precise++;
		else
			return 0;
	}
	*m = new;
	return 1;
}

static int refuse(const char *part, const char *reason, char why[WHY_SIZE])
{
	snprintf(why, WHY_SIZE, "modifier ':%s': %s", part, reason);
	return -EINVAL;
}

static int take_rate(const char *part, const char *text, uint64_t *rate, char why[WHY_SIZE])
{
	if (!text_number(text, rate) || !*rate)
		return refuse(part, "a number above zero is needed", why);
	return 1;
}

static int take_precise(struct event_modifiers *m, const char *part, const char *text,
                        char why[WHY_SIZE])
{
	uint64_t level;

	if (!text_number(text, &level) || level > PRECISE_MAX)
		return refuse(part, "the levels are 0 to 3", why);
	m->precise = (uint8_t)level;
	return 1;
}

static int take_part(struct event_modifiers *m, const char *part, char why[WHY_SIZE])
{
	if (!strncmp(part, "period=", 7))
		return take_rate(part, part + 7, &m->period, why);
	if (!strncmp(part, "freq=", 5))
		return take_rate(part, part + 5, &m->freq, why);
	if (!strncmp(part, "precise=", 8))
		return take_precise(m, part, part + 8, why);
	return *part ? take_letters(m, part) : 0;
}

int modifiers_take(struct event_modifiers *m, char *parts, char why[WHY_SIZE])
{
	char *keep = parts, *rest = parts, *part;

	memset(m, 0, sizeof(*m));
	if (!*parts)
		return 0;
	*rest++ = '\0';
	while ((part = strsep(&rest, ":"))) {
		size_t size = strlen(part);
		int taken = take_part(m, part, why);

		if (taken < 0)
			return taken;
		if (taken)
			continue;
		/* what is kept never overtakes what is read: it moves to the left, if at all */
		*keep++ = ':';
		memmove(keep, part, size + 1);
		keep += size;
	}
	*keep = '\0';
	if (m->period && m->freq)
		return refuse("period", "a period as well as a frequency is given", why);
	return 0;
}

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
	       attr->type != PERF_TYPE_BREAKPOINT;
}

int modifiers_apply(const struct event_modifiers *m, struct event *event, char why[WHY_SIZE])
{
	if (m->precise && !is_hardware(&event->attr))
		return refuse("p", "only hardware events can be precise", why);
	if (m->user || m->kernel || m->hypervisor) {
		event->modifiers = true;
		event->attr.exclude_user = !m->user;
		event->attr.exclude_kernel = !m->kernel;
		event->attr.exclude_hv = !m->hypervisor && is_hardware(&event->attr);
	}
	if (m->precise)
		event->attr.precise_ip = m->precise & PRECISE_MAX;
	if (m->period || m->freq) {
		event->period = m->period;
		event->freq = m->freq;
	}
	return 0;
}
