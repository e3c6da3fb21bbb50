#include "perf/sampler_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIDE_RING_SIZE ((size_t)128 << 10)
#define SAMPLE_TRAILER \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);
}

/* Opens an event for target number t on a CPU, for the way of this sampler. */
static int open_for(const struct sampler *s, struct perf_event_attr *attr, unsigned t, unsigned c)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->sample_id_all = 1;
	attr->read_format = s->counts_lost ? PERF_FORMAT_LOST : 0;
	attr->inherit = s->way == SAMPLER_LADDER;
	if (s->way == SAMPLER_CGROUP)
		fd = perf_event_open(attr, s->cgroup, s->cpus[c], PERF_FLAG_PID_CGROUP);
	else
		fd = perf_event_open(attr, s->tasks[t], s->cpus[c], 0);
	return fd < 0 ? -errno : fd;
}

static void *grid(size_t nr, size_t size)
{
	return calloc(nr ? nr : 1, size);
}

static int *fd_grid(size_t nr)
{
	int *fds = grid(nr, sizeof(*fds));

	for (size_t i = 0; fds && i < nr; i++)
		fds[i] = -1;
	return fds;
}

static void close_all(int *fds, size_t nr)
{
	for (size_t i = 0; fds && i < nr; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(fds);
}

/* --- which CPUs, how many descriptors --------------------------------------------------------- */

/* Reads "0-3,8" into s->cpus. */
static int find_cpus(struct sampler *s)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	unsigned first, last;
	int separator = ',';

	for (; f && separator == ',' && fscanf(f, "%u", &first) == 1;) {
		last = first;
		separator = fgetc(f);
		if (separator == '-') {
			if (fscanf(f, "%u", &last) != 1)
				break;
			separator = fgetc(f);
		}
		for (; first <= last && first < 65536; first++) {
			int *more = realloc(s->cpus, (s->nr_cpus + 1) * sizeof(int));

			if (!more)
				break;
			s->cpus = more;
			s->cpus[s->nr_cpus++] = (int)first;
		}
	}
	if (f)
		fclose(f);
	return s->nr_cpus ? 0 : -ENODEV;
}

/* Uses all descriptors that may be had and returns how many there are. */
static size_t descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 1024;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}

static unsigned affordable_rungs(struct sampler *s, const struct sampler_config *config)
{
	size_t grid_size = (size_t)s->nr_targets * s->nr_cpus, limit = descriptor_limit();
	size_t fixed = 64 + s->nr_cpus + grid_size * (1 + config->exact);
	size_t rungs;

	if (s->way == SAMPLER_CGROUP || !grid_size)
		return 1;
	rungs = limit > fixed ? (limit - fixed) / (grid_size * config->nr_events) : 0;
	if (rungs >= SAMPLER_MAX_RUNGS)
		return SAMPLER_MAX_RUNGS;
	snprintf(s->shortage, sizeof(s->shortage),
	         "%zu file descriptors allow only %zu sampling periods instead of %d; "
	         "'ulimit -n' raises the limit",
	         limit, rungs, SAMPLER_MAX_RUNGS);
	return rungs ? (unsigned)rungs : 1;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int note_id(struct sampler *s, int fd, unsigned event, unsigned rung, unsigned cpu)
{
	struct sampler_id *id = &s->ids[s->nr_ids];

	*id = (struct sampler_id){.event = (uint16_t)event, .rung = (uint16_t)rung, .cpu = cpu};
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id->id))
		return -errno;
	s->nr_ids++;
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	const struct sampler_id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static struct perf_event_attr dummy_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = SAMPLE_TRAILER,
		.exclude_kernel = 1,
		.watermark = 1,
	};
}

static int map_ring(struct sampler *s, unsigned index, unsigned cpu, int fd, size_t size,
                    const struct record_format *format)
{
	struct merge_ring *ring = &s->rings[index];
	int error = ring_map(&ring->ring, fd, size);

	ring->cpu = cpu;
	ring->format = format;
	if (!error && ring->ring.size < size && !s->shortage[0])
		snprintf(s->shortage, sizeof(s->shortage),
		         "locked memory allows only %zu KiB of ring per CPU instead of %zu KiB; "
		         "raise 'ulimit -l' or sysctl kernel.perf_event_mlock_kb",
		         ring->ring.size >> 10, size >> 10);
	return error;
}

/* The dummy for mmap, comm, fork and exit records; the first target's owns the ring. */
static int open_side(struct sampler *s, struct perf_event_attr *attr, unsigned t, unsigned c)
{
	int *fd = &s->side_fds[t * s->nr_cpus + c];

	*fd = open_for(s, attr, t, c);
	if (*fd == -EINVAL && attr->build_id) { /* Linux before 5.12 */
		attr->build_id = 0;
		*fd = open_for(s, attr, t, c);
	}
	if (*fd == -ESRCH && t)
		return 0;
	if (*fd < 0)
		return *fd;
	if (!t)
		return map_ring(s, 2 * c, c, *fd, SIDE_RING_SIZE, &s->side_format);
	return ioctl(*fd, PERF_EVENT_IOC_SET_OUTPUT, s->side_fds[c]) ? -errno : 0;
}

