#include "cli/watch/conditions.h"

#include "cli/live/watched.h"
#include "cli/say.h"
#include "cli/watch/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 80 /* bytes of a text in a message */

/* Copies the beginning of a text for a message. */
static const char *cut(char to[SHOWN + 4], const char *text)
{
	size_t size = strnlen(text, SHOWN);

	while (size && (text[size] & 0xc0) == 0x80)
		size--;
	snprintf(to, SHOWN + 4, "%.*s%s", (int)size, text, text[size] ? "…" : "");
	return to;
}

/* "impossible condition 'rate(x) >> 2: mark': a number is missing at '> 2: mark'" */
static _Noreturn void say_wrong(const char *text, size_t at, const char *wrong)
{
	char whole[SHOWN + 4], rest[SHOWN + 4];

	cut(whole, text);
	if (text[at])
		say_usage("impossible condition '%s': %s, at '%s'", whole, wrong,
		          cut(rest, text + at));
	say_usage("impossible condition '%s': %s, at its end", whole, wrong);
}

void conditions_add(struct conditions *conditions, const char *text)
{
	const char *wrong;
	size_t at;

	if (conditions->nr == CONFIG_MAX_CONDITIONS)
		say_usage("there may be at most %d conditions", CONFIG_MAX_CONDITIONS);
	wrong = condition_parse(&conditions->list[conditions->nr], text, &at);
	if (wrong)
		say_wrong(text, at, wrong);
	conditions->nr++;
}

void conditions_check(const char *text)
{
	struct conditions conditions = {0};

	conditions_add(&conditions, text);
	conditions_fini(&conditions);
}

void conditions_fini(struct conditions *conditions)
{
	metrics_free(conditions->metrics);
	for (unsigned i = 0; i < conditions->nr; i++)
		condition_fini(&conditions->list[i]);
	*conditions = (struct conditions){0};
}

int conditions_begin(struct conditions *conditions, struct steering *steering)
{
	int err;

	conditions->steering = steering;
	for (unsigned i = 0; i < conditions->nr; i++)
		trigger_init(&conditions->triggers[i], &conditions->list[i]);
	conditions->metrics = metrics_new(conditions->list, conditions->nr);
	if (conditions->metrics)
		return 0;
	err = -errno;
	if (err == -E2BIG)
		say("conditions can have at most %d metrics 'share' together", METRICS_MAX_SHARES);
	else
		say("cannot watch for conditions: %s", strerror(-err));
	return err;
}

static int check_recorded(const struct conditions *conditions, const struct trace *trace)
{
	const char *missing = metrics_missing_event(conditions->metrics, trace);
	const bool lacks_calls = metrics_lack_calls(conditions->metrics, trace);

	if (missing)
		say("cannot watch for a condition on event '%s', which is not recorded; record it "
		    "with -e",
		    missing);
	if (lacks_calls)
		say("cannot watch for a condition on mpi, time or value: calls and regions are not "
		    "recorded; record them with --mpi");
	return missing || lacks_calls ? -EINVAL : 0;
}

/* A condition that comes true earlier would have too little of what led to it. */
static bool lacks_history(const struct trace *trace)
{
	struct trace_window history;

	return trace_find_history(trace, &history) && !trace_history_is_full(trace);
}

static void step(struct conditions *conditions, uint64_t now, bool may_fire)
{
	for (unsigned i = 0; i < conditions->nr; i++) {
		struct trigger *trigger = &conditions->triggers[i];

		if (trigger_step(trigger, now, metrics_readings(conditions->metrics, i), may_fire))
			steering_fire(conditions->steering, &conditions->list[i],
			              trigger_value(trigger));
	}
}

int conditions_look(struct conditions *conditions, struct watched *watched)
{
	const struct trace *trace = watched_trace(watched);
	const bool may_fire = !lacks_history(trace);
	struct metrics *metrics = conditions->metrics;
	int err = check_recorded(conditions, trace);

	conditions->steering->target = trace_run(trace)->pid;
	if (!err)
		err = metrics_read(metrics, watched);
	for (unsigned m = 0; !err && m < metrics_moments(metrics); m++)
		step(conditions, metrics_choose(metrics, m), may_fire);
	steering_reap(conditions->steering);
	return err;
}
