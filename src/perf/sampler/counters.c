#include "perf/sampler/counters.h"

#include "base/clock.h"
#include "perf/sampler/record.h"

#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROBE_LEAST_NS 1000000
#define PROBE_MOST_NS  20000000 /* several turns, where groups take turns */

struct perf_event_attr counter_attr(const struct event *event)
{
	struct perf_event_attr attr = event_attr(event);

	/* These are the leader's to ask for. */
	attr.pinned = 0;
	attr.exclusive = 0;
	attr.precise_ip = 0;
	attr.disabled = 0;
	attr.sample_period = 0;
	attr.sample_type = 0;
	return attr;
}

static int open_here(struct perf_event_attr *attr, int leader)
{
	int fd;

	attr->size = sizeof(*attr);
	fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* --- inherited -------------------------------------------------------------------------------- */

bool counters_inheritable(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.disabled = 1,
		.inherit = 1,
		.sample_period = 1000000000,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ,
		.read_format = RECORD_COUNTS,
	};
	int fd = open_here(&attr, -1);

	if (fd >= 0)
		close(fd);
	return fd != -EINVAL;
}

/* --- trying ----------------------------------------------------------------------------------- */

struct group {
	int fds[1 + COUNTERS_MAX];
	unsigned nr;
};

static void group_close(struct group *group)
{
	while (group->nr)
		close(group->fds[--group->nr]);
}

/* Validated as a whole only where nothing is disabled: some PMUs look at no other. */
static int group_add(struct group *group, const struct event *event)
{
	struct perf_event_attr attr = counter_attr(event);
	int fd;

	if (event->foreign)
		return -ENODEV;
	if (!group->nr)
		attr.read_format = RECORD_COUNTS;
	fd = open_here(&attr, group->nr ? group->fds[0] : -1);
	if (fd < 0)
		return fd;
	group->fds[group->nr++] = fd;
	return 0;
}

/* Whether the group gets to run on the hardware within some turns. */
static bool group_runs(const struct group *group)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), now, words[3 + 1 + COUNTERS_MAX];
	ssize_t size = (ssize_t)((3 + group->nr) * sizeof(*words));

	do {
		now = clock_ns(CLOCK_MONOTONIC);
		if (now - start < PROBE_LEAST_NS)
			continue;
		if (read(group->fds[0], words, sizeof(words)) != size)
			return false;
		if (words[2]) /* number, time enabled, time running */
			return true;
	} while (now - start < PROBE_MOST_NS);
	return false;
}

static void name_some(const struct event *leader, const struct event *counters, unsigned nr,
                      char *text, size_t size)
{
	int used = snprintf(text, size, "'%s'", leader->name);

	for (unsigned i = 0; i < nr && used > 0 && (size_t)used < size; i++)
		used += snprintf(text + used, size - (size_t)used, ", '%s'", counters[i].name);
}

/* Alone it could be opened? Then the others are in its way. */
static void explain_member(const struct event *leader, const struct event *counters, unsigned nr,
                           int err, char why[WHY_SIZE])
{
	struct group alone = {.nr = 0};
	char others[WHY_SIZE / 2];
	int alone_error = group_add(&alone, &counters[nr]);

	group_close(&alone);
	if (alone_error || err != -EINVAL) {
		event_explain(&counters[nr], alone_error ? alone_error : err, why);
		return;
	}
	name_some(leader, counters, nr, others, sizeof(others));
	snprintf(why, WHY_SIZE,
	         "cannot count '%s' together with %s: the hardware has no room for all of them; "
	         "leave some out",
	         counters[nr].name, others);
}

int counters_probe(const struct event *leader, const struct event *counters, unsigned nr,
                   char why[WHY_SIZE])
{
	struct group group = {.nr = 0};
	char all[WHY_SIZE / 2];
	int err = group_add(&group, leader);

	if (err)
		event_explain(leader, err, why);
	for (unsigned i = 0; i < nr && !err; i++) {
		err = group_add(&group, &counters[i]);
		if (err)
			explain_member(leader, counters, i, err, why);
	}
	if (!err && !group_runs(&group)) {
		err = -EBUSY;
		name_some(leader, counters, nr, all, sizeof(all));
		snprintf(why, WHY_SIZE,
		         "cannot count %s together: the hardware never counts them all at once; "
		         "leave some out",
		         all);
	}
	group_close(&group);
	return err;
}