static int open_rings(struct sampler *s, const struct sampler_config *config, unsigned c)
{
	struct perf_event_attr side = dummy_attr(), owner = dummy_attr();
	int error;

	side.mmap = side.mmap2 = side.comm = side.comm_exec = side.task = 1;
	side.build_id = 1;
	side.wakeup_watermark = SIDE_RING_SIZE / 4;
	owner.wakeup_watermark = (uint32_t)(config->ring_size / 4);
	for (unsigned t = 0; t < s->nr_targets; t++) {
		error = open_side(s, &side, t, c);
		if (error)
			return error;
	}
	s->owner_fds[c] = open_for(s, &owner, 0, c);
	if (s->owner_fds[c] < 0)
		return s->owner_fds[c];
	return map_ring(s, 2 * c + 1, c, s->owner_fds[c], config->ring_size, &s->sample_format);
}

/* The inherited counter beside event 0 whose READ records say what each task really used. */
static int open_exact(struct sampler *s, const struct sampler_config *config, unsigned c)
{
	struct perf_event_attr attr = config->events[0].attr;

	attr.sample_type = SAMPLE_TRAILER;
	attr.inherit_stat = 1;
	attr.disabled = config->on_exec;
	attr.enable_on_exec = config->on_exec;
	for (unsigned t = 0; t < s->nr_targets; t++) {
		int *fd = &s->exact_fds[t * s->nr_cpus + c];

		*fd = open_for(s, &attr, t, c);
		if (*fd == -ESRCH && t)
			continue;
		if (*fd < 0)
			return *fd;
		if (ioctl(*fd, PERF_EVENT_IOC_SET_OUTPUT, s->side_fds[c]))
			return -errno;
	}
	return 0;
}

static void fill_attr(struct sampler *s, const struct sampler_config *config, unsigned e)
{
	struct perf_event_attr *attr = &s->events[e].attr;

	*attr = config->events[e].attr;
	attr->disabled = 1;
	attr->enable_on_exec = config->on_exec && s->way == SAMPLER_LADDER;
	attr->sample_type = SAMPLE_TRAILER | PERF_SAMPLE_IP;
	if (config->kernel_chain || config->user_chain) {
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr->exclude_callchain_kernel = !config->kernel_chain;
		attr->exclude_callchain_user = !config->user_chain;
		attr->sample_max_stack = (uint16_t)config->max_stack;
	}
	if (config->stack_size) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = config->regs;
		attr->sample_stack_user = config->stack_size;
	}
	s->sample_format = (struct record_format){
		.sample_type = attr->sample_type,
		.nr_regs = (unsigned)__builtin_popcountll(attr->sample_regs_user),
	};
}

static int open_event(struct sampler *s, unsigned e, unsigned rung, unsigned t, unsigned c)
{
	struct sampler_event *event = &s->events[e];
	struct perf_event_attr attr = event->attr;
	int *fd = sampler_fd(s, event, rung, t, c), error;

	attr.sample_period = event->base_period[c] << (event->first_shift + 2 * rung);
	if (rung)
		attr.enable_on_exec = 0;
	*fd = open_for(s, &attr, t, c);
	if (*fd == -ESRCH && t) {
		*fd = -1;
		return 0;
	}
	if (*fd < 0)
		return *fd;
	error = note_id(s, *fd, e, rung, c);
	if (!error && ioctl(*fd, PERF_EVENT_IOC_SET_OUTPUT, s->owner_fds[c]))
		error = -errno;
	return error;
}

static int open_events(struct sampler *s, unsigned e)
{
	struct sampler_event *event = &s->events[e];

	for (unsigned r = 0; r < event->nr_rungs; r++) {
		for (unsigned t = 0; t < s->nr_targets; t++) {
			for (unsigned c = 0; c < s->nr_cpus; c++) {
				int error = open_event(s, e, r, t, c);

				if (error)
					return error;
			}
		}
	}
	return 0;
}

/* Periods within ± 2 % of each other, by the golden ratio, so that no two CPUs march together. */
static uint64_t spread_period(uint64_t base, unsigned cpu)
{
	double turn = cpu * 0.6180339887498949;

	turn -= (double)(uint64_t)turn;
	return cpu ? base + (uint64_t)((double)base * 0.04 * turn) - base / 50 : base;
}

