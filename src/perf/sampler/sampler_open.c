#include "perf/machine/advice.h"
#include "perf/machine/machine.h"
#include "perf/sampler/sampler_state.h"
#include "base/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void note_likely(struct sampler *s, const struct cpu_list *likely)
{
	for (unsigned c = 0; c < s->nr_cpus; c++)
		if (!likely || cpu_list_has(likely, (unsigned)s->cpus[c]))
			cpu_list_add(&s->likely, (unsigned)s->cpus[c]);
	s->nr_likely = cpu_list_count(&s->likely);
	if (likely && !s->nr_likely)
		note_likely(s, NULL);
}

static int find_cpus(struct sampler *s)
{
	struct cpu_list online;
	int err = cpu_list_online(&online);

	s->cpus = err ? NULL : calloc(CPU_LIST_MAX, sizeof(*s->cpus));
	if (!s->cpus)
		return err ? err : -ENOMEM;
	for (unsigned cpu = 0; cpu < CPU_LIST_MAX; cpu++)
		if (cpu_list_has(&online, cpu))
			s->cpus[s->nr_cpus++] = (int)cpu;
	return s->nr_cpus ? 0 : -ENODEV;
}

static void close_event(struct sampler *s, unsigned e)
{
	close_all(s->events[e].fds, s->events[e].nr_rungs * sampler_cells(s, &s->events[e]));
	free(s->events[e].own_tasks);
	free(s->events[e].base_period);
	free(s->events[e].lost);
	free(s->events[e].lost_before);
	free(s->events[e].closed_lost);
	free(s->events[e].copies);
	s->events[e] = (struct sampler_event){0};
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Opens a side event, which takes no samples, for mmap, comm, fork and exit records. */
static int open_side(struct sampler *s, struct perf_event_attr *attr, unsigned t, unsigned c)
{
	int *fd = &s->side_fds[t * s->nr_cpus + c];

	*fd = sampler_open_for(s, attr, s->tasks[t], c, -1);
	if (*fd == -EINVAL && attr->build_id) { /* Linux before 5.12 */
		attr->build_id = 0;
		*fd = sampler_open_for(s, attr, s->tasks[t], c, -1);
	}
	return sampler_redirect(*fd, s->owner_fds[ring_index(s, RING_SIDE, c)]);
}

/*
 * The kernel tells who runs on a CPU when code comes or goes there, which may be anyone: events for
 * the target alone see little of that. 0, or -errno, and none is open.
 */
static int open_code(struct sampler *s)
{
	struct perf_event_attr attr = sampler_dummy();
	int err = 0;

	attr.ksymbol = 1;
	for (unsigned c = 0; c < s->nr_cpus && !err; c++) {
		s->code_fds[c] = sampler_event_open(&attr, -1, s->cpus[c]);
		err = sampler_redirect(s->code_fds[c], s->owner_fds[ring_index(s, RING_SIDE, c)]);
	}
	for (unsigned c = 0; c < s->nr_cpus && err; c++) {
		if (s->code_fds[c] >= 0)
			close(s->code_fds[c]);
		s->code_fds[c] = -1;
	}
	return err;
}

static int open_sides(struct sampler *s, const struct sampler_config *config, unsigned c, bool code)
{
	struct perf_event_attr attr = sampler_dummy();
	int err = 0;

	/* A clock is a PMU of its own, and each PMU costs the target 0.08 us a switch. */
	if (config->events[0].unit == EVENT_NS)
		attr.config = config->events[0].attr.config;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	attr.build_id = 1;
	attr.ksymbol = code;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (unsigned t = 0; !err && t < s->nr_targets; t++)
		err = open_side(s, &attr, t, c);
	return err;
}

/* More than the kernel's own limit is refused by it. */
static unsigned longest_chain(unsigned wanted)
{
	int64_t limit;

	if (text_file_number("/proc/sys/kernel/perf_event_max_stack", &limit) || limit < 1 ||
	    limit > UINT16_MAX)
		limit = PERF_MAX_STACK_DEPTH;
	return wanted && wanted < limit ? wanted : (unsigned)limit;
}

static void fill_attr(struct sampler *s, const struct sampler_config *config, unsigned e)
{
	struct perf_event_attr *attr = &s->events[e].attr;

	*attr = event_attr(&config->events[e]);
	attr->disabled = 1;
	attr->exclude_idle = config->exclude_idle;
	attr->sample_type = RECORD_ALWAYS | PERF_SAMPLE_IP;
	if (config->kernel_chain || config->user_chain) {
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr->exclude_callchain_kernel = !config->kernel_chain;
		attr->exclude_callchain_user = !config->user_chain;
		attr->sample_max_stack = (uint16_t)s->max_chain;
	}
	if (config->regs) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = config->regs;
	}
	if (config->stack_size) {
		attr->sample_type |= PERF_SAMPLE_STACK_USER;
		attr->sample_stack_user = config->stack_size;
	}
	if (config->data)
		attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	if (config->branches) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = EVENT_CALL_BRANCHES;
	}
	/* All alike, for the records of all events are decoded alike. */
	if (s->nr_counters) {
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format = RECORD_COUNTS;
	}
	s->sample_format = (struct record_format){
		.sample_type = attr->sample_type,
		.read_format = attr->read_format | (s->counts_lost ? RECORD_LOST_COUNTS : 0),
		.nr_regs = (unsigned)__builtin_popcountll(attr->sample_regs_user),
		.clock_shift = s->side_format.clock_shift,
	};
}

