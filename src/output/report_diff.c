#include "output/report_diff.h"
#include "output/report_profile.h"

#include <errno.h>
#include <string.h>

/* The event that was sampled there by the same name; TRACE_ALL_EVENTS: none. */
static uint32_t same_event(const struct trace *trace, const char *name, unsigned unit)
{
	const struct trace_event *event;

	for (uint32_t i = 0; (event = trace_event(trace, i)); i++)
		if (event->unit == unit && !strcmp(trace_string(trace, event->name), name))
			return i;
	return TRACE_ALL_EVENTS;
}

static int put_event(const struct diff_report *report, const uint32_t events[DIFF_SIDES],
                     int (*put)(void *arg, const struct diff *diff), void *arg)
{
	struct profile *profiles[DIFF_SIDES] = {NULL};
	struct profile_view view;
	struct diff diff = {0};
	int err = 0;

	for (unsigned side = 0; side < DIFF_SIDES && !err; side++) {
		profiles[side] =
			report_profile(report->traces[side], events[side], report->options, &view);
		if (!profiles[side])
			err = -errno;
	}
	if (!err)
		err = diff_init(&diff, profiles[DIFF_BEFORE], profiles[DIFF_AFTER], report->options,
		                report->shares);
	if (!err)
		err = put(arg, &diff);
	diff_fini(&diff);
	profile_free(profiles[DIFF_BEFORE]);
	profile_free(profiles[DIFF_AFTER]);
	return err;
}

/* The event of the other run that belongs to this one of the first; TRACE_ALL_EVENTS: none. */
static uint32_t other_event(const struct diff_report *report, uint32_t i)
{
	const struct trace *before = report->traces[DIFF_BEFORE];
	const struct trace_event *event = trace_event(before, i);

	if (report->options->event != TRACE_ALL_EVENTS && report->options->event != i)
		return TRACE_ALL_EVENTS;
	return same_event(report->traces[DIFF_AFTER], trace_string(before, event->name),
	                  event->unit);
}

bool report_diff_any(const struct diff_report *report)
{
	for (uint32_t i = 0; trace_event(report->traces[DIFF_BEFORE], i); i++)
		if (other_event(report, i) != TRACE_ALL_EVENTS)
			return true;
	return false;
}

int report_diff_walk(const struct diff_report *report,
                     int (*put)(void *arg, const struct diff *diff), void *arg)
{
	int err = 0;

	for (uint32_t i = 0; trace_event(report->traces[DIFF_BEFORE], i) && !err; i++) {
		uint32_t other = other_event(report, i);

		if (other != TRACE_ALL_EVENTS)
			err = put_event(report, (uint32_t[]){i, other}, put, arg);
	}
	return err;
}