static int prepare_event(struct sampler *s, const struct sampler_config *config, unsigned e,
                         unsigned rungs)
{
	struct sampler_event *event = &s->events[e];

	event->nr_rungs = rungs;
	event->first_shift = config->shift[e];
	event->nr_steps = 1;
	event->steps[0].shift = config->shift[e];
	event->fds = fd_grid((size_t)rungs * s->nr_targets * s->nr_cpus);
	event->base_period = grid(s->nr_cpus, sizeof(*event->base_period));
	event->lost = grid(s->nr_cpus, sizeof(*event->lost));
	if (!event->fds || !event->base_period || !event->lost)
		return -ENOMEM;
	for (unsigned c = 0; c < s->nr_cpus; c++)
		event->base_period[c] = config->spread ? spread_period(config->base_period[e], c)
		                                       : config->base_period[e];
	fill_attr(s, config, e);
	return 0;
}

static int allocate(struct sampler *s, const struct sampler_config *config, unsigned rungs)
{
	size_t cells = (size_t)s->nr_targets * s->nr_cpus;

	s->max_ids = cells * rungs * config->nr_events;
	s->ids = grid(s->max_ids, sizeof(*s->ids));
	s->side_fds = fd_grid(cells);
	s->owner_fds = fd_grid(s->nr_cpus);
	s->rings = grid(2 * s->nr_cpus, sizeof(*s->rings));
	s->nr_events = config->nr_events;
	if (config->exact)
		s->exact_fds = fd_grid(cells);
	if (!s->ids || !s->side_fds || !s->owner_fds || !s->rings ||
	    (config->exact && !s->exact_fds))
		return -ENOMEM;
	for (unsigned e = 0; e < s->nr_events; e++)
		if (prepare_event(s, config, e, rungs))
			return -ENOMEM;
	return merge_init(&s->merge, s->rings, 2 * s->nr_cpus);
}

/* PERF_FORMAT_LOST came with Linux 6.0; who asks an older kernel for it gets EINVAL. */
static bool kernel_counts_lost(void)
{
	struct perf_event_attr attr = dummy_attr();
	int fd;

	attr.size = sizeof(attr);
	attr.read_format = PERF_FORMAT_LOST;
	fd = perf_event_open(&attr, 0, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static const char *way_out(int error)
{
	switch (error) {
	case -EMFILE:
		return "; raise 'ulimit -n'";
	case -EACCES:
	case -EPERM:
		return "; other users' processes take root or CAP_PERFMON";
	default:
		return "";
	}
}

static int open_all(struct sampler *s, const struct sampler_config *config, char *why)
{
	int error = allocate(s, config, affordable_rungs(s, config));

	for (unsigned c = 0; !error && c < s->nr_cpus; c++) {
		error = open_rings(s, config, c);
		if (!error && config->exact)
			error = open_exact(s, config, c);
	}
	for (unsigned e = 0; !error && e < s->nr_events; e++) {
		error = open_events(s, e);
		if (error)
			event_explain(&config->events[e], error, why);
	}
	if (error && !why[0])
		snprintf(why, WHY_SIZE, "cannot set up sampling: %s%s", strerror(-error),
		         way_out(error));
	if (!error)
		qsort(s->ids, s->nr_ids, sizeof(*s->ids), compare_ids);
	return error;
}

struct sampler *sampler_open(const struct sampler_config *config, char why[WHY_SIZE])
{
	struct sampler *s = calloc(1, sizeof(*s));
	int error;

	why[0] = '\0';
	if (!s)
		return NULL;
	s->way = config->way;
	s->cgroup = config->cgroup;
	s->nr_targets = s->way == SAMPLER_CGROUP ? 1 : (unsigned)config->nr_tasks;
	s->tasks = grid(s->nr_targets, sizeof(*s->tasks));
	s->counts_lost = kernel_counts_lost();
	s->side_format.sample_type = SAMPLE_TRAILER;
	if (!s->tasks || find_cpus(s)) {
		error = -ENOMEM;
		snprintf(why, WHY_SIZE, "cannot find the CPUs of this machine");
		goto out;
	}
	if (s->way == SAMPLER_LADDER)
		memcpy(s->tasks, config->tasks, config->nr_tasks * sizeof(*s->tasks));
	error = open_all(s, config, why);
	if (!error)
		return s;
out:
	sampler_close(s);
	errno = -error;
	return NULL;
}

void sampler_close(struct sampler *s)
{
	size_t cells;

	if (!s)
		return;
	cells = (size_t)s->nr_targets * s->nr_cpus;
	for (unsigned e = 0; e < s->nr_events; e++) {
		close_all(s->events[e].fds, s->events[e].nr_rungs * cells);
		free(s->events[e].base_period);
		free(s->events[e].lost);
	}
	close_all(s->exact_fds, cells);
	for (unsigned i = 0; s->rings && i < 2 * s->nr_cpus; i++)
		ring_unmap(&s->rings[i].ring);
	close_all(s->side_fds, cells);
	close_all(s->owner_fds, s->nr_cpus);
	merge_fini(&s->merge);
	free(s->rings);
	free(s->ids);
	free(s->cpus);
	free(s->tasks);
	free(s);
}