/* A slower rung has the room of the ring for fewer samples: they may be larger. */
static uint32_t stack_size(const struct sampler *s, const struct sampler_config *config, unsigned e,
                           unsigned c, unsigned shift)
{
	size_t ring = s->rings[ring_index(s, RING_SAMPLES, c)].ring.size;

	if (!config->stack_size)
		return 0;
	if (!config->copy_size)
		return sampler_copy_with_room(s, c, config->stack_size);
	return config->copy_size(config->copy_arg, config->base_period[e] << shift,
	                         ring - sampler_wakes_at(ring));
}

static int open_event(struct sampler *s, const struct sampler_config *config, unsigned e,
                      unsigned rung, unsigned t, unsigned c)
{
	struct sampler_event *event = &s->events[e];
	struct perf_event_attr attr = event->attr;
	unsigned shift = event->first_shift + 2 * rung;
	int err;

	attr.sample_period = sampler_period_at(event, c, shift);
	attr.sample_stack_user = stack_size(s, config, e, c, shift);
	event->copies[rung * s->nr_cpus + c] = attr.sample_stack_user;
	err = sampler_open_event(s, &attr, e, rung, t, c);
	if (!err && !e && s->nr_counters)
		err = sampler_open_counters(s, config->counters, rung, t, c);
	return err;
}

/* Mappings and tasks are of interest wherever they appear, samples where they were asked for. */
static bool is_wanted(const struct sampler *s, const struct sampler_config *config, unsigned c)
{
	return !config->cpus || cpu_list_has(config->cpus, (unsigned)s->cpus[c]);
}

static int open_rung(struct sampler *s, const struct sampler_config *config, unsigned e, unsigned r)
{
	int err = 0;

	for (unsigned t = 0; t < sampler_targets(s, &s->events[e]); t++)
		for (unsigned c = 0; c < s->nr_cpus && !err; c++)
			if (is_wanted(s, config, c))
				err = open_event(s, config, e, r, t, c);
	return err;
}

static int open_events(struct sampler *s, const struct sampler_config *config, unsigned e)
{
	int err = 0;

	for (unsigned r = 0; r < s->events[e].nr_rungs && !err; r++)
		err = open_rung(s, config, e, r);
	return err;
}

