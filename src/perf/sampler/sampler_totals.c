/*
 * Measures the real use of each task of the target, with inherited events. Tasks that were too
 * short for a sample are found this way.
 */
#include "perf/sampler/sampler_state.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- what the kernel can ---------------------------------------------------------------------- */

/* Whether a child of ours, which does nothing else, has ended under an event that writes there. */
static bool end_child(int fd)
{
	struct perf_event_attr attr = sampler_dummy();
	pid_t pid = -1;
	int inherited;

	attr.inherit = attr.inherit_stat = 1;
	inherited = sampler_event_open(&attr, 0, -1);
	if (!sampler_redirect(inherited, fd))
		pid = fork();
	if (!pid)
		_exit(0);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (inherited >= 0)
		close(inherited);
	return pid > 0;
}

/* Linux 5.13 to at least 6.12 writes no READ record, which 5.10 and 6.18 do. */
static bool tells_at_exit(void)
{
	struct perf_event_attr attr = sampler_dummy();
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = sampler_event_open(&attr, 0, -1);
	const struct perf_event_mmap_page *page;
	bool tells = true;

	if (fd < 0)
		return true;
	page = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		tells = !end_child(fd) || page->data_head;
		munmap((void *)page, 2 * page_size);
	}
	close(fd);
	return tells;
}

enum sampler_totals sampler_possible_totals(const struct event *event)
{
	if (event->unit != EVENT_NS || tells_at_exit())
		return SAMPLER_TOTALS_AT_EXIT;
	return SAMPLER_TOTALS_BY_SWITCHES;
}

/* --- opening ---------------------------------------------------------------------------------- */

/*
 * The inherited counter beside event 0 whose READ records say what each task really used. One for
 * all CPUs is enough and costs the target least; two tasks that end at once may write its ring at
 * once, which may stop it for good, so it has one of its own. What was read is not all there is:
 * see sampler_exact().
 *
 * inherit_stat makes the kernel exchange the counts of two tasks of the target where it lets them
 * exchange their contexts, which costs such a switch 0.2 us. It is the same for any event
 * and any number of rungs beside it, and without it no task says its total at its exit. To close it
 * where tasks are switched often is no way out: the kernel then takes their contexts for different
 * ones, exchanges them no more, and a switch takes five times as long.
 */
static int open_exact(struct sampler *s, const struct sampler_config *config)
{
	struct perf_event_attr attr = event_attr(&config->events[0]);

	attr.sample_type = RECORD_ALWAYS;
	attr.inherit = 1;
	attr.inherit_stat = config->totals == SAMPLER_TOTALS_AT_EXIT;
	attr.disabled = 1;
	attr.enable_on_exec = config->on_exec;
	attr.read_format = s->counts_lost ? RECORD_LOST_COUNTS : 0;
	s->exact_fd = sampler_event_open(&attr, s->tasks[0], -1);
	return sampler_redirect(s->exact_fd, s->owner_fds[ring_index(s, RING_EXACT, 0)]);
}

/* Samples are so much larger that these take little of the room in their ring. */
static int open_switches(struct sampler *s)
{
	struct perf_event_attr attr = sampler_dummy();
	int err = 0;

	attr.context_switch = 1;
	s->switch_fds = malloc(s->nr_cpus * sizeof(*s->switch_fds));
	if (!s->switch_fds)
		return -ENOMEM;
	for (unsigned c = 0; c < s->nr_cpus; c++)
		s->switch_fds[c] = -1;
	for (unsigned c = 0; !err && c < s->nr_cpus; c++) {
		s->switch_fds[c] = sampler_open_for(s, &attr, s->tasks[0], c, -1);
		err = sampler_redirect(s->switch_fds[c],
		                       s->owner_fds[ring_index(s, RING_SAMPLES, c)]);
	}
	return err;
}

int sampler_open_totals(struct sampler *s, const struct sampler_config *config)
{
	int err = open_exact(s, config);

	if (!err && config->totals == SAMPLER_TOTALS_BY_SWITCHES)
		err = open_switches(s);
	return err;
}

void sampler_stop_switches(struct sampler *sampler)
{
	for (unsigned c = 0; c < sampler->nr_cpus; c++)
		if (sampler->switch_fds[c] >= 0)
			ioctl(sampler->switch_fds[c], PERF_EVENT_IOC_DISABLE, 0);
}

void sampler_close_totals(struct sampler *s)
{
	if (s->exact_fd >= 0)
		close(s->exact_fd);
	for (unsigned c = 0; s->switch_fds && c < s->nr_cpus; c++)
		if (s->switch_fds[c] >= 0)
			close(s->switch_fds[c]);
	free(s->switch_fds);
}
