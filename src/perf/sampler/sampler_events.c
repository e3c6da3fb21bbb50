/* Opens single kernel events for the other files of the sampler, and notes their ids. */
#include "perf/sampler/sampler_state.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct perf_event_attr sampler_dummy(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = RECORD_ALWAYS,
		.exclude_kernel = 1,
	};
}

static int member_open(struct perf_event_attr *attr, pid_t pid, int cpu, int leader,
                       unsigned long flags)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC; /* only events of one clock share a ring */
	attr->sample_id_all = 1;
	fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, leader,
	                  flags | PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int sampler_event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return member_open(attr, pid, cpu, -1, 0);
}

int sampler_open_for(const struct sampler *s, struct perf_event_attr *attr, pid_t task, unsigned c,
                     int leader)
{
	attr->read_format |= s->counts_lost ? RECORD_LOST_COUNTS : 0;
	attr->inherit = s->way == SAMPLER_LADDER;
	if (s->way == SAMPLER_LADDER)
		return member_open(attr, task, s->cpus[c], leader, 0);
	return member_open(attr, s->cgroup, s->cpus[c], leader,
	                   s->cgroup < 0 ? 0 : PERF_FLAG_PID_CGROUP);
}

int sampler_redirect(int fd, int owner)
{
	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner) ? -errno : 0;
}

int sampler_compare_ids(const void *a, const void *b)
{
	const struct sampler_id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

int sampler_grow_ids(struct sampler *s, size_t nr)
{
	struct sampler_id *ids = realloc(s->ids, (s->nr_ids + nr) * sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	s->ids = ids;
	return 0;
}

static int note_id(struct sampler *s, int fd, unsigned event, unsigned rung, unsigned target)
{
	struct sampler_id *id = &s->ids[s->nr_ids];

	*id = (struct sampler_id){
		.event = (uint16_t)event,
		.rung = (uint16_t)rung,
		.target = target,
		.set = (uint16_t)s->set,
	};
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id->id))
		return -errno;
	s->nr_ids++;
	return 0;
}

int sampler_open_event(struct sampler *s, struct perf_event_attr *attr, unsigned e, unsigned rung,
                       unsigned t, unsigned c)
{
	const struct sampler_event *event = &s->events[e];
	int *fd = sampler_fd(s, event, rung, t, c), err;

	*fd = sampler_open_for(s, attr, (event->own_tasks ?: s->tasks)[t], c, -1);
	err = sampler_redirect(*fd, s->owner_fds[ring_index(s, RING_SAMPLES, c)]);
	return !err && *fd >= 0 ? note_id(s, *fd, e, rung, t) : err;
}