/* Periods within ± 2 % of each other, by the golden ratio, so that no two CPUs march together. */
static uint64_t spread_period(uint64_t base, unsigned cpu)
{
	double turn = cpu * 0.6180339887498949;

	turn -= (double)(uint64_t)turn;
	return cpu ? base + (uint64_t)((double)base * 0.04 * turn) - base / 50 : base;
}

/* No rung's period may reach the kernel's sign bit. */
static unsigned possible_rungs(uint64_t base, unsigned shift, unsigned rungs)
{
	while (rungs > 1 && shift + 2 * (rungs - 1) >= (unsigned)__builtin_clzll(base) - 2)
		rungs--;
	return rungs;
}

static int prepare_event(struct sampler *s, const struct sampler_config *config, unsigned e,
                         unsigned rungs)
{
	struct sampler_event *event = &s->events[e];

	if (config->events[e].attr.type == PERF_TYPE_BREAKPOINT)
		rungs = 1; /* the few registers there are would be taken by periods not in force */
	if (config->spare[e])
		rungs = 1;
	rungs = possible_rungs(config->base_period[e], config->shift[e], rungs);
	if (sampler_useful_rungs(config, e) < rungs)
		rungs = sampler_useful_rungs(config, e);
	event->is_clock = config->events[e].unit == EVENT_NS;
	event->nr_rungs = rungs;
	event->first_shift = config->shift[e];
	event->nr_steps = 1;
	event->off = config->spare[e];
	event->steps[0].shift = config->shift[e];
	event->steps[0].set = s->set;
	event->fds = fd_grid(rungs * sampler_cells(s, event));
	event->base_period = grid(s->nr_cpus, sizeof(*event->base_period));
	event->lost = grid(s->nr_cpus, sizeof(*event->lost));
	event->lost_before = grid(s->nr_cpus, sizeof(*event->lost_before));
	event->closed_lost = grid(s->nr_cpus, sizeof(*event->closed_lost));
	event->copies = grid((size_t)rungs * s->nr_cpus, sizeof(*event->copies));
	if (!event->fds || !event->base_period || !event->lost || !event->lost_before ||
	    !event->closed_lost || !event->copies)
		return -ENOMEM;
	for (unsigned c = 0; c < s->nr_cpus; c++)
		event->base_period[c] = config->spread && !s->steering && !config->events[e].period
		                                ? spread_period(config->base_period[e], c)
		                                : config->base_period[e];
	fill_attr(s, config, e);
	return 0;
}

/* A restart reaches no copy of an event that running threads have inherited. */
static bool can_steer(const struct sampler_config *config)
{
	bool has_clock = false;

	for (unsigned e = 0; e < config->nr_events; e++)
		has_clock |= config->events[e].unit == EVENT_NS;
	return config->in_step && has_clock;
}

static int allocate(struct sampler *s, const struct sampler_config *config, unsigned rungs)
{
	s->ids = grid(sampler_side_cells(s) * rungs * config->nr_events, sizeof(*s->ids));
	s->side_fds = fd_grid(sampler_side_cells(s));
	s->code_fds = fd_grid(s->nr_cpus);
	s->owner_fds = fd_grid(s->nr_rings);
	s->rings = grid(s->nr_rings, sizeof(*s->rings));
	s->wrapped = aligned_alloc(8, RING_WRAPPED_SIZE);
	s->nr_events = config->nr_events;
	if (can_steer(config) && sampler_open_steering(s, config->tolerance))
		return -ENOMEM;
	if (!s->ids || !s->side_fds || !s->code_fds || !s->owner_fds || !s->rings || !s->wrapped)
		return -ENOMEM;
	for (unsigned e = 0; e < s->nr_events; e++)
		if (prepare_event(s, config, e, rungs))
			return -ENOMEM;
	s->counter_fds = fd_grid(sampler_counter_fds(s));
	if (!s->counter_fds)
		return -ENOMEM;
	return ring_merge_init(&s->merge, s->rings, s->nr_rings);
}

/* Whether the kernel counts lost records of an event: Linux before 6.0 returns EINVAL. */
static bool kernel_counts_lost(void)
{
	struct perf_event_attr attr = sampler_dummy();
	int fd;

	attr.read_format = RECORD_LOST_COUNTS;
	fd = sampler_event_open(&attr, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The first thread whose events are forbidden. */
static pid_t forbidden_task(const struct sampler *s)
{
	struct perf_event_attr attr = sampler_dummy();

	for (unsigned t = 0; t < s->nr_targets; t++) {
		int fd = sampler_event_open(&attr, s->tasks[t], -1);

		if (fd == -EACCES || fd == -EPERM)
			return s->tasks[t];
		if (fd >= 0)
			close(fd);
	}
	return s->tasks[0];
}

/* Explains an error that is not caused by one of the events. */
static void explain(const struct sampler *s, const struct sampler_config *config, int err,
                    char *why)
{
	size_t limit = sampler_descriptor_limit(), least = sampler_least_descriptors(s, config);
	struct advice advice = {ADVICE_NONE};

	if (least <= limit) /* others have them open */
		least = 2 * limit;
	if (err == -EMFILE)
		advice = (struct advice){ADVICE_FILES, {(int64_t)limit, (int64_t)least}, NULL};
	else if ((err == -EACCES || err == -EPERM) && s->way == SAMPLER_LADDER)
		advice = (struct advice){ADVICE_OTHERS, {forbidden_task(s)}, NULL};
	else if (err == -ENOENT && !s->nr_cpus)
		advice = (struct advice){ADVICE_NO_SYS};
	snprintf(why, WHY_SIZE, "cannot set up sampling: %s", strerror(-err));
	if (advice.topic == ADVICE_NONE)
		return;
	snprintf(why, WHY_SIZE, "cannot set up sampling: ");
	advice_line(&advice, why + strlen(why), WHY_SIZE - strlen(why));
}

/* Where events are inherited, tasks that exist need events of their own, and their children. */
static int take_tasks(struct sampler *s, struct sampler_event *event,
                      const struct sampler_config *config)
{
	if (s->way == SAMPLER_CGROUP)
		return 0;
	if (!config->nr_tasks)
		return -EOPNOTSUPP;
	event->own_tasks = grid(config->nr_tasks, sizeof(*event->own_tasks));
	if (!event->own_tasks)
		return -ENOMEM;
	memcpy(event->own_tasks, config->tasks, config->nr_tasks * sizeof(*event->own_tasks));
	event->nr_own = (unsigned)config->nr_tasks;
	return 0;
}

static int add_event(struct sampler *s, const struct sampler_config *config, unsigned e)
{
	int err = take_tasks(s, &s->events[e], config);

	if (!err)
		err = prepare_event(s, config, e, 1);
	if (!err)
		err = sampler_grow_ids(s, sampler_cells(s, &s->events[e]));
	if (!err)
		err = open_events(s, config, e);
	qsort(s->ids, s->nr_ids, sizeof(*s->ids), sampler_compare_ids);
	return err;
}

/*
 * Its samples copy as much of the stack as those of the others now, and have chains where theirs
 * do: the records of all events are decoded alike. The ids of an event that could not be opened
 * everywhere stay: no records have them.
 */
int sampler_add_event(struct sampler *s, const struct sampler_config *config, char why[WHY_SIZE])
{
	const struct perf_event_attr *first = &s->events[0].attr;
	const bool chains = first->sample_type & PERF_SAMPLE_CALLCHAIN;
	struct sampler_config added = *config;
	const unsigned e = s->nr_events;
	int err;

	why[0] = '\0';
	added.kernel_chain = chains && !first->exclude_callchain_kernel;
	added.user_chain = chains && !first->exclude_callchain_user;
	added.stack_size = first->sample_stack_user;
	added.copy_size = NULL;
	added.spare[e] = true;
	sampler_drop_adopted(s);
	s->events[e] = (struct sampler_event){0};
	err = e == SAMPLER_MAX_EVENTS ? -E2BIG : add_event(s, &added, e);
	if (err) {
		event_explain(&config->events[e], err, why);
		close_event(s, e);
		return err;
	}
	s->events[e].off_at = sampler_time_ran(s);
	s->nr_events++;
	return 0;
}

static int open_all(struct sampler *s, const struct sampler_config *config, char *why)
{
	int err = allocate(s, config, sampler_affordable_rungs(s, config)), code = 0;

	if (!err)
		err = sampler_open_rings(s, config->ring_size, config->stack_size, why);
	if (!err && config->kernel_code)
		code = open_code(s);
	for (unsigned c = 0; !err && c < s->nr_cpus; c++)
		err = open_sides(s, config, c, code == -EACCES || code == -EPERM);
	if (!err && config->totals)
		err = sampler_open_totals(s, config);
	for (unsigned e = 0; !err && e < s->nr_events; e++) {
		err = open_events(s, config, e);
		if (err && err != -EMFILE)
			event_explain(&config->events[e], err, why);
	}
	if (!err && !s->nr_ids)
		err = -ESRCH;
	if (err && !why[0])
		explain(s, config, err, why);
	if (!err)
		qsort(s->ids, s->nr_ids, sizeof(*s->ids), sampler_compare_ids);
	return err;
}

struct sampler *sampler_open(const struct sampler_config *config, char why[WHY_SIZE])
{
	struct sampler *s = calloc(1, sizeof(*s));
	int err;

	why[0] = '\0';
	if (!s) {
		snprintf(why, WHY_SIZE, "cannot set up sampling: %s", strerror(ENOMEM));
		return NULL;
	}
	s->way = config->way;
	s->cgroup = config->cgroup;
	s->own_apart = config->cgroup >= 0;
	s->runs_beside = config->way == SAMPLER_CGROUP && (config->cgroup < 0 || config->in_cgroup);
	s->on_exec = config->on_exec && config->way == SAMPLER_LADDER;
	s->nr_counters = config->nr_counters;
	s->exact_fd = -1;
	s->nr_targets = s->way == SAMPLER_CGROUP ? 1 : (unsigned)config->nr_tasks;
	s->nr_first = s->nr_targets;
	s->tasks = grid(s->nr_targets, sizeof(*s->tasks));
	s->max_chain = longest_chain(config->max_stack);
	s->counts_lost = kernel_counts_lost();
	s->side_format = (struct record_format){
		.sample_type = RECORD_ALWAYS,
		.clock_shift = machine_clock_shift(getpid()),
	};
	err = s->tasks ? find_cpus(s) : -ENOMEM;
	if (err) {
		explain(s, config, err, why);
		goto out;
	}
	note_likely(s, config->likely);
	s->nr_rings = RING_EXACT * s->nr_cpus + (config->totals != SAMPLER_NO_TOTALS);
	if (s->way == SAMPLER_LADDER)
		memcpy(s->tasks, config->tasks, config->nr_tasks * sizeof(*s->tasks));
	err = open_all(s, config, why);
	if (!err)
		return s;
out:
	sampler_close(s);
	errno = -err;
	return NULL;
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	sampler_drop_adopted(s);
	close_all(s->counter_fds, sampler_counter_fds(s));
	for (unsigned e = 0; e < s->nr_events; e++)
		close_event(s, e);
	sampler_close_totals(s);
	sampler_close_steering(s);
	close_all(s->side_fds, sampler_side_cells(s));
	close_all(s->code_fds, s->nr_cpus);
	sampler_close_rings(s);
	free(s->owner_fds);
	ring_merge_fini(&s->merge);
	free(s->rings);
	free(s->wrapped);
	free(s->ids);
	free(s->cpus);
	free(s->tasks);
	free(s);
}
